#include "database_doctor.hpp"

#include "../failures.hpp"
#include "../percentile.hpp"
#include "trial.hpp"

#include <boost/asio/io_context.hpp>

#include <utility>
#include <vector>

namespace leasehold::tool::doctor {
namespace {

std::vector<microseconds> ping(database& to)
{
    constexpr int times = 20;
    std::vector<microseconds> took;
    for (int i = 0; i < times; ++i) {
        const auto began = std::chrono::steady_clock::now();
        to.query("select 1", [](const sql_store::row_reader&) {});
        took.push_back(
            std::chrono::duration_cast<microseconds>(std::chrono::steady_clock::now() - began));
    }
    return took;
}

void examine(const database_kind& kind, std::shared_ptr<const sql_store::driver> admin,
             std::chrono::milliseconds slow, report& to)
{
    boost::asio::io_context context(1);
    database source(context, std::move(admin));
    source.query("select 1", [](const sql_store::row_reader&) {}); // finds the server
    server_judge judge(source.server(), to.found);
    server_summary shown = kind.examine(source, judge);
    shown.name = source.server();
    shown.pings = ping(source);
    if (const auto median = percentile(shown.pings, 50); median > slow)
        judge.add(level::warning, "latency",
                  "the median of " + std::to_string(shown.pings.size()) + " round trips is " +
                      std::to_string(median.count() / 1'000) + " ms",
                  "Each acquire and each renewal takes a round trip.",
                  "Move the programs closer to the server, or find what slows it down.");
    to.servers.push_back(std::move(shown));
}

} // namespace

void server_judge::add(level how_bad, const char* check, std::string what, std::string why,
                       std::string remedy)
{
    to_.push_back({how_bad, check, server_, std::move(what), std::move(why), std::move(remedy)});
}

void server_judge::connections(std::int64_t used, std::int64_t most, const std::string& setting)
{
    if (used * 10 >= most * 9)
        add(level::warning, "connections",
            std::to_string(used) + " of " + std::to_string(most) + " connections are in use",
            "A client that connects again may be refused, and loses its leases.",
            "Increase " + setting + ", or use fewer connections.");
}

report examine_database(const database_kind& kind, std::shared_ptr<const sql_store::driver> admin,
                        const std::shared_ptr<store>& locks_in, std::chrono::milliseconds slow,
                        const std::string& key)
{
    report made;
    const auto cannot_be_asked = [&](const std::string& why) {
        made.found.push_back({level::problem,
                              "reachable",
                              {},
                              why,
                              "Its locks cannot be acquired or renewed.",
                              kind.advice_on(why)});
    };
    try {
        examine(kind, std::move(admin), slow, made);
        try_lock(locks_in, key, made.found);
    }
    catch (const unreachable& failed) {
        cannot_be_asked(failed.what());
    }
    catch (const refused& failed) {
        cannot_be_asked(failed.what());
    }
    return made;
}

} // namespace leasehold::tool::doctor
