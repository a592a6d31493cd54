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
    /// The holder has promised signs of life: without any for so long, others may take the lock.
    std::optional<std::chrono::milliseconds> grace{};
    /// Since the last of them; no more is told than `longest_silence`.
    std::optional<std::chrono::milliseconds> silent{};
    /// The fence of the holder is not larger. Which it is the holder alone knows.
    std::optional<std::uint64_t> fence_at_most{};
    std::size_t waiters = 0;         ///< Clients.
    std::size_t members = 0;         ///< Of a quorum: how many of them have it.
    std::size_t of = 0;              ///< How many there are.
    std::vector<lock_waiter> line{}; ///< Only where one lock was asked for.

    /// The holder has missed more than one sign of life: they come four times in its grace. That
    /// its process is gone is most likely then, and not certain.
    [[nodiscard]] bool is_silent() const noexcept
    {
        return grace && silent && *silent > *grace / 2;
    }
};

/// A sign of life is remembered for so long.
inline constexpr std::chrono::milliseconds longest_silence = std::chrono::minutes(2);

} // namespace leasehold::tool

#endif
