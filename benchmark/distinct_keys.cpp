#include "crew.hpp"
#include "measurements.hpp"
#include "raw_client.hpp"
#include "sample.hpp"
#include "session.hpp"

#include <array>
#include <cstdint>
#include <iostream>

namespace leasehold::benchmark {
namespace {

asio::awaitable<void> cycle(client& locks, std::string name, lock_options options,
                            steady::time_point end, std::uint64_t& cycles)
{
    const mutex own(locks, name, options);
    while (steady::now() < end) {
        lease held = co_await own.async_lock();
        co_await held.async_release();
        ++cycles;
    }
}

struct cost
{
    double time; ///< Seconds per cycle.
    double cpu;  ///< CPU seconds of this process per cycle.
};

// One method to acquire and release, run by a number of coroutines for some time.
template <class Start>
cost round(asio::io_context& context, std::size_t coroutines, steady::duration time, Start start)
{
    std::uint64_t cycles = 0;
    crew all(context);
    const double cpu = cpu_seconds();
    const steady::time_point begin = steady::now();
    for (std::size_t i = 0; i < coroutines; ++i)
        all.add(start("key:" + std::to_string(i), begin + time, cycles));
    all.wait();
    const auto count = static_cast<double>(cycles);
    return {seconds(steady::now() - begin) / count, (cpu_seconds() - cpu) / count};
}

} // namespace

section distinct_keys(const setting& where)
{
    const std::size_t rounds = where.quick ? 1 : 9;
    const steady::duration time = std::chrono::milliseconds(where.quick ? 20 : 500);
    constexpr std::size_t ways = 3;

    asio::io_context context(1);
    session ours(context, where.redis_url());
    raw_client raw(context, where.socket);
    run(context, raw.prepare());

    lock_options without_renewal;
    without_renewal.renew = false;
    const auto with = [&](const lock_options& options) {
        return [&ours, options](std::string name, steady::time_point end, std::uint64_t& cycles) {
            return cycle(ours.locks(), std::move(name), options, end, cycles);
        };
    };
    const auto baseline = [&](std::string name, steady::time_point end, std::uint64_t& cycles) {
        return raw.cycle(std::move(name), end, cycles);
    };
    const auto measure = [&](std::size_t way, std::size_t coroutines, steady::duration how_long) {
        switch (way) {
        case 0: return round(context, coroutines, how_long, baseline);
        case 1: return round(context, coroutines, how_long, with({}));
        default: return round(context, coroutines, how_long, with(without_renewal));
        }
    };

    section out{"distinct_keys",
                "acquire + release, one key for each coroutine, one connection; baseline: the same "
                "commands through a bare Boost.Redis connection",
                {}};
    for (const std::size_t coroutines : {std::size_t(1), std::size_t(64), std::size_t(1'000)}) {
        std::cerr << "distinct_keys: " << grouped(coroutines) << " coroutines\n";
        std::array<std::vector<double>, ways> times, cpu;
        std::vector<double> slower, slower_without;
        for (std::size_t way = 0; way < ways; ++way)
            measure(way, coroutines, time / 5);
        for (std::size_t i = 0; i < rounds; ++i) {
            // The order rotates, so that no method always runs at the same point of a round.
            for (std::size_t step = 0; step < ways; ++step) {
                const std::size_t way = (i + step) % ways;
                const cost measured = measure(way, coroutines, time);
                times[way].push_back(measured.time);
                cpu[way].push_back(measured.cpu);
            }
            slower.push_back(times[1].back() / times[0].back());
            slower_without.push_back(times[2].back() / times[0].back());
        }

        const std::string situation = grouped(coroutines) +
                                      (coroutines == 1 ? " coroutine" : " coroutines");
        const bool latency = coroutines == 1;
        const auto shown = [&](const std::vector<double>& values) {
            return latency ? median(values) * 1e6 : 1 / median(values);
        };
        const std::string unit = latency ? "us a cycle" : "cycles/s";
        out.add(situation, "baseline", shown(times[0]), unit);
        out.add(situation, "leasehold, default options", shown(times[1]), unit);
        out.add(situation, "leasehold, renewal off", shown(times[2]), unit);
        out.add(situation, "CPU of this process, baseline", median(cpu[0]) * 1e6, "us a cycle");
        out.add(situation, "CPU of this process, leasehold", median(cpu[1]) * 1e6, "us a cycle");
        if (latency) {
            out.add(situation, "latency, default : baseline", median(slower), "", at_most(1.1));
            out.add(situation, "latency, renewal off : baseline", median(slower_without), "",
                    at_most(1.1));
        }
        else {
            const std::optional<aim> wanted = coroutines == 1'000
                                                  ? std::optional<aim>(at_least(0.9))
                                                  : std::nullopt;
            out.add(situation, "throughput, default : baseline", 1 / median(slower), "", wanted);
            out.add(situation, "throughput, renewal off : baseline", 1 / median(slower_without), "",
                    wanted);
        }
    }
    return out;
}

} // namespace leasehold::benchmark
