#include "postgres_doctor.hpp"

#include "database_doctor.hpp"

#include "postgres/driver.hpp"
#include "postgres/protocol/identifier.hpp"

#include <leasehold/postgres.hpp>

#include <cstdint>
#include <string_view>

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

class judge
{
public:
    judge(const facts& known, const postgres_config& where, server_judge& to)
        : facts_(known), where_(where), to_(to)
    {}

    void all()
    {
        disk();
        standbys();
        snapshots();
        to_.connections(facts_.sessions, facts_.most_sessions, "max_connections");
    }

private:
    void disk()
    {
        if (!facts_.fsync)
            to_.add(level::warning, "fsync", "fsync is off",
                    "A crash of the machine may lose granted locks, and damage the database.",
                    "Set fsync = on.");
        if (facts_.unlogged)
            to_.add(level::warning, "unlogged", "the tables of the locks are unlogged",
                    "A crash of the server loses all locks and fences, and a standby has none.",
                    "Install the schema again: leasehold schema | psql.");
        if (where_.durability == durability::relaxed)
            to_.add(
                level::warning, "durability", "the URL has durability=relaxed",
                "A crash of the server may lose the grants of about the last second. Two owners "
                "may then hold one lock.",
                "Use durability=full, unless the guarded work can stand that.");
        if (!facts_.autovacuum)
            to_.add(level::warning, "autovacuum", "autovacuum is off",
                    "Each acquire leaves an old version of a row, and locks become slower.",
                    "Set autovacuum = on.");
    }

    void standbys()
    {
        const bool has_standbys = facts_.standbys > 0 || where_.addresses.size() > 1;
        if (!has_standbys)
            return;
        if (facts_.synchronous_standbys.empty())
            to_.add(
                level::warning, "standby", "no standby is synchronous",
                "A standby that is promoted may not have the last grants. Two owners may then hold "
                "one lock.",
                "Set synchronous_standby_names, for example to 'ANY 1 (*)'.");
        else if (where_.durability != durability::full)
            to_.add(
                level::warning, "standby",
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
            to_.add(
                level::warning, "snapshot",
                facts_.oldest_of + " has a transaction that is " +
                    std::to_string(facts_.oldest_snapshot) + " s old",
                "The server keeps the old versions of all rows for it, and a lock that is acquired "
                "often becomes slower with each acquire.",
                "End the transaction. Let reports and dumps read from a standby.");
        if (!facts_.sees_all)
            to_.add(level::note, "snapshot", "the user may not see the transactions of other users",
                    "An old transaction slows locks down; it was not looked for.",
                    "Pass --admin with a user that has the role pg_read_all_stats.");
    }

    const facts& facts_;
    const postgres_config& where_;
    server_judge& to_;
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

} // namespace

report examine_postgres(const postgres_config& where, const postgres_config& admin,
                        std::chrono::milliseconds slow, const std::string& key)
{
    const auto examine = [&](database& source, server_judge& to) {
        const facts known = ask_facts(source, where.schema);
        judge(known, where, to).all();
        server_summary shown;
        shown.product = "PostgreSQL";
        shown.version = known.version;
        shown.role = "primary";
        shown.more = {std::to_string(known.standbys) +
                      (known.standbys == 1 ? " standby" : " standbys")};
        return shown;
    };
    return examine_database({examine, &advice_on}, postgres_store::make_driver(admin),
                            make_postgres_store(where), slow, key);
}

} // namespace leasehold::tool::doctor
