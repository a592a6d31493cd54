#include "command_monitor.hpp"
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

// Repeatedly waits for the lock and releases it, until its client stops.
asio::awaitable<void> wait_in_queue(client& locks, lock_options options, std::uint64_t& grants)
{
    const mutex shared(locks, "waiters", options);
    try {
        for (;;) {
            lease held = co_await shared.async_lock();
            ++grants;
            co_await held.async_release();
        }
    }
    catch (const boost::system::system_error& error) {
        if (error.code() != errc::shut_down)
            throw;
    }
}

// With a long lease time, so that no renewal is counted.
asio::awaitable<void> hold(client& locks, lease& held)
{
    const mutex shared(locks, "waiters", {.lease_time = std::chrono::minutes(5)});
    held = co_await shared.async_lock();
}

asio::awaitable<void> release_all(lease& held)
{
    co_await held.async_release();
}

asio::awaitable<void> all_wait(std::vector<std::unique_ptr<session>>& sessions, std::size_t each)
{
    for (const auto& one : sessions) {
        while (one->locks().stats().waiting < each)
            co_await pause(std::chrono::milliseconds(10));
    }
    // By then connections, subscriptions and first polls are complete.
    co_await pause(std::chrono::seconds(1));
}

struct layout
{
    std::size_t clients;
    std::size_t each;
};

void measure(section& out, const setting& where, const layout& load, bool locally)
{
    const steady::duration time = std::chrono::milliseconds(where.quick ? 100 : 5'000);
    const std::string situation = grouped(load.clients) +
                                  (load.clients == 1 ? " client, " : " clients, ") +
                                  grouped(load.each) + " waiters each";
    std::cerr << "waiters: " << situation << (locally ? "" : ", no local handoff") << '\n';

    lock_options options;
    if (!locally)
        options.handoff_count = 0;

    asio::io_context context(1);
    session elsewhere(context, where.redis_url() + "?health_check=60000");
    lease held;
    run(context, hold(elsewhere.locks(), held));

    std::uint64_t grants = 0;
    crew line(context);
    std::vector<std::unique_ptr<session>> sessions;
    for (std::size_t i = 0; i < load.clients; ++i) {
        sessions.push_back(std::make_unique<session>(context, where.redis_url()));
        for (std::size_t j = 0; j < load.each; ++j)
            line.add(wait_in_queue(sessions.back()->locks(), options, grants));
    }
    run(context, all_wait(sessions, load.each));

    const auto sent_in = [&](steady::duration how_long) {
        command_monitor sent(where.socket);
        run(context, pause(how_long));
        return sent.end();
    };
    if (locally) {
        const auto sent = sent_in(time);
        const double took = seconds(time);
        out.add(situation, "commands while they wait", static_cast<double>(sent.commands) / took,
                "per second");
        out.add(situation, "PING while they wait", static_cast<double>(sent.pings) / took,
                "per second");
        // Measured separately, because MONITOR costs the server time.
        raw_client raw(context, where.socket);
        double served = 0, served_by_then = 0;
        run(context, server_cpu(raw, served));
        const double cpu = cpu_seconds();
        run(context, pause(time));
        const double us = 1e6 / took / static_cast<double>(load.clients);
        out.add(situation, "CPU while they wait", (cpu_seconds() - cpu) * us,
                "us per second and client");
        run(context, server_cpu(raw, served_by_then));
        out.add(situation, "CPU of the server while they wait", (served_by_then - served) * us,
                "us per second and client");
    }

    run(context, release_all(held));
    grants = 0;
    const steady::time_point begin = steady::now();
    run(context, pause(time));
    const double took = seconds(steady::now() - begin);
    const std::string how = locally ? ", default options" : ", no local handoff";
    out.add(situation, "handoffs" + how, static_cast<double>(grants) / took, "per second");
    grants = 0;
    const auto sent = sent_in(time / 5);
    out.add(situation, "commands" + how,
            static_cast<double>(sent.commands) / static_cast<double>(grants), "per handoff");

    session::close(context, sessions); // ends all waits
    line.wait();
}

} // namespace

section waiters(const setting& where)
{
    section out{"waiters",
                "one name, first held by another client; commands that clients send, counted while "
                "nothing is timed",
                {}};
    const std::array<layout, 2> layouts = where.quick
                                              ? std::array<layout, 2>{{{1, 20}, {4, 5}}}
                                              : std::array<layout, 2>{{{1, 10'000}, {100, 100}}};
    for (const layout& load : layouts) {
        measure(out, where, load, true);
        measure(out, where, load, false);
    }
    return out;
}

} // namespace leasehold::benchmark
