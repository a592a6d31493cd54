#include "crew.hpp"
#include "measurements.hpp"
#include "sample.hpp"
#include "session.hpp"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace leasehold::benchmark {
namespace {

constexpr std::size_t together = 20;

/// Holds the lock again and again; the other client gets it in between.
asio::awaitable<void> take_turns(client& locks, const bool& over, std::vector<double>& times,
                                 steady::time_point& left)
{
    const mutex shared(locks, "handoff");
    while (!over) {
        lease held = co_await shared.async_lock();
        if (left != steady::time_point())
            times.push_back(seconds(steady::now() - left));
        left = steady::now();
        co_await held.async_release();
    }
}

struct times_of_store
{
    double latency;    ///< Seconds, of one cycle of one coroutine; the median.
    double throughput; ///< Cycles per second, of `together` coroutines.
    double handoff;    ///< Seconds from a release to the grant of another client; the median.
};

/// A store, and two clients of it.
struct client_pair
{
    client_pair(asio::io_context& context, const lock_server& which)
        : where(which), ours(context, which.url), other(context, which.url)
    {}

    const lock_server& where;
    session ours;
    session other;
};

double latency(asio::io_context& context, client_pair& at, steady::duration time)
{
    std::vector<double> times;
    run(context, timed_cycles(at.ours.locks(), "alone", steady::now() + time, times));
    return median(std::move(times));
}

double throughput(asio::io_context& context, client_pair& at, steady::duration time)
{
    std::vector<std::vector<double>> times(together);
    crew all(context);
    const steady::time_point begin = steady::now();
    for (std::size_t i = 0; i < together; ++i)
        all.add(timed_cycles(at.ours.locks(), "key:" + std::to_string(i), begin + time, times[i]));
    all.wait();
    std::size_t cycles = 0;
    for (const auto& each : times)
        cycles += each.size();
    return static_cast<double>(cycles) / seconds(steady::now() - begin);
}

double handoff_time(asio::io_context& context, client_pair& at, steady::duration time)
{
    bool over = false;
    std::vector<double> times;
    steady::time_point left;
    crew all(context);
    for (session* const each : {&at.ours, &at.other})
        all.add(take_turns(each->locks(), over, times, left));
    const auto wait = [](bool& end, steady::duration for_time) -> asio::awaitable<void> {
        co_await pause(for_time);
        end = true;
    };
    all.add(wait(over, time));
    all.wait();
    return times.empty() ? 0 : median(std::move(times));
}

/// The number after these words. 0: they are missing.
double number_after(const std::string& text, const std::string& words)
{
    const auto at = text.find(words);
    return at == std::string::npos ? 0 : std::strtod(text.c_str() + at + words.size(), nullptr);
}

/// Runs the program that is compared. pgbench prints only the first line:
///   latency average = 0.35 ms
///   throughput = 5000
///   handoff = 1.2 ms
times_of_store measure_peer(const lock_server& where, steady::duration time)
{
    const std::string line = where.peer_command + ' ' +
                             std::to_string(std::max<long>(1, std::lround(seconds(time)))) +
                             " 2>&1";
    FILE* const output = ::popen(line.c_str(), "r");
    if (output == nullptr)
        throw std::runtime_error("cannot run " + where.peer);
    std::string text;
    for (int c = std::fgetc(output); c != EOF; c = std::fgetc(output))
        text += static_cast<char>(c);
    const times_of_store found{number_after(text, "latency average = ") / 1'000,
                               number_after(text, "throughput = "),
                               number_after(text, "handoff = ") / 1'000};
    if (::pclose(output) != 0 || found.latency == 0)
        throw std::runtime_error(where.peer + " failed:\n" + text);
    return found;
}

/// The ratios to reach, of this library to the program that is compared.
struct aims
{
    aim latency;
    aim throughput = at_least(1);
    aim handoff = at_most(1);
};

aims aims_beside(const std::string& peer)
{
    if (peer == "pgbench") // without a session and a queue
        return {.latency = at_most(1.2)};
    if (peer == "Curator")
        return {.latency = at_most(0.7), .throughput = at_least(1.5), .handoff = at_most(0.7)};
    return {.latency = at_most(1), .throughput = at_least(1.2), .handoff = at_most(1)};
}

/// The figures of a store, and those of the program that is compared.
struct round_of_store
{
    times_of_store ours;
    times_of_store peer;
};

round_of_store measure(asio::io_context& context, client_pair& at, steady::duration time)
{
    round_of_store made{{latency(context, at, time), throughput(context, at, time),
                         handoff_time(context, at, time)},
                        {}};
    if (at.where.peer.empty())
        return made;
    // Meanwhile the clients keep their sessions.
    auto peer = std::async(std::launch::async, [&] { return measure_peer(at.where, time); });
    while (peer.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
        context.restart();
        context.run_for(std::chrono::milliseconds(10));
    }
    made.peer = peer.get();
    return made;
}

} // namespace

section stores(const setting& where)
{
    const std::size_t rounds = where.quick ? 1 : 5;
    const steady::duration time = std::chrono::milliseconds(where.quick ? 20 : 1'000);

    section out{
        "stores",
        "acquire + release of a free lock, and a lock that two clients take in turn; compared "
        "with Redis in the same run. All servers share the processors of this machine",
        {}};
    asio::io_context context(1);
    std::vector<std::unique_ptr<client_pair>> pairs;
    std::vector<lock_server> all{{"Redis", where.redis_url(), "", ""}};
    all.insert(all.end(), where.stores.begin(), where.stores.end());
    for (const lock_server& each : all)
        pairs.push_back(std::make_unique<client_pair>(context, each));

    std::vector<std::vector<round_of_store>> measured(pairs.size());
    for (auto& each : pairs)
        measure(context, *each, time / 5);
    for (std::size_t i = 0; i < rounds; ++i) {
        std::cerr << "stores: round " << i + 1 << " of " << rounds << '\n';
        for (std::size_t step = 0; step < pairs.size(); ++step) {
            const std::size_t at = (i + step) % pairs.size(); // each comes first in some round
            measured[at].push_back(measure(context, *pairs[at], time));
        }
    }
    for (std::size_t at = 0; at < pairs.size(); ++at) {
        const lock_server& each = pairs[at]->where;
        const auto of_each = [&](auto value) {
            std::vector<double> values;
            for (std::size_t i = 0; i < rounds; ++i)
                values.push_back(value(measured[at][i].ours, measured[0][i].ours));
            return median(std::move(values));
        };
        const auto add = [&](const char* what, auto value, const char* unit,
                             std::optional<aim> wanted = {}) {
            out.add(each.name, what, of_each(value), unit, wanted);
        };
        add(
            "latency, median",
            [](const times_of_store& r, const times_of_store&) { return r.latency * 1e6; }, "us");
        add(
            "throughput of 20 coroutines",
            [](const times_of_store& r, const times_of_store&) { return r.throughput; },
            "cycles/s");
        add(
            "handoff between clients, median",
            [](const times_of_store& r, const times_of_store&) { return r.handoff * 1e6; }, "us");
        if (at != 0)
            add(
                "latency : Redis",
                [](const times_of_store& r, const times_of_store& redis) {
                    return r.latency / redis.latency;
                },
                "");
        const bool commits = each.name.find("fsync") != std::string::npos;
        add(
            "20 coroutines : one after another",
            [](const times_of_store& r, const times_of_store&) { return r.throughput * r.latency; },
            "", commits ? std::optional<aim>(at_least(15)) : std::nullopt);
        if (each.peer.empty())
            continue;
        const auto compare = [&](const char* what, double times_of_store::* member,
                                 const aim& wanted) {
            std::vector<double> values;
            for (const round_of_store& each_round : measured[at])
                values.push_back(each_round.ours.*member / (each_round.peer.*member));
            out.add(each.name, what + (" : " + each.peer), median(std::move(values)), "", wanted);
        };
        const aims wanted = aims_beside(each.peer);
        compare("latency", &times_of_store::latency, wanted.latency);
        if (measured[at].front().peer.throughput == 0)
            continue;
        compare("throughput", &times_of_store::throughput, wanted.throughput);
        compare("handoff", &times_of_store::handoff, wanted.handoff);
    }
    return out;
}

} // namespace leasehold::benchmark
