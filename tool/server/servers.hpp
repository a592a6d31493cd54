#ifndef LEASEHOLD_TOOL_SERVER_SERVERS_HPP
#define LEASEHOLD_TOOL_SERVER_SERVERS_HPP

#include "server_connection.hpp"

#include <leasehold/redis.hpp>

#include <boost/asio/io_context.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::tool {

/// The writable servers of a URL: the single server, the master that the Sentinels report, the
/// masters of a cluster, or the members of a quorum. Connects to each on its first use, and again
/// after an error.
class servers
{
public:
    /// Finds the servers.
    /// @throws unreachable, refused
    servers(boost::asio::io_context& context, redis_config where);

    [[nodiscard]] const redis_config& where() const noexcept { return where_; }
    [[nodiscard]] bool is_cluster() const noexcept
    {
        return where_.kind == redis_config::deployment::cluster;
    }
    [[nodiscard]] bool is_quorum() const noexcept
    {
        return where_.kind == redis_config::deployment::quorum;
    }

    [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
    /// "127.0.0.1:6379", or the path of a socket.
    [[nodiscard]] const std::string& name(std::size_t place) const { return all_[place].name; }
    /// @throws unreachable, refused
    [[nodiscard]] server_connection& connection(std::size_t place);

    /// The server that has the key. Not for a quorum.
    /// @throws refused No node of the cluster serves its slot.
    [[nodiscard]] std::size_t place_of(std::string_view key) const;

    /// A command, and the key that determines its server.
    struct keyed_command
    {
        std::string key;
        command_words words;
    };

    /// Queries the server that has the key, and follows redirections of a cluster. Not for a
    /// quorum, where all members have the key. The reply may be an error.
    /// @throws unreachable, refused
    [[nodiscard]] resp_value ask(const std::string& key, const command_words& words);

    /// Returns the replies in the same order. Sends each server all of its commands at once.
    /// @throws unreachable, refused
    [[nodiscard]] std::vector<resp_value> ask_all(const std::vector<keyed_command>& commands);

    /// Finds the servers again, after a failover or after slots have moved.
    /// @throws unreachable, refused
    void inspect_again();

private:
    struct server
    {
        redis_config::address at;
        std::string name;
        std::optional<server_connection> connection{};
    };

    [[nodiscard]] std::size_t place_at(const redis_config::address& at);
    [[nodiscard]] resp_value follow(const keyed_command& command, std::size_t place,
                                    resp_value answer);
    [[nodiscard]] std::vector<redis_config::address> find_masters();
    [[nodiscard]] std::vector<redis_config::address> find_in_cluster();
    [[nodiscard]] redis_config::address find_by_sentinels();

    boost::asio::io_context& context_;
    redis_config where_;
    std::vector<server> all_;
    std::vector<std::uint16_t> slots_; ///< In a cluster: the index of each slot's master.
};

} // namespace leasehold::tool

#endif
