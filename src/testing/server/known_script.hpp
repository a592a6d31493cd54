#ifndef LEASEHOLD_SRC_TESTING_SERVER_KNOWN_SCRIPT_HPP
#define LEASEHOLD_SRC_TESTING_SERVER_KNOWN_SCRIPT_HPP

#include "redis/protocol/script.hpp"
#include "testing/server/verbs.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace leasehold::testing::impl {

/// The scripts of the library.
enum class known_script : std::uint8_t
{
    acquire,
    renew,
    release,
    release_all,
    queue_acquire,
    queue_leave,
    check, ///< The first script on a new connection.
    // Those of the layout `native`.
    native_acquire,
    native_release,
    native_release_all,
    native_leave,
    native_reenter,
    native_renew,
    native_renew_brief,
    native_alive,
    native_raise, ///< Runs on a new connection before any request.
    native_check,
    // Those of the members of a quorum.
    quorum_acquire,
    quorum_reenter,
    quorum_renew,
    quorum_release,
    quorum_inspect,
    quorum_adopt,
    quorum_seed,
    quorum_check,
    count_,
};

[[nodiscard]] constexpr bool is_native(known_script called) noexcept
{
    return called >= known_script::native_acquire && called <= known_script::native_check;
}

[[nodiscard]] constexpr bool is_of_quorum(known_script called) noexcept
{
    return called >= known_script::quorum_acquire;
}

/// It releases several locks.
[[nodiscard]] constexpr bool is_group(known_script called) noexcept
{
    return called == known_script::release_all || called == known_script::native_release_all;
}

[[nodiscard]] constexpr bool is_renewal(known_script called) noexcept
{
    return called == known_script::renew || called == known_script::native_renew ||
           called == known_script::native_renew_brief || called == known_script::quorum_renew;
}

[[nodiscard]] const redis_store::script& source_of(known_script called);

[[nodiscard]] std::optional<known_script> find_by_text(std::string_view text);
[[nodiscard]] std::optional<known_script> find_by_sha(std::string_view sha);

/// The script of the library that a command calls: EVALSHA or EVAL, with locks to work on.
[[nodiscard]] std::optional<known_script> script_of(words command);

} // namespace leasehold::testing::impl

#endif
