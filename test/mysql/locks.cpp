#include "mysql/locks.hpp"

#include <algorithm>
#include <numeric>

namespace leasehold::test {
namespace {

const char* const now_us = "cast(unix_timestamp(sysdate(6)) * 1000000 as signed)";

acquired read_acquired(const mysql_rows& rows, const std::string& prefix)
{
    const auto number = [&](const std::string& column, std::int64_t missing) {
        return rows.get(prefix + column) ? rows.number(prefix + column) : missing;
    };
    return {.result = number("result", 0),
            .fence = number("fence", 0),
            .fences = number("fences", 0),
            .remaining = number("remaining", 0),
            .place = number("place", -1),
            .holder = std::nullopt,
            .clock = rows.number("clock")};
}

std::string digits(std::int64_t number, std::size_t width)
{
    const std::string text = std::to_string(number);
    return std::string(width - text.size(), '0') + text;
}

/// The parameters that an acquire and the next one of a release have in common.
std::string rest_of(const lock_request& request)
{
    std::string text;
    for (const std::int64_t each : {request.lease, request.wanted, request.fence_floor,
                                    request.deadline, request.presence, request.claim})
        text += std::to_string(each) + ",";
    return text + std::to_string(request.listener);
}

} // namespace

mysql_rows locks::call(const std::string& text)
{
    if (in_transaction_)
        return run(text);
    try {
        return run("start transaction;" + text + ";commit;call leasehold_ring()");
    }
    catch (const mysql_failure&) {
        run("rollback");
        throw;
    }
}

void locks::begin()
{
    run("start transaction");
    in_transaction_ = true;
}

void locks::commit()
{
    in_transaction_ = false;
    run("commit;call leasehold_ring()");
}

acquired locks::acquire(const lock_request& request)
{
    const mysql_rows rows = call("call leasehold_acquire(" + literal(request.name) + "," +
                                 literal(request.owner) + "," + literal(request.entry) + "," +
                                 rest_of(request) + (request.needs_holder ? ",1,0)" : ",0,0)"));
    acquired result = read_acquired(rows, "");
    result.holder = rows.get("holder");
    return result;
}

released locks::release(const std::string& owner, const std::string& name, const std::string& entry,
                        const lock_request& next)
{
    const mysql_rows rows = call("call leasehold_release(" + literal(name) + "," + literal(owner) +
                                 "," + literal(entry) + "," + literal(next.owner) + "," +
                                 rest_of(next) + ")");
    released result{.result = rows.number("result"), .next = std::nullopt};
    if (rows.get("next_result"))
        result.next = read_acquired(rows, "next_"); // its clock is that of the release
    return result;
}

std::vector<bool> locks::renew(const std::vector<renewal_of>& renewals)
{
    std::vector<std::size_t> order(renewals.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::stable_sort(order.begin(), order.end(), [&](std::size_t l, std::size_t r) {
        return renewals[l].name < renewals[r].name;
    });
    std::string batch;
    for (const std::size_t i : order) {
        const renewal_of& each = renewals[i];
        batch += digits(each.lease, 16);
        for (const std::string& text : {each.name, each.owner, each.entry})
            batch += digits(static_cast<std::int64_t>(text.size()), 4);
        batch += each.name + each.owner + each.entry;
    }
    const std::string got = call("call leasehold_renew(" + literal(batch) + ")").bytes("renewed");
    std::vector<bool> result(renewals.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        result[order[i]] = got.at(i) == '1';
    return result;
}

listening::listening(const std::string& socket, const std::string& client)
    : mysql_connection(socket, "app", "locks")
{
    static_cast<void>(client);
    listener_ = run("call leasehold_listen()").number("listener");
}

std::vector<announced_grant> listening::look(double seconds)
{
    std::string known = ",";
    for (const std::string& id : known_)
        known += id + ",";
    mysql_rows rows;
    try {
        rows = run("call leasehold_attend('" + known + "'," + std::to_string(seconds) + ")");
    }
    catch (const mysql_failure& failed) {
        if (failed.code != 1317) // interrupted by a grant
            throw;
        return look(0);
    }
    std::set<std::string> all;
    std::vector<announced_grant> result;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::string id = rows.bytes("id", i);
        all.insert(id);
        if (known_.count(id) == 0)
            result.push_back({.owner = rows.bytes("owner", i), .name = rows.bytes("name", i)});
    }
    known_ = std::move(all);
    return result;
}

std::optional<announced_grant> listening::next_grant(std::chrono::milliseconds limit)
{
    const auto end = std::chrono::steady_clock::now() + limit;
    double seconds = 0.02;
    while (found_.empty()) {
        if (std::chrono::steady_clock::now() > end)
            return std::nullopt;
        found_ = look(seconds);
        seconds = std::min(2 * seconds, 1.0);
    }
    const announced_grant first = found_.front();
    found_.erase(found_.begin());
    return first;
}

mysql_database& lock_server()
{
    static mysql_database started;
    // The table of a test.
    static const mysql_rows granted = started.connect().run(
        "grant select, update, create on locks.counter to app@localhost");
    static_cast<void>(granted);
    return started;
}

boost::test_tools::assertion_result lock_server_can_be_started(boost::unit_test::test_unit_id)
{
    boost::test_tools::assertion_result result(mysql_server::missing().empty());
    result.message() << mysql_server::missing();
    return result;
}

void lock_fixture::clear()
{
    admin.run("truncate leasehold_lock; truncate leasehold_waiter; truncate leasehold_client");
}

void lock_fixture::expire(const std::string& name)
{
    admin.run(std::string("update leasehold_lock set expires = ") + now_us +
              " where name = " + literal(name));
}

void lock_fixture::expire_presence(const std::string& owner)
{
    admin.run(std::string("update leasehold_waiter set present_until = ") + now_us +
              " - 1 where owner = " + literal(owner));
}

std::string lock_fixture::holder_of(const std::string& name)
{
    const mysql_rows row = admin.run("select owner from leasehold_lock where owner is not null "
                                     "and name = " +
                                     literal(name) + " and expires > " + now_us);
    return row.size() == 0 ? std::string() : row.bytes("owner");
}

std::vector<std::string> lock_fixture::waiters_of(const std::string& name)
{
    const mysql_rows rows = admin.run(
        "select owner from leasehold_waiter where name = " + literal(name) + " order by n");
    std::vector<std::string> result;
    for (std::size_t i = 0; i < rows.size(); ++i)
        result.push_back(rows.bytes("owner", i));
    return result;
}

} // namespace leasehold::test
