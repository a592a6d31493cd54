#include "crew.hpp"
#include "measurements.hpp"
#include "raw_client.hpp"
#include "sample.hpp"
#include "server_figures.hpp"
#include "session.hpp"

#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace leasehold::benchmark {
namespace {

// The total use of all servers of a deployment.
struct usage
{
    double cpu = 0;
    double reads = 0;
};

asio::awaitable<void> sum_up(const std::vector<std::unique_ptr<raw_client>>& servers, usage& sum)
{
    for (const auto& each : servers) {
        double cpu = 0, reads = 0;
        co_await server_cpu(*each, cpu);
        co_await server_reads(*each, reads);
        sum.cpu += cpu;
        sum.reads += reads;
    }
}

// A deployment, its client, and the connections for the statistics of its servers.
struct site
{
    site(asio::io_context& context, const deployment& which)
        : where(which), ours(context, which.url)
    {
        for (const std::string& socket : which.sockets)
            servers.push_back(std::make_unique<raw_client>(context, socket));
    }

    const deployment& where;
    session ours;
    std::vector<std::unique_ptr<raw_client>> servers;
};

struct lap
{
    double latency;    ///< Seconds, of one cycle; the median.
    double throughput; ///< Cycles per second.
    double cpu;        ///< Seconds per cycle, of all servers.
    double reads;      ///< Per cycle, by all servers.
};

lap measure(asio::io_context& context, site& at, std::size_t coroutines, steady::duration time)
{
    usage before, after;
    run(context, sum_up(at.servers, before));
    std::vector<std::vector<double>> times(coroutines);
    crew all(context);
    const steady::time_point begin = steady::now();
    for (std::size_t i = 0; i < coroutines; ++i)
        all.add(timed_cycles(at.ours.locks(), "key:" + std::to_string(i), begin + time, times[i]));
    all.wait();
    const double lasted = seconds(steady::now() - begin);
    run(context, sum_up(at.servers, after));
    std::vector<double> together;
    for (const auto& each : times)
        together.insert(together.end(), each.begin(), each.end());
    const auto cycles = static_cast<double>(together.size());
    return {median(std::move(together)), cycles / lasted, (after.cpu - before.cpu) / cycles,
            (after.reads - before.reads) / cycles};
}

} // namespace

section deployments(const setting& where)
{
    const std::size_t rounds = where.quick ? 1 : 9;
    const steady::duration time = std::chrono::milliseconds(where.quick ? 20 : 500);

    section out{"deployments",
                "acquire + release, one key for each coroutine, one client; compared with one "
                "server of the same kind. All servers share the processors of this machine",
                {}};
    asio::io_context context(1);
    std::vector<std::unique_ptr<site>> sites;
    for (const deployment& each : where.deployments)
        sites.push_back(std::make_unique<site>(context, each));

    for (const std::size_t coroutines : {std::size_t(1), std::size_t(64)}) {
        std::cerr << "deployments: " << grouped(coroutines) << " coroutines\n";
        std::vector<std::vector<lap>> measured(sites.size());
        for (auto& each : sites)
            measure(context, *each, coroutines, time / 5);
        for (std::size_t i = 0; i < rounds; ++i) {
            for (std::size_t step = 0; step < sites.size(); ++step) {
                const std::size_t at = (i + step) % sites.size(); // each comes first in some round
                measured[at].push_back(measure(context, *sites[at], coroutines, time));
            }
        }
        for (std::size_t at = 0; at < sites.size(); ++at) {
            const deployment& each = sites[at]->where;
            const auto of_each = [&](auto value) {
                std::vector<double> values;
                for (std::size_t i = 0; i < rounds; ++i)
                    values.push_back(value(measured[at][i], measured[0][i]));
                return median(std::move(values));
            };
            const std::string situation = each.name + ", " + grouped(coroutines) +
                                          (coroutines == 1 ? " coroutine" : " coroutines");
            const bool first = at == 0;
            out.add(situation, "latency, median",
                    of_each([](const lap& r, const lap&) { return r.latency * 1e6; }), "us");
            out.add(situation, "throughput",
                    of_each([](const lap& r, const lap&) { return r.throughput; }), "cycles/s");
            out.add(situation, "CPU of its servers",
                    of_each([](const lap& r, const lap&) { return r.cpu * 1e6; }), "us a cycle");
            out.add(situation, "reads by its servers",
                    of_each([](const lap& r, const lap&) { return r.reads; }), "a cycle");
            if (!first && coroutines == 1)
                out.add(
                    situation, "latency : one server",
                    of_each([](const lap& r, const lap& one) { return r.latency / one.latency; }),
                    "", each.name == "redlock" ? std::optional<aim>(at_most(1.3)) : std::nullopt);
            if (!first && coroutines != 1)
                out.add(situation, "throughput : one server",
                        of_each([](const lap& r, const lap& one) {
                            return r.throughput / one.throughput;
                        }),
                        "");
        }
    }
    return out;
}

} // namespace leasehold::benchmark
