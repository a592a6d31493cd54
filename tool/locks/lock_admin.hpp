#ifndef LEASEHOLD_TOOL_LOCKS_LOCK_ADMIN_HPP
#define LEASEHOLD_TOOL_LOCKS_LOCK_ADMIN_HPP

#include "lock_state.hpp"

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace leasehold::tool {

/// The locks that were read.
struct lock_list
{
    std::vector<lock_state> locks{};     ///< By name.
    std::vector<std::string> problems{}; ///< Failed queries, with the reasons.
    bool complete = true; ///< No lock is missing: enough members of a quorum answered.
};

/// The result of breaking a lock.
struct break_result
{
    enum class outcome : std::uint8_t
    {
        freed,        ///< The lock is free, and its waiters were notified.
        granted_next, ///< The next waiter holds it.
        not_held,     ///< There was no lock. Nothing was changed.
        other_owner,  ///< Another owner holds it. Nothing was changed.
    };
    outcome result = outcome::not_held;
    lock_state before{};      ///< The lock before the change; with `other_owner` its holder.
    std::string next{};       ///< Passed on: the new owner.
    std::size_t notified = 0; ///< Freed: the number of notified clients.
    std::size_t members = 0;  ///< The number of members of a quorum that had the lock.
};

/// The locks of a store, for operators. Connects at the first call, and again after
/// an error. Each call blocks, and runs the context meanwhile.
class lock_admin
{
public:
    lock_admin() = default;
    lock_admin(const lock_admin&) = delete;
    lock_admin& operator=(const lock_admin&) = delete;
    virtual ~lock_admin() = default;

    /// Lists the held locks. An unreachable server is one of the problems.
    /// @param pattern A glob of Redis over the names.
    /// @throws interrupted
    [[nodiscard]] virtual lock_list list(const std::string& pattern) = 0;

    /// The same for a caller that lists the locks repeatedly, with one pattern. Once it has
    /// returned a complete list, it may look for new locks for at most `limit`, and return each of
    /// them later.
    /// @throws interrupted
    [[nodiscard]] virtual lock_list list_again(const std::string& pattern,
                                               std::chrono::nanoseconds limit)
    {
        static_cast<void>(limit);
        return list(pattern);
    }

    /// Reads all details of a lock. Returns no value if it is free.
    /// @throws unreachable, refused, interrupted, usage_error (it is not a lock)
    [[nodiscard]] virtual std::optional<lock_state> read(const std::string& name) = 0;

    /// Removes the lock of one owner in one step, and wakes the next waiter. A lock of another
    /// owner is not changed, even if the owner changes meanwhile.
    /// @throws unreachable, refused, interrupted, usage_error (it is not a lock)
    [[nodiscard]] virtual break_result break_lock(const std::string& name,
                                                  const std::string& owner) = 0;
};

/// Returns the locks of the store that the URL names.
/// @throws usage_error, boost::system::system_error (an invalid URL)
[[nodiscard]] std::unique_ptr<lock_admin> make_admin(boost::asio::io_context& context,
                                                     const std::string& url);

} // namespace leasehold::tool

#endif
