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

/// The connections of a client that have ended here, and perhaps not at the server: what they
/// carried may still lie in a socket there, and run late. A new connection ends them for good
/// before it asks for anything. Not over local sockets.
class ended_connections
{
public:
    /// A connection is new, or may be.
    void begin();

    /// How many have to be ended.
    [[nodiscard]] std::size_t count() const noexcept { return ended_.size(); }

    /// Writes the command that ends the one of that number; not the one that sends it.
    void end(std::size_t number, boost::redis::request& to) const;

    /// The server did not do it.
    void refused() noexcept { in_doubt_ = true; }

    /// The commands were answered: there is no more to be done, and the new connection serves.
    void forget() noexcept
    {
        ended_.clear();
        serves_ = true;
    }

    /// A connection served before, and all that did have ended at the server, too.
    [[nodiscard]] bool all_ended() const noexcept { return served_ && !in_doubt_; }

    /// What the server calls the new connection, as `CLIENT INFO` says.
    void learn(std::string_view info);

private:
    /// Both: numbers begin again when a server restarts, and behind a gateway only the server knows
    /// the address.
    struct identity
    {
        std::int64_t id;
        std::string address;
    };

    std::vector<identity> ended_;
    std::optional<identity> current_;
    bool serves_ = false;   ///< Requests may have gone over the current one.
    bool served_ = false;   ///< And over an earlier one.
    bool in_doubt_ = false; ///< One that served may not have ended.
};

} // namespace leasehold::redis_store

#endif
