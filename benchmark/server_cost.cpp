#include "crew.hpp"
#include "measurements.hpp"
#include "raw_client.hpp"
#include "sample.hpp"
#include "server_figures.hpp"
#include "session.hpp"

#include <array>
#include <cstdint>
#include <iostream>

namespace leasehold::benchmark {
namespace {

constexpr std::size_t at_once = 1'000;

asio::awaitable<void> cycle(client& locks, std::string name, steady::time_point end,
                            std::uint64_t& cycles)
{
    const mutex own(locks, name);
    while (steady::now() < end) {
        lease held = co_await own.async_lock();
        co_await held.async_release();
        ++cycles;
    }
}

// Acquires and releases its share of the names, each once.
asio::awaitable<void> use_names(client& locks, std::size_t first, std::size_t end)
{
    for (std::size_t i = first; i < end; ++i) {
        lease held = co_await mutex(locks, "order:" + std::to_string(i)).async_lock();
        co_await held.async_release();
    }
}

struct server_share
{
    double server; ///< CPU seconds per cycle.
    double time;   ///< Seconds per cycle.
};

template <class Start>
server_share round(asio::io_context& context, raw_client& raw, steady::duration time, Start start)
{
    double before = 0, after = 0;
    std::uint64_t cycles = 0;
    run(context, server_cpu(raw, before));
    crew all(context);
    const steady::time_point begin = steady::now();
    for (std::size_t i = 0; i < at_once; ++i)
        all.add(start("key:" + std::to_string(i), begin + time, cycles));
    all.wait();
    const double took = seconds(steady::now() - begin);
    run(context, server_cpu(raw, after));
    const auto count = static_cast<double>(cycles);
    return {(after - before) / count, took / count};
}

void measure_names(section& out, const setting& where)
{
    const std::size_t names = where.quick ? 2'000 : 1'000'000;
    std::cerr << "server_cost: " << grouped(names) << " names\n";
    asio::io_context context(1);
    raw_client raw(context, where.socket);
    session ours(context, where.redis_url());
    // Before the count, so that the memory for connections and scripts is not in it.
    run(context, use_names(ours.locks(), 0, at_once));
    run(context, raw.flush_all());
    double before = 0, after = 0;
    run(context, server_memory(raw, before));
    crew all(context);
    for (std::size_t i = 0; i < at_once; ++i)
        all.add(use_names(ours.locks(), names * i / at_once, names * (i + 1) / at_once));
    all.wait();
    run(context, server_memory(raw, after));
    out.add(grouped(names) + " names", "left in the server, each locked and released once",
            (after - before) / static_cast<double>(names), "bytes per name", at_most(0));
    run(context, raw.flush_all());
}

} // namespace

section server_cost(const setting& where)
{
    const std::size_t rounds = where.quick ? 1 : 9;
    const steady::duration time = std::chrono::milliseconds(where.quick ? 20 : 500);
    constexpr std::size_t ways = 3; // the baseline, and the layouts

    section out{"server_cost",
                "cost of a free lock at the server, acquire + release; baseline: SET NX PX and a "
                "script that compares and deletes, without a fence, by a bare Boost.Redis "
                "connection",
                {}};
    {
        std::cerr << "server_cost: " << grouped(at_once) << " coroutines\n";
        asio::io_context context(1);
        session ours(context, where.redis_url());
        session shared(context, where.redis_url() + "?layout=redisson");
        raw_client raw(context, where.socket);
        run(context, raw.prepare());
        const auto measure = [&](std::size_t way, steady::duration how_long) {
            if (way == 0)
                return round(context, raw, how_long,
                             [&](std::string name, steady::time_point end, std::uint64_t& cycles) {
                                 return raw.bare_cycle("bare:" + name, end, cycles);
                             });
            return round(context, raw, how_long,
                         [&](std::string name, steady::time_point end, std::uint64_t& cycles) {
                             return way == 1 ? cycle(ours.locks(), std::move(name), end, cycles)
                                             : cycle(shared.locks(), "shared:" + name, end, cycles);
                         });
        };
        std::array<std::vector<double>, ways> server, times;
        std::vector<double> dearer, dearer_shared, slower;
        for (std::size_t way = 0; way < ways; ++way)
            measure(way, time / 5);
        for (std::size_t i = 0; i < rounds; ++i) {
            for (std::size_t step = 0; step < ways; ++step) {
                const std::size_t way = (i + step) % ways; // each comes first in some round
                const server_share measured = measure(way, time);
                server[way].push_back(measured.server);
                times[way].push_back(measured.time);
            }
            dearer.push_back(server[1].back() / server[0].back());
            dearer_shared.push_back(server[2].back() / server[0].back());
            slower.push_back(times[1].back() / times[0].back());
        }
        const std::string situation = grouped(at_once) + " coroutines";
        out.add(situation, "CPU of the server, baseline", median(server[0]) * 1e6, "us a cycle");
        out.add(situation, "CPU of the server, leasehold", median(server[1]) * 1e6, "us a cycle");
        out.add(situation, "CPU of the server, leasehold : baseline", median(dearer), "",
                at_most(0.65));
        out.add(situation, "CPU of the server, layout=redisson", median(server[2]) * 1e6,
                "us a cycle");
        out.add(situation, "CPU of the server, layout=redisson : baseline", median(dearer_shared),
                "");
        out.add(situation, "baseline", 1 / median(times[0]), "cycles/s");
        out.add(situation, "leasehold", 1 / median(times[1]), "cycles/s");
        out.add(situation, "leasehold, layout=redisson", 1 / median(times[2]), "cycles/s");
        out.add(situation, "throughput, leasehold : baseline", 1 / median(slower), "",
                at_least(1.2));
    }
    measure_names(out, where);
    return out;
}

} // namespace leasehold::benchmark
