#ifndef LEASEHOLD_TEST_SQL_LOCK_REQUESTS_HPP
#define LEASEHOLD_TEST_SQL_LOCK_REQUESTS_HPP

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

// The requests and results of the procedures of each database.
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
[[nodiscard]] inline lock_request waiting(const std::string& owner,
                                          const std::string& name = "lock")
{
    lock_request result{.owner = owner, .name = name};
    result.presence = 60'000;
    return result;
}

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

/// The notification of a grant.
struct announced_grant
{
    std::string owner;
    std::string name;

    friend bool operator==(const announced_grant&, const announced_grant&) = default;
    friend std::ostream& operator<<(std::ostream& out, const announced_grant& value)
    {
        return out << value.owner << " of " << value.name;
    }
};

} // namespace leasehold::test

#endif
