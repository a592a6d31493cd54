#include "child.hpp"
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

// 1 when all have the same, 1 / n when one has all: R. Jain, D. Chiu, W. Hawe, "A Quantitative
// Measure of Fairness and Discrimination", DEC-TR-301, 1984.
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

// Looks at irregular moments, so as not to fall into step with what it looks at.
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
    const std::string who = of.clients == 1
                                ? clients + " processes"
                                : clients + " clients in " + grouped(of.processes) + " processes";
    return who + " x " + grouped(of.tasks) + (of.tasks == 1 ? " task" : " tasks") +
           (of.local_handoff ? "" : ", no local handoff");
}

void measure(section& out, const setting& where, const contest& of)
{
    const std::string situation = describe(of);
    std::cerr << "contention: " << situation << '\n';
    const auto settle = std::chrono::milliseconds(where.quick ? 300 : 1'500);
    const auto time = std::chrono::milliseconds(where.quick ? 100 : 5'000);

    asio::io_context context(1);
    raw_client raw(context, where.socket);
    run(context, raw.flush_all());

    contender_task task;
    task.url = where.redis_url();
    task.clients = of.clients;
    task.tasks = of.tasks;
    task.local_handoff = of.local_handoff;
    task.begin = steady::now() + settle;
    task.end = task.begin + time;
    std::vector<std::string> words = to_words(task);
    words.insert(words.begin(), "--contender");
    std::vector<child> children;
    for (std::size_t i = 0; i < of.processes; ++i)
        children.emplace_back(words);

    run(context, pause(task.begin - steady::now()));
    std::uint64_t commands_before = 0, commands_after = 0;
    double cpu_before = 0, cpu_after = 0;
    run(context, count_commands(raw, commands_before));
    run(context, server_cpu(raw, cpu_before));
    sampling seen;
    run(context, look(raw, task.end, seen));
    run(context, count_commands(raw, commands_after));
    run(context, server_cpu(raw, cpu_after));

    std::vector<double> grants, waits;
    for (child& each : children) {
        const contender_result one = read_result(each.wait());
        grants.insert(grants.end(), one.grants.begin(), one.grants.end());
        waits.insert(waits.end(), one.waits.begin(), one.waits.end());
    }
    const double count = std::accumulate(grants.begin(), grants.end(), 0.0);
    out.add(situation, "locks", count / seconds(time), "per second");
    out.add(situation, "held",
            static_cast<double>(seen.held) / static_cast<double>(seen.looks) * 100,
            "% of the time");
    out.add(situation, "wait, median", quantile(waits, 0.5) * 1e3, "ms");
    out.add(situation, "wait, 99 %", quantile(waits, 0.99) * 1e3, "ms");
    out.add(situation, "wait, longest", quantile(waits, 1) * 1e3, "ms");
    out.add(situation, "fairness between the tasks (Jain)", jain(grants), "");
    out.add(situation, "commands to the server",
            static_cast<double>(commands_after - commands_before) / std::max(count, 1.0),
            "per lock");
    out.add(situation, "CPU of the server", (cpu_after - cpu_before) / std::max(count, 1.0) * 1e6,
            "us per lock");
}

} // namespace

section contention(const setting& where)
{
    section out{"contention",
                "many processes, one name, each takes it and leaves it at once, over and over; "
                "held: of samples, whether the server had it",
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
