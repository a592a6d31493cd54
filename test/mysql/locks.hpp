#ifndef LEASEHOLD_TEST_MYSQL_LOCKS_HPP
#define LEASEHOLD_TEST_MYSQL_LOCKS_HPP

#include "mysql/database.hpp"
#include "sql/lock_requests.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

// The procedures of the schema, as the tests call them.
namespace leasehold::test {

/// A connection of an application.
class locks : public mysql_connection
{
public:
    explicit locks(const std::string& socket) : mysql_connection(socket, "app", "locks") {}

    acquired acquire(const lock_request& request);
    released release(const std::string& owner, const std::string& name = "lock",
                     const std::string& entry = {}, const lock_request& next = lock_request());
    std::vector<bool> renew(const std::vector<renewal_of>& renewals);

    /// The next requests are one transaction.
    void begin();
    void commit();

    /// A call as a transaction of its own, or a part of the current one.
    mysql_rows call(const std::string& text);

private:
    bool in_transaction_ = false;
};

/// The connection of a client for its grants.
class listening : public mysql_connection
{
public:
    listening(const std::string& socket, const std::string& client);

    [[nodiscard]] std::int64_t listener() const noexcept { return listener_; }
    std::optional<announced_grant> next_grant(
        std::chrono::milliseconds limit = std::chrono::seconds(30));
    /// The grants that are not confirmed, and were not returned before.
    std::vector<announced_grant> grants() { return look(0); }

private:
    std::vector<announced_grant> look(double seconds);

    std::int64_t listener_ = 0;
    std::set<std::string> known_;
    std::vector<announced_grant> found_;
};

/// One server for all tests of the program, with the schema.
[[nodiscard]] mysql_database& lock_server();

/// If false, the result contains the reason.
boost::test_tools::assertion_result lock_server_can_be_started(boost::unit_test::test_unit_id);

/// Empty tables, the owner of the schema, and two applications.
struct lock_fixture
{
    lock_fixture() { clear(); }

    void clear();
    /// Ends the lease of the holder.
    void expire(const std::string& name);
    /// Ends the presence of a waiter.
    void expire_presence(const std::string& owner);
    /// Empty: none.
    [[nodiscard]] std::string holder_of(const std::string& name);
    [[nodiscard]] std::vector<std::string> waiters_of(const std::string& name);

    std::string where = lock_server().server().socket();
    mysql_connection admin{where, "root", "locks"};
    locks a{where};
    locks b{where};
};

} // namespace leasehold::test

#endif
