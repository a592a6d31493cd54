#include "crew.hpp"
#include "measurements.hpp"
#include "raw_client.hpp"
#include "sample.hpp"
#include "server_figures.hpp"
#include "session.hpp"

#include <array>
#include <cstdint>
#include <iostream>
#include <memory>

namespace leasehold::benchmark {
namespace {

// Takes its turn again and again, until its client stops.
asio::awaitable<void> stand_in_line(client& locks, lock_options options, std::uint64_t& turns)
{
    const mutex shared(locks, "waiters", options);
    try {
        for (;;) {
            lease held = co_await shared.async_lock();
            ++turns;
            co_await held.async_release();
        }
    }
    catch (const boost::system::system_error& error) {
        if (error.code() != errc::shut_down)
            throw;
    }
}

asio::awaitable<void> hold(client& locks, lease& held)
{
    const mutex shared(locks, "waiters");
    held = co_await shared.async_lock();
}

asio::awaitable<void> give_back(lease& held)
{
    co_await held.async_release();
}

asio::awaitable<void> all_wait(std::vector<std::unique_ptr<session>>& sessions, std::size_t each)
{
    for (const auto& one : sessions) {
        while (one->locks().stats().waiting < each)
            co_await pause(std::chrono::milliseconds(10));
    }
    // Connections, subscriptions and the first looks are behind them then.
    co_await pause(std::chrono::seconds(1));
}

struct layout
{
    std::size_t clients;
    std::size_t each;
};

void measure(section& out, const setting& where, const layout& who, bool locally)
{
    const steady::duration time = std::chrono::milliseconds(where.quick ? 100 : 5'000);
    const std::string situation = grouped(who.clients) +
                                  (who.clients == 1 ? " client, " : " clients, ") +
                                  grouped(who.each) + " waiters each";
    std::cerr << "waiters: " << situation << (locally ? "" : ", no local handoff") << '\n';

    lock_options options;
    if (!locally)
        options.handoff_count = 0;

    asio::io_context context(1);
    raw_client raw(context, where.socket);
    session elsewhere(context, where.redis_url());
    lease held;
    run(context, hold(elsewhere.locks(), held));

    std::uint64_t turns = 0;
    crew line(context);
    std::vector<std::unique_ptr<session>> sessions;
    for (std::size_t i = 0; i < who.clients; ++i) {
        sessions.push_back(std::make_unique<session>(context, where.redis_url()));
        for (std::size_t j = 0; j < who.each; ++j)
            line.add(stand_in_line(sessions.back()->locks(), options, turns));
    }
    run(context, all_wait(sessions, who.each));

    const auto during = [&](steady::duration how_long, double& took) {
        std::uint64_t before = 0, after = 0;
        run(context, count_commands(raw, before));
        const steady::time_point begin = steady::now();
        run(context, pause(how_long));
        took = seconds(steady::now() - begin);
        run(context, count_commands(raw, after));
        return static_cast<double>(after - before);
    };
    double took = 0;
    double commands = 0;
    if (locally) {
        commands = during(time, took);
        out.add(situation, "commands while they wait", commands / took, "per second");
    }

    run(context, give_back(held));
    turns = 0;
    commands = during(time, took);
    const std::string how = locally ? ", default options" : ", no local handoff";
    out.add(situation, "handoffs" + how, static_cast<double>(turns) / took, "per second");
    out.add(situation, "commands" + how, commands / static_cast<double>(turns), "per handoff");

    session::close(context, sessions); // tells them all that it is over
    line.wait();
}

} // namespace

section waiters(const setting& where)
{
    section out{"waiters",
                "one name, held elsewhere at first; commands as the server counts them, its own "
                "inner ones left out",
                {}};
    const std::array<layout, 2> layouts = where.quick
                                              ? std::array<layout, 2>{{{1, 20}, {4, 5}}}
                                              : std::array<layout, 2>{{{1, 10'000}, {100, 100}}};
    for (const layout& who : layouts) {
        measure(out, where, who, true);
        measure(out, where, who, false);
    }
    return out;
}

} // namespace leasehold::benchmark
