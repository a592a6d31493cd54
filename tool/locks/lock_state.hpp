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

/// The layout of a lock.
enum class lock_kind : std::uint8_t
{
    native,
    redisson,
    quorum,    ///< At the members of a quorum.
    postgres,  ///< A row in PostgreSQL.
    mysql,     ///< A row in MySQL or MariaDB.
    zookeeper, ///< A node in ZooKeeper.
    etcd,      ///< A key in etcd.
    external,  ///< Of another library.
};

[[nodiscard]] constexpr const char* name_of(lock_kind kind) noexcept
{
    switch (kind) {
    case lock_kind::native: return "native";
    case lock_kind::redisson: return "redisson";
    case lock_kind::quorum: return "quorum";
    case lock_kind::postgres: return "postgres";
    case lock_kind::zookeeper: return "zookeeper";
    case lock_kind::etcd: return "etcd";
    case lock_kind::mysql: return "mysql";
    case lock_kind::external: break;
    }
    return "external";
}

/// A waiter in the queue of a lock.
struct lock_waiter
{
    std::string owner;
    std::string client; ///< The `client::id` of its client.
    client_info info{};
    bool present = true; ///< Its presence has not expired.
};

/// A held lock, as stored on its server.
struct lock_state
{
    std::string name{};
    lock_kind kind = lock_kind::native;
    std::string owner{};  ///< In full: sufficient to acquire the lock reentrantly, and to break it.
    std::string client{}; ///< The `client::id` of the holder.
    client_info info{};   ///< The details that the client has stored.
    std::size_t holds = 1; ///< The number of acquisitions of the owner.
    /// Without a value: it never expires, or lives as long as a session.
    std::optional<std::chrono::milliseconds> left{};
    /// The holder sends heartbeats; after this time without one, others may acquire the lock.
    std::optional<std::chrono::milliseconds> grace{};
    /// The time since the last heartbeat, at most `longest_silence`.
    std::optional<std::chrono::milliseconds> silent{};
    /// An upper bound of the fencing token, which only the holder knows.
    std::optional<std::uint64_t> fence_at_most{};
    std::size_t waiters = 0;          ///< The number of waiting clients.
    std::size_t members = 0;          ///< The number of members of a quorum that have the lock.
    std::size_t of = 0;               ///< The number of all members.
    std::vector<lock_waiter> queue{}; ///< The queue; only if one lock is read.

    /// The holder has missed more than one heartbeat; it sends four in its grace period. Its
    /// process has probably ended, but this is not certain.
    [[nodiscard]] bool is_silent() const noexcept
    {
        return grace && silent && *silent > *grace / 2;
    }
};

/// The time for which a heartbeat is recorded.
inline constexpr std::chrono::milliseconds longest_silence = std::chrono::minutes(2);

} // namespace leasehold::tool

#endif
