#ifndef LEASEHOLD_TEST_POSTGRES_LOCKS_HPP
#define LEASEHOLD_TEST_POSTGRES_LOCKS_HPP

#include "postgres/connection.hpp"
#include "sql/lock_requests.hpp"
#include "support/postgresql_server.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// The functions of the schema, as the tests call them.
namespace leasehold::test {

/// A connection of an application.
class locks : public postgresql_connection
{
public:
    using postgresql_connection::postgresql_connection;

    acquired acquire(const lock_request& request);
    void send_acquire(const lock_request& request);
    acquired receive_acquire();
    released release(const std::string& owner, const std::string& name = "lock",
                     const std::string& entry = {}, const lock_request& next = lock_request());
    std::vector<bool> renew(const std::vector<renewal_of>& renewals);
    void begin() { run("begin"); }
    void commit() { run("commit"); }
    std::int64_t clock();
};

/// Returns when `other` waits for a lock of the server. False: it got its answer.
bool is_blocked(postgresql_connection& observer, postgresql_connection& other);

/// The listening connection of a client.
class listening : public postgresql_connection
{
public:
    listening(const std::string& where, const std::string& client);

    [[nodiscard]] std::int64_t listener() const noexcept { return listener_; }

    using grant = announced_grant;

    std::optional<grant> next_grant(std::chrono::milliseconds limit = std::chrono::seconds(30));
    /// The notifications that were committed before this call.
    std::vector<grant> grants();

private:
    std::optional<grant> read(const std::optional<std::string>& payload);

    std::int64_t listener_ = 0;
};

/// One server for all tests of the program, with the schema.
[[nodiscard]] const postgresql_server& lock_server();

/// The text of the schema.
[[nodiscard]] std::string lock_schema();

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

    std::string where = lock_server().connection_text();
    postgresql_connection admin{where};
    locks a{where};
    locks b{where};
};

} // namespace leasehold::test

#endif
