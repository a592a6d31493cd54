#include "crew.hpp"
#include "heartbeat.hpp"
#include "measurements.hpp"
#include "raw_client.hpp"
#include "server_figures.hpp"
#include "session.hpp"

#include <iostream>
#include <optional>
#include <stdexcept>

namespace leasehold::benchmark {
namespace {

constexpr std::size_t takers = 1'000;

// Acquires every `takers`th lock.
asio::awaitable<void> take(client& locks, lock_options options, std::size_t first,
                           std::vector<lease>& leases)
{
    for (std::size_t i = first; i < leases.size(); i += takers) {
        const mutex each(locks, "held:" + std::to_string(i), options);
        leases[i] = co_await each.async_lock();
    }
}

asio::awaitable<void> release_all(std::size_t first, std::vector<lease>& leases)
{
    for (std::size_t i = first; i < leases.size(); i += takers)
        co_await leases[i].async_release();
}

void take_all(asio::io_context& context, client& locks, const lock_options& options,
              std::vector<lease>& leases)
{
    crew all(context);
    for (std::size_t i = 0; i < takers; ++i)
        all.add(take(locks, options, i, leases));
    all.wait();
}

void give_all_back(asio::io_context& context, std::vector<lease>& leases)
{
    crew all(context);
    for (std::size_t i = 0; i < takers; ++i)
        all.add(release_all(i, leases));
    all.wait();
}

// `socket` is that of the server, if there is one.
void measure(section& out, const std::string& situation, const std::string& url,
             const std::string& socket, bool quick)
{
    const std::size_t count = quick ? 1'000 : 100'000;
    const steady::duration time = std::chrono::milliseconds(quick ? 500 : 10'000);
    lock_options options;
    options.lease_time = std::chrono::milliseconds(quick ? 600 : 10'000);

    std::cerr << "held: " << situation << '\n';
    asio::io_context context(1);
    session ours(context, url);
    client& locks = ours.locks();
    std::optional<raw_client> raw;
    if (!socket.empty())
        raw.emplace(context, socket);
    const auto cpu_of_server = [&] {
        double sum = 0;
        if (raw)
            run(context, server_cpu(*raw, sum));
        return sum;
    };

    // Allocates the memory that does not depend on the number of leases, before the count.
    std::vector<lease> leases(takers);
    take_all(context, locks, options, leases);
    give_all_back(context, leases);
    leases.clear();

    heartbeat idle;
    double served = cpu_of_server();
    double cpu = cpu_seconds();
    run(context, idle.run(steady::now() + time / 10));
    const double idle_cpu = (cpu_seconds() - cpu) / seconds(time / 10);
    const double idle_server = (cpu_of_server() - served) / seconds(time / 10);

    const double bytes = heap_bytes();
    leases.resize(count);
    take_all(context, locks, options, leases);
    const double bytes_each = (heap_bytes() - bytes) / static_cast<double>(count);

    std::cerr << "held: " << situation << ", " << grouped(count) << " leases held\n";
    const client_stats before = locks.stats();
    heartbeat busy;
    served = cpu_of_server();
    cpu = cpu_seconds();
    const steady::time_point begin = steady::now();
    run(context, busy.run(begin + time));
    const double took = seconds(steady::now() - begin);
    cpu = cpu_seconds() - cpu - idle_cpu * took;
    served = cpu_of_server() - served - idle_server * took;
    const client_stats after = locks.stats();

    for (const lease& each : leases) {
        if (!each.valid())
            throw std::runtime_error("held: leases were lost; the renewal does not keep up");
    }
    const auto renewed = static_cast<double>(after.renewed - before.renewed);
    out.add(situation, "total memory", bytes_each, "bytes per lease", at_most(1'024));
    out.add(situation, "renewals", renewed / took, "per second");
    out.add(situation, "renewals that failed",
            static_cast<double>(after.renewals_failed - before.renewals_failed), "");
    out.add(situation, "CPU of this process", cpu / renewed * 1e6, "us per renewal");
    if (raw)
        out.add(situation, "CPU of the server", served / renewed * 1e6, "us per renewal");
    out.add(situation, "longest delay of another handler", busy.longest_delay() * 1e3, "ms");
    out.add(situation, "99.9 % of the delays are below", busy.delay_of(0.999) * 1e3, "ms");
    out.add(situation, "longest delay without leases", idle.longest_delay() * 1e3, "ms");
    give_all_back(context, leases);
}

} // namespace

section held(const setting& where)
{
    section out{"held",
                where.quick ? "1,000 held leases of 0.6 s with renewals, on one loop"
                            : "100,000 held leases of 10 s with renewals, on one loop",
                {}};
    measure(out, "memory", "memory:held", "", where.quick);
    measure(out, "Redis", where.redis_url(), where.socket, where.quick);
    return out;
}

} // namespace leasehold::benchmark
