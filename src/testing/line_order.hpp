#ifndef LEASEHOLD_SRC_TESTING_LINE_ORDER_HPP
#define LEASEHOLD_SRC_TESTING_LINE_ORDER_HPP

#include "testing/keyspace.hpp"
#include "testing/lock_request.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::testing::impl {

/// Somebody was given a lock before those who came first.
struct overtaking
{
    std::string owner;
    bool of_one_there; ///< One of them was there.
};

/// The line of a name, and who has the lock, as they were before a request, to be compared with
/// what the request has made of them.
class line_order
{
public:
    /// @param now   The server's time in microseconds.
    /// @param hears Whether somebody listens to a channel.
    line_order(keyspace& of, std::string_view name, std::int64_t now, bool in_cluster,
               const std::function<bool(std::string_view channel)>& hears);

    /// Throws `std::logic_error` when the line is none any more: somebody is in it twice, or not
    /// where he was, or in one of its two keys alone. And when the lock, which was left free for
    /// those who do not know the line, is somebody's by a request of one who is not first in it.
    /// @returns Whom the lock was given to although others came first.
    [[nodiscard]] std::optional<overtaking> overtaker(const lock_request& asked) const;

    /// @returns Whom the lock was given to by another's request although nobody hears of it: it did
    ///          not listen yet when it joined, and does not now.
    [[nodiscard]] std::optional<std::string> given_unheard(const lock_request& asked) const;

private:
    /// What is known of somebody in the line.
    struct presence
    {
        bool there;             ///< Counts as such.
        bool unheard;           ///< It said that it does not listen, and does not.
        bool keeps_out = false; ///< The lock is left free for those who do not know the line.
    };

    [[nodiscard]] keyspace::items line() const;
    [[nodiscard]] std::string holder() const;
    [[nodiscard]] presence presence_of(const std::string& waiter, std::int64_t now,
                                       bool hears) const;

    keyspace& data_;
    const std::string name_;
    std::string line_key_;
    std::string waiters_key_;
    keyspace::items line_before_;
    std::vector<presence> before_; ///< In the order of the line.
    std::string holder_before_;
    bool was_free_ = false;
};

} // namespace leasehold::testing::impl

#endif
