#include "postgres/locks.hpp"

#include "support/directory.hpp"

namespace leasehold::test {
namespace {

std::int64_t or_zero(const postgresql_rows& rows, const std::string& column)
{
    return rows.get(column) ? rows.number(column) : 0;
}

} // namespace

void locks::send_acquire(const lock_request& request)
{
    send("select * from leasehold.acquire($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
         {as_bytes(request.name), as_bytes(request.owner), as_bytes(request.entry),
          std::to_string(request.lease), std::to_string(request.wanted),
          std::to_string(request.fence_floor), std::to_string(request.deadline),
          std::to_string(request.presence), std::to_string(request.claim),
          std::to_string(request.listener), request.needs_holder ? "true" : "false"});
}

acquired locks::receive_acquire()
{
    const postgresql_rows rows = receive();
    acquired result{.result = rows.number("result"),
                    .fence = or_zero(rows, "fence"),
                    .fences = or_zero(rows, "fences"),
                    .remaining = or_zero(rows, "remaining"),
                    .place = rows.get("place") ? rows.number("place") : -1,
                    .holder = std::nullopt,
                    .clock = rows.number("clock")};
    if (rows.get("holder"))
        result.holder = rows.bytes("holder");
    return result;
}

acquired locks::acquire(const lock_request& request)
{
    send_acquire(request);
    return receive_acquire();
}

released locks::release(const std::string& owner, const std::string& name, const std::string& entry,
                        const lock_request& next)
{
    const postgresql_rows rows = run(
        "select * from leasehold.release($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        {as_bytes(name), as_bytes(owner), as_bytes(entry), as_bytes(next.owner),
         std::to_string(next.lease), std::to_string(next.wanted), std::to_string(next.fence_floor),
         std::to_string(next.deadline), std::to_string(next.presence), std::to_string(next.claim),
         std::to_string(next.listener)});
    released result{.result = rows.number("result"), .next = std::nullopt};
    if (rows.get("next_result")) {
        result.next = acquired{.result = rows.number("next_result"),
                               .fence = or_zero(rows, "next_fence"),
                               .fences = or_zero(rows, "next_fences"),
                               .remaining = or_zero(rows, "next_remaining"),
                               .place = rows.get("next_place") ? rows.number("next_place") : -1,
                               .holder = std::nullopt,
                               .clock = rows.number("clock")};
    }
    return result;
}

std::vector<bool> locks::renew(const std::vector<renewal_of>& renewals)
{
    std::vector<std::string> names;
    std::vector<std::string> owners;
    std::vector<std::string> entries;
    std::string leases = "{";
    for (const renewal_of& each : renewals) {
        names.push_back(each.name);
        owners.push_back(each.owner);
        entries.push_back(each.entry);
        leases += (leases.size() > 1 ? "," : "") + std::to_string(each.lease);
    }
    const postgresql_rows rows = run(
        "select * from leasehold.renew($1, $2, $3, $4)",
        {as_bytes(names), as_bytes(owners), as_bytes(entries), leases + '}'});
    std::vector<bool> result;
    for (std::size_t i = 0; i < rows.size(); ++i)
        result.push_back(rows.get("renewed", i) == "t");
    return result;
}

std::int64_t locks::clock()
{
    return run("select leasehold.clock()").number("clock");
}

bool is_blocked(postgresql_connection& observer, postgresql_connection& other)
{
    for (;;) {
        const auto blocked = observer.run(
            "select wait_event_type = 'Lock' as yes from pg_stat_activity where pid = $1",
            {std::to_string(other.pid())});
        if (blocked.get("yes") == "t")
            return true;
        if (other.answered())
            return false;
    }
}

listening::listening(const std::string& where, const std::string& client)
    : postgresql_connection(where)
{
    listener_ = run("select * from leasehold.attend($1)", {as_bytes(client)}).number("listener");
}

std::optional<listening::grant> listening::read(const std::optional<std::string>& payload)
{
    if (!payload)
        return std::nullopt;
    const std::size_t space = payload->find(' ');
    const postgresql_rows rows = run(
        "select decode($1, 'base64') as owner, decode($2, 'base64') as name",
        {payload->substr(0, space), payload->substr(space + 1)});
    return grant{.owner = rows.bytes("owner"), .name = rows.bytes("name")};
}

std::optional<listening::grant> listening::next_grant(std::chrono::milliseconds limit)
{
    return read(notification(limit));
}

std::vector<listening::grant> listening::grants()
{
    run("select"); // the server sends notifications before it answers
    std::vector<grant> result;
    while (const auto payload = notification(std::chrono::milliseconds(0)))
        result.push_back(read(payload).value());
    return result;
}

const postgresql_server& lock_server()
{
    static const postgresql_server started;
    static const bool installed = [] {
        postgresql_connection(started.connection_text()).run_script(lock_schema());
        return true;
    }();
    static_cast<void>(installed);
    return started;
}

std::string lock_schema()
{
    return text_of(LEASEHOLD_TEST_SCHEMA);
}

boost::test_tools::assertion_result lock_server_can_be_started(boost::unit_test::test_unit_id)
{
    boost::test_tools::assertion_result result(postgresql_server::missing().empty());
    result.message() << postgresql_server::missing();
    return result;
}

void lock_fixture::clear()
{
    admin.run_script("truncate leasehold.lock, leasehold.waiter, leasehold.client");
}

void lock_fixture::expire(const std::string& name)
{
    admin.run("update leasehold.lock set expires = leasehold.clock() where key = $1",
              {as_bytes(name)});
}

void lock_fixture::expire_presence(const std::string& owner)
{
    admin.run("update leasehold.waiter set until = leasehold.clock() - 1 where owner = $1",
              {as_bytes(owner)});
}

std::string lock_fixture::holder_of(const std::string& name)
{
    const postgresql_rows row = admin.run(
        "select owner from leasehold.lock "
        "where key = $1 and owner is not null and expires > leasehold.clock()",
        {as_bytes(name)});
    return row.size() == 0 ? std::string() : row.bytes("owner");
}

std::vector<std::string> lock_fixture::waiters_of(const std::string& name)
{
    const postgresql_rows rows = admin.run(
        "select owner from leasehold.waiter where key = $1 order by n", {as_bytes(name)});
    std::vector<std::string> result;
    for (std::size_t i = 0; i < rows.size(); ++i)
        result.push_back(rows.bytes("owner", i));
    return result;
}

} // namespace leasehold::test
