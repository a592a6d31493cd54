#include "mysql_doctor.hpp"

#include "database_doctor.hpp"

#include "mysql/driver.hpp"

#include <leasehold/mysql.hpp>

#include <cstdint>
#include <string_view>

namespace leasehold::tool::doctor {
namespace {

using sql_store::row_reader;

constexpr char question[] = "select @@version, @@version_comment, "
                            "@@global.innodb_flush_log_at_trx_commit, @@global.sync_binlog, "
                            "@@global.log_bin, @@global.max_connections, "
                            "@@global.innodb_doublewrite";

/// Replication and the number of sessions: `name`, then the value.
std::int64_t status(database& of, const std::string& name)
{
    std::int64_t value = 0;
    of.query("show global status like '" + name + "'",
             [&](const row_reader& row) { value = row.number(1); });
    return value;
}

server_summary examine(database& source, server_judge& to)
{
    server_summary shown;
    std::int64_t flush = 0, sync_binlog = 0, most = 0;
    bool has_binlog = false;
    source.query(question, [&](const row_reader& row) {
        shown.version = row.bytes(0);
        shown.product = shown.version.find("MariaDB") != std::string::npos ? "MariaDB" : "MySQL";
        shown.version = shown.version.substr(0, shown.version.find('-'));
        flush = row.number(2);
        sync_binlog = row.number(3);
        has_binlog = row.number(4) != 0;
        most = row.number(5);
    });
    shown.role = "primary";
    if (flush != 1)
        to.add(level::warning, "flush",
               "innodb_flush_log_at_trx_commit is " + std::to_string(flush),
               "A crash of the machine may lose the grants of about the last second. Two owners "
               "may then hold one lock.",
               "Set innodb_flush_log_at_trx_commit = 1, unless the guarded work can stand that.");
    if (has_binlog && sync_binlog != 1)
        to.add(
            level::note, "binlog", "sync_binlog is " + std::to_string(sync_binlog),
            "After a crash of the machine, replicas may have grants that the server has lost, or "
            "the other way round.",
            "Set sync_binlog = 1 if a replica may take over.");
    to.connections(status(source, "Threads_connected"), most, "max_connections");
    return shown;
}

/// Another session, so that its user-level lock ends.
void judge_wakeups(const mysql_config& where, findings& found)
{
    boost::asio::io_context context(1);
    database source(context, mysql_store::make_driver(where));
    source.query("call leasehold_listen()", [&](const row_reader& row) {
        if (row.number(1) == 0)
            server_judge(source.server(), found)
                .add(level::warning, "wake-ups",
                     "the owner of the procedures may not end the waits of other users",
                     "A waiter of another user is not woken, and polls instead.",
                     "Grant the owner CONNECTION_ADMIN (MariaDB: CONNECTION ADMIN), or let all "
                     "clients use one user.");
    });
}

std::string advice_on(std::string_view why)
{
    const auto says = [&](auto... any) { return ((why.find(any) != why.npos) || ...); };
    if (says("leasehold schema"))
        return "Install the schema: leasehold schema --mysql | mysql.";
    if (says("(1045)", "(1698)"))
        return "Correct the user and the password in the URL.";
    if (says("(1370)", "(1044)"))
        return "grant execute on the database to the user.";
    if (says("(1049)"))
        return "Correct the database in the URL.";
    if (says("read-only"))
        return "Name the primary in the URL as well.";
    return "Check if the server runs, and if the network lets connections pass.";
}

} // namespace

report examine_mysql(const mysql_config& where, const mysql_config& admin,
                     std::chrono::milliseconds slow, const std::string& key)
{
    report made = examine_database({&examine, &advice_on}, mysql_store::make_driver(admin),
                                   make_mysql_store(where), slow, key);
    if (!made.servers.empty())
        judge_wakeups(where, made.found);
    return made;
}

} // namespace leasehold::tool::doctor
