#ifndef LEASEHOLD_TOOL_LOCKS_LOCK_STATE_HPP
#define LEASEHOLD_TOOL_LOCKS_LOCK_STATE_HPP

#include <leasehold/client_info.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace leasehold::tool {

/// How a lock is kept.
enum class lock_kind : std::uint8_t
{
    native,
    redisson,
    quorum,  ///< At members that vote.
    foreign, ///< By another library, as a string.
};

[[nodiscard]] constexpr const char* name_of(lock_kind kind) noexcept
{
    switch (kind) {
    case lock_kind::native: return "native";
    case lock_kind::redisson: return "redisson";
    case lock_kind::quorum: return "quorum";
    case lock_kind::foreign: break;
    }
    return "foreign";
}

/// One that stands in the line of a lock.
struct lock_waiter
{
    std::string owner;
    std::string client; ///< As `client::id`.
    client_info info{};
    bool there = true; ///< It has looked lately.
};

/// A lock that is held, as its server has it.
struct lock_state
{
    std::string name{};
    lock_kind kind = lock_kind::native;
    std::string owner{};   ///< In full: with it one can enter the lock, and break it.
    std::string client{};  ///< As `client::id`.
    client_info info{};    ///< What that says of itself.
    std::size_t holds = 1; ///< How often the owner is in.
    /// Without a value: it never ends.
    std::optional<std::chrono::milliseconds> left{};
    /// The fence of the holder is not larger. Which it is the holder alone knows.
    std::optional<std::uint64_t> fence_at_most{};
    std::size_t waiters = 0;         ///< Clients.
    std::size_t members = 0;         ///< Of a quorum: how many of them have it.
    std::size_t of = 0;              ///< How many there are.
    std::vector<lock_waiter> line{}; ///< Only where one lock was asked for.
};

} // namespace leasehold::tool

#endif
