#ifndef LEASEHOLD_SRC_TESTING_SERVER_LOCK_REQUEST_HPP
#define LEASEHOLD_SRC_TESTING_SERVER_LOCK_REQUEST_HPP

#include "testing/server/message.hpp"
#include "testing/server/verbs.hpp"

#include <leasehold/redis_config.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::testing::impl {

/// A request of this library for a lock or, if it renews or releases a group, for several.
struct lock_request
{
    /// In the order of `step`, three for each.
    enum class kind : std::uint8_t
    {
        acquire,
        renew,
        release,
    };

    kind what = kind::acquire;
    redis_config::key_layout layout = redis_config::key_layout::redisson;
    bool of_member = false;  ///< Sent to one member of a quorum.
    bool plain = false;      ///< A command and no script.
    bool group = false;      ///< Releases several locks; `name` and `owner` are the first.
    bool as_known = true;    ///< False: another number of words; the rest is not read.
    bool limited = false;    ///< It has a time limit.
    std::int64_t latest = 0; ///< The limit: in microseconds, by the server's clock.
    std::string_view name;   ///< The first of several.
    std::string_view owner{};
    std::string_view entry{};
    std::string_view next{}; ///< The owner that joins with the release.
    std::uint32_t fences = 0;
    bool gets = false; ///< A plain one that returns the previous value.
};

/// Nothing: another command.
[[nodiscard]] std::optional<lock_request> lock_request_of(words command);

/// The releases of a group.
[[nodiscard]] std::vector<lock_request> releases_of(words group);

/// Whether the answer reports that lock of the group as freed.
[[nodiscard]] bool is_freed(const lock_request& group, const message& reply, std::size_t index);

/// The number of fences of the layout `native` that a command draws; 0: another command.
[[nodiscard]] std::uint32_t fences_drawn_by(words command) noexcept;

/// The effect of a request.
struct lock_effect
{
    /// The lock was taken, or was its owner's already. Another command may draw the fence.
    bool taken = false;
    std::string_view owner{}; ///< The holder after it.
    std::uint64_t first_fence = 0;
    std::uint32_t fences = 0;
    bool reentered = false;
    bool left = false;         ///< By its last holder.
    std::string_view queued{}; ///< The waiter in the queue; empty: none.
    std::int64_t place = 0;    ///< The number of waiters before it; negative: far more.
    std::int64_t held_for = 0; ///< In milliseconds; negative: unknown.
};

[[nodiscard]] lock_effect effect_of(const lock_request& request, const message& reply);

/// The client of a heartbeat. Empty if the command is not a heartbeat, or the server did not record
/// it.
[[nodiscard]] std::string_view client_shown_alive(words command, const message& reply);

/// For a timeline: the question to a member of a quorum about itself. Empty: none.
[[nodiscard]] std::string describe_record(words command, std::string_view by, const message& reply);

/// For a timeline.
[[nodiscard]] std::string describe(const lock_request& request, std::string_view by,
                                   const message& reply);

} // namespace leasehold::testing::impl

#endif
