#ifndef LEASEHOLD_SRC_REDIS_COMMANDS_ENDED_CONNECTIONS_HPP
#define LEASEHOLD_SRC_REDIS_COMMANDS_ENDED_CONNECTIONS_HPP

#include <boost/redis/request.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::redis_store {

/// The closed connections of a client that may still be open at the server. Their requests may wait
/// in a socket there and be executed late. A new connection kills them before its first request.
/// Connections over local sockets are not killed, because the client cannot identify them.
class ended_connections
{
public:
    /// Called when the connection is new, or may be.
    void begin();

    /// The number of connections to kill.
    [[nodiscard]] std::size_t count() const noexcept { return ended_.size(); }

    /// Writes the command that kills one of them. It never kills the connection that sends it.
    void end(std::size_t number, boost::redis::request& to) const;

    /// Called when the server rejects the command.
    void refused() noexcept { in_doubt_ = true; }

    /// Called when all commands were answered. From then on the new connection carries requests.
    void forget() noexcept
    {
        ended_.clear();
        serves_ = true;
    }

    /// Whether earlier connections carried requests, and all of them are closed at the server.
    [[nodiscard]] bool all_ended() const noexcept { return served_ && !in_doubt_; }

    /// Stores the identity of the new connection, from the answer to `CLIENT INFO`.
    void learn(std::string_view info);

private:
    /// Both are needed: ids begin again when a server restarts, and behind a gateway only the
    /// server knows the address.
    struct identity
    {
        std::int64_t id;
        std::string address;
    };

    std::vector<identity> ended_;
    std::optional<identity> current_;
    bool serves_ = false;   ///< The current connection may have carried requests.
    bool served_ = false;   ///< An earlier connection may have carried requests.
    bool in_doubt_ = false; ///< One of the earlier connections may still be open at the server.
};

} // namespace leasehold::redis_store

#endif
