#ifndef LEASEHOLD_TEST_POSTGRES_LOCKS_HPP
#define LEASEHOLD_TEST_POSTGRES_LOCKS_HPP

#include "postgres/connection.hpp"
#include "support/postgresql_server.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

// The functions of the schema, as the tests call them.
namespace leasehold::test {

struct lock_request
{
    std::string owner{};
    std::string name = "lock";
    std::string entry{};
    std::int64_t lease = 60'000;
    std::int64_t wanted = 1;
    std::int64_t fence_floor = 0;
    std::int64_t deadline = 0;
    std::int64_t presence = 0; ///< 0: does not wait.
    std::int64_t claim = 30'000;
    std::int64_t listener = 0;
    bool needs_holder = false;
};

/// A request that waits.
[[nodiscard]] lock_request waiting(const std::string& owner, const std::string& name = "lock");

/// The results of `acquire`.
enum : std::int64_t
{
    gone = -2,
    late = -1,
    held = 0,
    granted = 1
};

struct acquired
{
    std::int64_t result = held;
    std::int64_t fence = 0;
    std::int64_t fences = 0;
    std::int64_t remaining = 0;
    std::int64_t place = -1;
    std::optional<std::string> holder;
    std::int64_t clock = 0;

    [[nodiscard]] std::int64_t first_fence() const noexcept { return fence - fences + 1; }
};

/// The results of `release`.
enum : std::int64_t
{
    not_owner = 0,
    freed = 1,
    still_held = 2,
    left_queue = 3,
    granted_next = 4
};

struct released
{
    std::int64_t result = not_owner;
    std::optional<acquired> next;
};

struct renewal_of
{
    std::string owner;
    std::string name = "lock";
    std::string entry{};
    std::int64_t lease = 60'000;
};

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

    struct grant
    {
        std::string owner;
        std::string name;

        friend bool operator==(const grant&, const grant&) = default;
        friend std::ostream& operator<<(std::ostream& out, const grant& value);
    };

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
    lock_fixture();

    std::string where = lock_server().connection_text();
    postgresql_connection admin{where};
    locks a{where};
    locks b{where};
};

} // namespace leasehold::test

#endif
