#include "postgres_doctor.hpp"

#include "../failures.hpp"
#include "../percentile.hpp"
#include "../sql/database.hpp"
#include "trial.hpp"

#include "postgres/driver.hpp"
#include "postgres/protocol/identifier.hpp"

#include <leasehold/postgres.hpp>

#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

namespace leasehold::tool::doctor {
namespace {

using durability = postgres_config::commit_durability;
using sql_store::row_reader;

/// The settings and the state that the server reports.
struct facts
{
    std::string version;
    bool sees_all = false; ///< The user may see the sessions of others.
    bool fsync = true;
    bool autovacuum = true;
    std::string synchronous_standbys; ///< The setting.
    std::int64_t standbys = 0;
    bool unlogged = false;
    std::int64_t oldest_snapshot = 0; ///< The age of the oldest transaction of others, in seconds.
    std::string oldest_of;            ///< Its session.
    std::int64_t sessions = 0;
    std::int64_t most_sessions = 0;
};

constexpr std::string_view question =
    R"(select current_setting('server_version'),
    pg_has_role('pg_read_all_stats', 'member'),
    current_setting('fsync') = 'on',
    current_setting('autovacuum') = 'on',
    current_setting('synchronous_standby_names'),
    (select count(*) from pg_stat_replication),
    exists (select from pg_class where relnamespace = to_regnamespace($1)
            and relkind = 'r' and relpersistence = 'u'),
    coalesce(oldest.age, 0), coalesce(oldest.session, ''),
    (select count(*) from pg_stat_activity where backend_type = 'client backend'),
    current_setting('max_connections')::bigint
    from (select 1) as one left join lateral (
        select extract(epoch from clock_timestamp() - a.xact_start)::bigint as age,
               'process ' || a.pid || ' (' || a.application_name || ')' as session
        from pg_stat_activity as a
        where a.backend_xmin is not null and a.pid <> pg_backend_pid()
        order by a.xact_start limit 1) as oldest on true)";

/// The question for a schema, as text in quotes.
std::string question_for(const std::string& schema)
{
    constexpr std::string_view place = "$1";
    std::string text(question), literal = "'";
    for (const char c : postgres_store::quoted(schema))
        literal.append(c == '\'' ? 2 : 1, c);
    return text.replace(text.find(place), place.size(), literal + "'");
}

facts ask_facts(database& from, const std::string& schema)
{
    facts found;
    from.query(question_for(schema), [&](const row_reader& row) {
        found.version = row.bytes(0);
        found.sees_all = row.number(1) != 0;
        found.fsync = row.number(2) != 0;
        found.autovacuum = row.number(3) != 0;
        found.synchronous_standbys = row.bytes(4);
        found.standbys = row.number(5);
        found.unlogged = row.number(6) != 0;
        found.oldest_snapshot = row.number(7);
        found.oldest_of = row.bytes(8);
        found.sessions = row.number(9);
        found.most_sessions = row.number(10);
    });
    return found;
}

std::vector<microseconds> ping(database& to)
{
    constexpr int times = 20;
    std::vector<microseconds> took;
    for (int i = 0; i < times; ++i) {
        const auto began = std::chrono::steady_clock::now();
        to.query("select 1", [](const row_reader&) {});
        took.push_back(
            std::chrono::duration_cast<microseconds>(std::chrono::steady_clock::now() - began));
    }
    return took;
}

class judge
{
public:
    judge(const facts& known, const postgres_config& where, std::string server, findings& to)
        : facts_(known), where_(where), server_(std::move(server)), to_(to)
    {}

