#ifndef LEASEHOLD_SRC_REDIS_COMMANDS_NATIVE_KEYS_HPP
#define LEASEHOLD_SRC_REDIS_COMMANDS_NATIVE_KEYS_HPP

#include "redis/protocol/slot.hpp"

#include <leasehold/detail/export.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace leasehold::redis_store {

/// The keys and channels of the layout `native`, beside the lock itself. All begin with the prefix
/// of `redis_config::prefix`. A name is the key of a lock, so it begins with the prefix, too. Each
/// function overwrites a string of the caller, whose memory is reused. `append_entries` appends.
class LEASEHOLD_REDIS_EXPORT native_keys
{
public:
    native_keys();
    explicit native_keys(std::string_view prefix);

    /// The counter that the fences of all names are drawn from. The scripts make other keys of it.
    [[nodiscard]] std::string_view fence() const noexcept;
    /// The counter of all names of a slot, in a cluster.
    void fence_in(slot_number slot, std::string& out) const;

    // Keys of a name. No two names share a key. In a cluster, they are in the slot of the name.
    void queue(std::string_view name, std::string& out) const;
    void waiters(std::string_view name, std::string& out) const;
    void entries(std::string_view name, std::string& out) const;
    void append_entries(std::string_view name, std::string& out) const;

    /// The record of the last heartbeat of a client.
    void alive(std::string_view client, std::string& out) const;

    /// The channel of the grants of a client.
    void grants(std::string_view client, std::string& out) const;
    /// The channel of its grants in a slot, in a cluster.
    void grants_in(slot_number slot, std::string_view client, std::string& out) const;

private:
    /// The text before `fence` in its key.
    [[nodiscard]] std::string_view root() const noexcept;
    void append_tagged(std::string_view kind, std::string_view name, std::string& out) const;

    std::string fence_;
};

} // namespace leasehold::redis_store

// The values of the layout `native`. Each function overwrites a string of the caller, or appends to
// it.
namespace leasehold::redis_store::native {

/// The prefix of each value of a lock of this layout.
inline constexpr std::string_view mark = "lh:";

/// The value of a lock without waiters whose owner has a `dead_holder_grace`.
LEASEHOLD_REDIS_EXPORT void value_of(std::string_view owner, std::chrono::milliseconds grace,
                                     std::string& out);

/// The value of a lock without waiters.
LEASEHOLD_REDIS_EXPORT void value_of(std::string_view owner, std::string& out);
LEASEHOLD_REDIS_EXPORT void append_value_of(std::string_view owner, std::string& out);

/// The owner in a value; empty if another library wrote the value.
LEASEHOLD_REDIS_EXPORT std::string_view owner_of(std::string_view value) noexcept;

/// The client of an owner: the text before its last colon.
LEASEHOLD_REDIS_EXPORT std::string_view client_of(std::string_view owner) noexcept;

} // namespace leasehold::redis_store::native

#endif
