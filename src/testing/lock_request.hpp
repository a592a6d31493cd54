#ifndef LEASEHOLD_SRC_TESTING_LOCK_REQUEST_HPP
#define LEASEHOLD_SRC_TESTING_LOCK_REQUEST_HPP

#include "testing/message.hpp"
#include "testing/verbs.hpp"

#include <leasehold/config.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace leasehold::testing::impl {

/// What a command of this library asks for, of a lock or, to renew them, of several.
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
    config::key_layout layout = config::key_layout::redisson;
    bool of_member = false;  ///< Asks one member of a quorum.
    bool plain = false;      ///< A command and no script.
    bool as_known = true;    ///< False: it has another number of words, and nothing more is read.
    bool limited = false;    ///< It says when it is too late.
    std::int64_t latest = 0; ///< Then: in microseconds, by the server's clock.
    std::string_view name;   ///< The first of several.
    std::string_view owner{};
    std::string_view entry{};
    std::string_view next{}; ///< The owner that joins when this one leaves.
    std::uint32_t fences = 0;
    bool gets = false; ///< A plain one that says what there was.
};

/// Nothing: it is something else.
[[nodiscard]] std::optional<lock_request> lock_request_of(words command);

/// What a command that draws fences of the layout `native` asks for; 0: it is something else.
[[nodiscard]] std::uint32_t fences_drawn_by(words command) noexcept;

/// What came of a request.
struct lock_effect
{
    /// The lock was taken, or was its owner's already. The fence may be drawn by another command.
    bool taken = false;
    std::string_view owner{}; ///< Who has it then.
    std::uint64_t first_fence = 0;
    std::uint32_t fences = 0;
    bool entered = false;
    bool left = false;          ///< By its last holder.
    std::string_view in_line{}; ///< Who waits in line; empty: nobody.
    std::int64_t place = 0;     ///< Then: how many are before it; negative: far more.
    std::int64_t held_for = 0;  ///< Then: in milliseconds; negative: nobody knows.
};

[[nodiscard]] lock_effect effect_of(const lock_request& asked, const message& said);

/// Whose sign of life that was; empty: it was none, or the server does not keep it.
[[nodiscard]] std::string_view client_shown_alive(words command, const message& said);

/// For a timeline: what a member of a quorum was asked about itself. Empty: nothing.
[[nodiscard]] std::string describe_record(words command, std::string_view by, const message& said);

/// For a timeline.
[[nodiscard]] std::string describe(const lock_request& asked, std::string_view by,
                                   const message& said);

} // namespace leasehold::testing::impl

#endif
