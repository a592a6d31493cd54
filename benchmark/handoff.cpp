#include "crew.hpp"
#include "measurements.hpp"
#include "sample.hpp"
#include "session.hpp"

#include <boost/asio/experimental/concurrent_channel.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstdint>
#include <iostream>

namespace leasehold::benchmark {
namespace {

constexpr std::size_t coroutines = 100;

/// The baseline: a lock within one process with bare Asio. A token is in a channel, or a coroutine
/// has it.
using channel = asio::experimental::concurrent_channel<void(boost::system::error_code)>;

asio::awaitable<void> go_around(channel& token, const bool& over, std::uint64_t& locks)
{
    while (!over) {
        co_await token.async_receive();
        ++locks;
        co_await token.async_send(boost::system::error_code());
    }
}

asio::awaitable<void> go_around(client& locks, lock_options options, const bool& over)
{
    const mutex shared(locks, "handoff", options);
    while (!over) {
        lease held = co_await shared.async_lock();
        co_await held.async_release();
    }
}

/// Runs the coroutines of `make_task(over)`, which end when `over` is set. Returns the seconds.
template <class MakeTask>
double run_all(asio::io_context& context, steady::duration time, MakeTask make_task)
{
    // A timer, because reading the clock for each lock would be a fifteenth of the measured time.
    bool over = false;
    asio::steady_timer end(context, time);
    end.async_wait([&over](boost::system::error_code stopped) { over = !stopped; });
    const steady::time_point begin = steady::now();
    crew all(context);
    for (std::size_t i = 0; i < coroutines; ++i)
        all.add(make_task(over));
    all.wait();
    return seconds(steady::now() - begin);
}

/// Returns the passed tokens per second.
double measure_bare(asio::io_context& context, steady::duration time)
{
    channel token(context, 1);
    token.try_send(boost::system::error_code());
    std::uint64_t locks = 0;
    const double took = run_all(context, time,
                                [&](const bool& over) { return go_around(token, over, locks); });
    return static_cast<double>(locks) / took;
}

struct rates
{
    double locks;    ///< Per second.
    double cpu;      ///< Seconds of this process, per lock.
    double requests; ///< To the store, per 1,000 locks.
};

rates measure(asio::io_context& context, client& locks, const lock_options& options,
              steady::duration time)
{
    const client_stats before = locks.stats();
    const double cpu = cpu_seconds();
    const double took = run_all(context, time,
                                [&](const bool& over) { return go_around(locks, options, over); });
    const client_stats after = locks.stats();
    const auto count = static_cast<double>(after.acquired - before.acquired);
    const auto requests = static_cast<double>(after.acquires_sent - before.acquires_sent +
                                              after.releases_sent - before.releases_sent);
    return {count / took, (cpu_seconds() - cpu) / count, requests / count * 1'000};
}

} // namespace

section handoff(const setting& where)
{
    const std::size_t rounds = where.quick ? 1 : 5;
    const steady::duration time = std::chrono::milliseconds(where.quick ? 20 : 1'000);

    lock_options long_tenure;
    long_tenure.handoff_time = std::chrono::seconds(1);
    long_tenure.handoff_count = 1'000'000;

    section out{"handoff",
                "100 coroutines of one client acquire one key in turn; the baseline "
                "passes a token through a channel of Asio",
                {}};
    for (const bool in_memory : {true, false}) {
        std::cerr << "handoff: " << (in_memory ? "memory\n" : "Redis\n");
        asio::io_context context(1);
        session ours(context, in_memory ? "memory:handoff" : where.redis_url());
        for (const bool defaults : {true, false}) {
            const lock_options options = defaults ? lock_options() : long_tenure;
            measure(context, ours.locks(), options, time / 5);
            std::vector<double> bare, locks, ratio, cpu, requests;
            for (std::size_t i = 0; i < rounds; ++i) {
                bare.push_back(measure_bare(context, time / 2));
                const rates measured = measure(context, ours.locks(), options, time);
                locks.push_back(measured.locks);
                ratio.push_back(measured.locks / bare.back());
                cpu.push_back(measured.cpu);
                requests.push_back(measured.requests);
            }
            const std::string situation = std::string(in_memory ? "memory, " : "Redis, ") +
                                          (defaults ? "default options"
                                                    : "handoff 1 s / 1,000,000");
            out.add(situation, "baseline", median(bare), "per second");
            out.add(situation, "locks", median(locks), "per second", at_least(1e6));
            out.add(situation, "locks : baseline", median(ratio), "");
            out.add(situation, "CPU of this process", median(cpu) * 1e6, "us per lock");
            out.add(situation, "requests to the store", median(requests), "per 1,000 locks");
        }
    }
    return out;
}

} // namespace leasehold::benchmark