    void all(std::chrono::milliseconds slow, const std::vector<microseconds>& pings)
    {
        disk();
        standbys();
        snapshots();
        sessions();
        if (const auto median = percentile(pings, 50); median > slow)
            add(level::warning, "latency",
                "the median of " + std::to_string(pings.size()) + " round trips is " +
                    std::to_string(median.count() / 1'000) + " ms",
                "Each acquire and each renewal takes a round trip.",
                "Move the programs closer to the server, or find what slows it down.");
    }

private:
    void add(level how_bad, const char* check, std::string what, std::string why,
             std::string remedy)
    {
        to_.push_back(
            {how_bad, check, server_, std::move(what), std::move(why), std::move(remedy)});
    }

    void disk()
    {
        if (!facts_.fsync)
            add(level::warning, "fsync", "fsync is off",
                "A crash of the machine may lose granted locks, and damage the database.",
                "Set fsync = on.");
        if (facts_.unlogged)
            add(level::warning, "unlogged", "the tables of the locks are unlogged",
                "A crash of the server loses all locks and fences, and a standby has none.",
                "Install the schema again: leasehold schema | psql.");
        if (where_.durability == durability::relaxed)
            add(level::warning, "durability", "the URL has durability=relaxed",
                "A crash of the server may lose the grants of about the last second. Two owners "
                "may then hold one lock.",
                "Use durability=full, unless the guarded work can stand that.");
        if (!facts_.autovacuum)
            add(level::warning, "autovacuum", "autovacuum is off",
                "Each acquire leaves an old version of a row, and locks become slower.",
                "Set autovacuum = on.");
    }

    void standbys()
    {
        const bool has_standbys = facts_.standbys > 0 || where_.addresses.size() > 1;
        if (!has_standbys)
            return;
        if (facts_.synchronous_standbys.empty())
            add(level::warning, "standby", "no standby is synchronous",
                "A standby that is promoted may not have the last grants. Two owners may then hold "
                "one lock.",
                "Set synchronous_standby_names, for example to 'ANY 1 (*)'.");
        else if (where_.durability != durability::full)
            add(level::warning, "standby",
                "the URL has a durability other than full, so a grant does not wait for the "
                "synchronous standbys",
                "A standby that is promoted may not have the last grants. Two owners may then hold "
                "one lock.",
                "Use durability=full.");
    }

    void snapshots()
    {
        constexpr std::int64_t old = 600;
        if (facts_.oldest_snapshot >= old)
            add(level::warning, "snapshot",
                facts_.oldest_of + " has a transaction that is " +
                    std::to_string(facts_.oldest_snapshot) + " s old",
                "The server keeps the old versions of all rows for it, and a lock that is acquired "
                "often becomes slower with each acquire.",
                "End the transaction. Let reports and dumps read from a standby.");
        if (!facts_.sees_all)
            add(level::note, "snapshot", "the user may not see the transactions of other users",
                "An old transaction slows locks down; it was not looked for.",
                "Pass --admin with a user that has the role pg_read_all_stats.");
    }

    void sessions()
    {
        if (facts_.sessions * 10 >= facts_.most_sessions * 9)
            add(level::warning, "connections",
                std::to_string(facts_.sessions) + " of " + std::to_string(facts_.most_sessions) +
                    " connections are in use",
                "A client that connects again may be refused, and loses its leases.",
                "Increase max_connections, or use fewer connections.");
    }

    const facts& facts_;
    const postgres_config& where_;
    const std::string server_;
    findings& to_;
};

std::string advice_on(std::string_view why)
{
    const auto says = [&](auto... any) { return ((why.find(any) != why.npos) || ...); };
    if (says("leasehold schema"))
        return "Install the schema: leasehold schema | psql.";
    if (says("(28"))
        return "Correct the user and the password in the URL, or pg_hba.conf of the server.";
    if (says("(42501)"))
        return "grant usage on schema leasehold to the user.";
    if (says("(3D000)"))
        return "Correct the database in the URL.";
    if (says("read-only"))
        return "Name the primary in the URL as well.";
    return "Check if the server runs, and if the network lets connections pass.";
}

void examine(const postgres_config& where, const postgres_config& admin,
             std::chrono::milliseconds slow, report& to)
{
    boost::asio::io_context context(1);
    database server(context, postgres_store::make_driver(admin));
    const facts known = ask_facts(server, where.schema);
    server_summary shown{
        .name = server.server(),
        .product = "PostgreSQL",
        .version = known.version,
        .role = "primary",
        .more = {std::to_string(known.standbys) + (known.standbys == 1 ? " standby" : " standbys")},
        .pings = ping(server)};
    judge(known, where, shown.name, to.found).all(slow, shown.pings);
    to.servers.push_back(std::move(shown));
}

} // namespace

report examine_postgres(const postgres_config& where, const postgres_config& admin,
                        std::chrono::milliseconds slow, const std::string& key)
{
    report made;
    const auto cannot_be_asked = [&](const std::string& why) {
        made.found.push_back({level::problem,
                              "reachable",
                              {},
                              why,
                              "Its locks cannot be acquired or renewed.",
                              advice_on(why)});
    };
    try {
        examine(where, admin, slow, made);
        try_lock(make_postgres_store(where), key, made.found);
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
