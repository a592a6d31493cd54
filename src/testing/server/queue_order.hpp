#ifndef LEASEHOLD_SRC_TESTING_SERVER_QUEUE_ORDER_HPP
#define LEASEHOLD_SRC_TESTING_SERVER_QUEUE_ORDER_HPP

#include "testing/server/keyspace.hpp"
#include "testing/server/lock_request.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::testing::impl {

/// An owner was granted a lock before earlier waiters.
struct overtaking
{
    std::string owner;
    bool of_a_present_waiter; ///< One of these was present.
};

/// The queue of a name and the holder, as they were before a request, for a comparison with the
/// state after it.
class queue_order
{
public:
    /// @param now   The server's time in microseconds.
    /// @param subscribed Whether a channel has a subscriber.
    queue_order(keyspace& of, std::string_view name, std::int64_t now, bool in_cluster,
                const std::function<bool(std::string_view channel)>& subscribed);

    /// Throws `std::logic_error` if the queue is corrupt: an owner is in it twice, at another
    /// position, or in only one of its two keys. Also if a request of an owner that is not first
    /// took the lock while it was left free for external clients.
    /// @returns The owner that was granted the lock before earlier waiters.
    [[nodiscard]] std::optional<overtaking> overtaking_owner(const lock_request& request) const;

    /// @returns The owner that got the lock by another's request but is not notified: it
    ///          did not listen when it joined, and does not now.
    [[nodiscard]] std::optional<std::string> granted_unnotified(const lock_request& request) const;

private:
    /// The state of a waiter.
    struct presence
    {
        bool present;           ///< Counts as present.
        bool unnotified;        ///< It reported that it does not listen, and does not.
        bool keeps_out = false; ///< The lock is left free for external clients.
    };

    [[nodiscard]] keyspace::items queue() const;
    [[nodiscard]] std::string holder() const;
    [[nodiscard]] presence presence_of(const std::string& waiter, std::int64_t now,
                                       bool subscribed) const;

    keyspace& data_;
    const std::string name_;
    std::string queue_key_;
    std::string waiters_key_;
    keyspace::items queue_before_;
    std::vector<presence> before_; ///< In the order of the queue.
    std::string holder_before_;
    bool was_free_ = false;
};

} // namespace leasehold::testing::impl

#endif
