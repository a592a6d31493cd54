#ifndef LEASEHOLD_SRC_REDIS_COMMANDS_NATIVE_HANDSHAKE_HPP
#define LEASEHOLD_SRC_REDIS_COMMANDS_NATIVE_HANDSHAKE_HPP

#include "redis/commands/command_set.hpp"
#include "redis/commands/ended_connections.hpp"
#include "redis/commands/native_fences.hpp"
#include "redis/commands/native_keys.hpp"
#include "redis/protocol/script.hpp"

#include <boost/redis/request.hpp>

#include <cstddef>
#include <cstdint>

namespace leasehold::redis_store {

/// The handshake of the layout `native`. It kills earlier connections, and finds the command for a
/// release. It raises the fence counter to the server's clock and to the largest fence that this
/// client has seen: a restart, a failover or an old snapshot closes connections, and may have reset
/// the counter. If the server has no memory for that, the client uses it nevertheless: until the
/// first grant, each draw compares the counter with the clock.
class native_handshake
{
public:
    /// The command that releases a lock without waiters.
    enum class removal : std::uint8_t
    {
        script,
        delifeq, ///< Valkey 9.0 and later.
        delex,   ///< Redis 8.4 and later.
    };

    native_handshake(const native_keys& keys, native_fences& fences) : keys_(keys), fences_(fences)
    {}

    removal known_removal = removal::script; ///< Set by each handshake.

    // As in `command_set`.
    [[nodiscard]] std::size_t greetings();
    call greeting(std::size_t number, boost::redis::request& to);
    [[nodiscard]] error_code greeted(std::size_t number, answers replies, error_code refused);
    [[nodiscard]] bool settled() const noexcept { return ended_.all_ended(); }

private:
    enum class greets : std::size_t;

    [[nodiscard]] error_code raised(const reply& answer, error_code refused);

    const native_scripts& scripts_ = of_native();
    const native_keys& keys_;
    native_fences& fences_;
    ended_connections ended_;
    std::uint32_t servers_ = 0; ///< Number of greeted servers.
};

} // namespace leasehold::redis_store

#endif
