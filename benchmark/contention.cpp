#include "child.hpp"
#include "command_monitor.hpp"
#include "contender.hpp"
#include "crew.hpp"
#include "measurements.hpp"
#include "raw_client.hpp"
#include "sample.hpp"
#include "server_figures.hpp"

#include <boost/asio/co_spawn.hpp>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <numeric>
#include <random>

namespace leasehold::benchmark {
namespace {

struct contest
{
    std::size_t processes;
    std::size_t clients; ///< Of each process.
    std::size_t tasks;   ///< Of each client.
    bool local_handoff;
};

// 1 if all shares are equal, 1 / n if one has everything: R. Jain, D. Chiu, W. Hawe, "A
// Quantitative Measure of Fairness and Discrimination", DEC-TR-301, 1984.
double jain(const std::vector<double>& shares)
{
    const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
    const double squares = std::inner_product(shares.begin(), shares.end(), shares.begin(), 0.0);
    return squares > 0 ? sum * sum / (static_cast<double>(shares.size()) * squares) : 0;
}

double quantile(std::vector<double>& values, double part)
{
    if (values.empty())
        return 0;
    const auto at = values.begin() +
                    static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), at, values.end());
    return *at;
}

struct sampling
{
    std::uint64_t looks = 0;
    std::uint64_t held = 0;
};

// Samples at irregular times, so that they are independent of the contest.
asio::awaitable<void> look(raw_client& raw, steady::time_point end, sampling& seen)
{
    std::minstd_rand random(1);
    std::uniform_int_distribution<int> us(200, 1'800);
    while (steady::now() < end) {
        const bool held = co_await raw.exists("contention");
        ++seen.looks;
        seen.held += held ? 1 : 0;
        co_await pause(std::chrono::microseconds(us(random)));
    }
}

std::string describe(const contest& of)
{
    const std::string clients = grouped(of.processes * of.clients);
    const std::string crew_text = of.clients == 1 ? clients + " processes"
                                                  : clients + " clients in " +
                                                        grouped(of.processes) + " processes";
    return crew_text + " x " + grouped(of.tasks) + (of.tasks == 1 ? " task" : " tasks") +
           (of.local_handoff ? "" : ", no local handoff");
}

struct outcome
{
    std::vector<double> grants; ///< Of each task.
    std::vector<double> waits;

    [[nodiscard]] double count() const
    {
        return std::accumulate(grants.begin(), grants.end(), 0.0);
    }
};

// `meanwhile(end)` is called when the measured time begins, and returns when it ends.
template <class Meanwhile>
outcome compete(const setting& where, const contest& of, asio::io_context& context,
                steady::duration time, Meanwhile meanwhile)
{
    contender_task task;
    task.url = where.redis_url();
    task.clients = of.clients;
    task.tasks = of.tasks;
    task.local_handoff = of.local_handoff;
    task.begin = steady::now() + std::chrono::milliseconds(where.quick ? 300 : 1'500);
    task.end = task.begin + time;
    std::vector<std::string> words = to_words(task);
    words.insert(words.begin(), "--contender");
    std::vector<child> children;
    for (std::size_t i = 0; i < of.processes; ++i)
        children.emplace_back(words);
    run(context, pause(task.begin - steady::now()));
    meanwhile(task.end);

    outcome all;
    for (child& each : children) {
        const contender_result one = read_result(each.wait());
        all.grants.insert(all.grants.end(), one.grants.begin(), one.grants.end());
        all.waits.insert(all.waits.end(), one.waits.begin(), one.waits.end());
    }
    return all;
}

void measure(section& out, const setting& where, const contest& of)
{
    const std::string situation = describe(of);
    std::cerr << "contention: " << situation << '\n';
    const auto time = std::chrono::milliseconds(where.quick ? 100 : 5'000);

    asio::io_context context(1);
    raw_client raw(context, where.socket);
    run(context, raw.flush_all());

    double cpu_before = 0, cpu_after = 0;
    sampling seen;
    outcome timed = compete(where, of, context, time, [&](steady::time_point end) {
        run(context, server_cpu(raw, cpu_before));
        run(context, look(raw, end, seen));
        run(context, server_cpu(raw, cpu_after));
    });
    command_monitor::counts sent;
    const outcome counted = compete(where, of, context, time / 5, [&](steady::time_point end) {
        command_monitor monitor(where.socket);
        run(context, pause(end - steady::now()));
        sent = monitor.end();
    });

    out.add(situation, "locks", timed.count() / seconds(time), "per second");
    out.add(situation, "held",
            static_cast<double>(seen.held) / static_cast<double>(seen.looks) * 100,
            "% of the time");
    out.add(situation, "wait, median", quantile(timed.waits, 0.5) * 1e3, "ms");
    out.add(situation, "wait, 99 %", quantile(timed.waits, 0.99) * 1e3, "ms");
    out.add(situation, "wait, longest", quantile(timed.waits, 1) * 1e3, "ms");
    out.add(situation, "fairness between the tasks (Jain)", jain(timed.grants), "");
    out.add(situation, "commands to the server",
            static_cast<double>(sent.commands) / std::max(counted.count(), 1.0), "per lock");
    out.add(situation, "CPU of the server",
            (cpu_after - cpu_before) / std::max(timed.count(), 1.0) * 1e6, "us per lock");
}

} // namespace

section contention(const setting& where)
{
    section out{"contention",
                "many processes repeatedly acquire one name and release it at once; held: share of "
                "the samples in which the server had the key; commands: those that clients send, "
                "counted in a second contest, which is not timed",
                {}};
    const std::vector<contest> contests = where.quick ? std::vector<contest>{{2, 1, 2, true},
                                                                             {2, 3, 1, true}}
                                                      : std::vector<contest>{{2, 1, 1, false},
                                                                             {2, 1, 2, true},
                                                                             {8, 1, 2, true},
                                                                             {4, 25, 1, true},
                                                                             {4, 25, 100, true}};
    for (const contest& each : contests)
        measure(out, where, each);
    return out;
}

} // namespace leasehold::benchmark
