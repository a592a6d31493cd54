#ifndef LEASEHOLD_SRC_STORE_REDIS_LAYOUT_ENDED_CONNECTIONS_HPP
#define LEASEHOLD_SRC_STORE_REDIS_LAYOUT_ENDED_CONNECTIONS_HPP

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

    /// The commands were answered: whatever the answers, there is no more to be done.
    void forget() noexcept { ended_.clear(); }

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
};

} // namespace leasehold::redis_store

#endif
