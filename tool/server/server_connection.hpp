#ifndef LEASEHOLD_TOOL_SERVER_SERVER_CONNECTION_HPP
#define LEASEHOLD_TOOL_SERVER_SERVER_CONNECTION_HPP

#include "redis/config/address.hpp"

#include "failures.hpp"
#include "resp.hpp"

#include <leasehold/redis.hpp>

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::tool {

/// The settings of a connection other than the address.
struct connection_settings
{
    redis_config where; ///< TLS, and the timeout of the connection and of each call of `ask`.
    std::string user;
    std::string password;
    std::uint32_t database;
};

/// Settings for the servers that keep the locks, with the credentials of now.
/// @throws unreachable The file of the password cannot be read.
[[nodiscard]] connection_settings settings_of(const redis_config& where);
/// Settings for the Sentinels.
[[nodiscard]] connection_settings sentinel_settings_of(const redis_config& where);

/// A connection to one server, for one call at a time. Each call blocks, and runs the context
/// meanwhile.
class server_connection
{
public:
    /// Connects and sends HELLO.
    /// @param socket If not empty, the path of a local socket, used instead of the address.
    /// @throws unreachable, refused
    server_connection(boost::asio::io_context& context, const connection_settings& settings,
                      const redis_config::address& at, const std::string& socket = {});
    server_connection(server_connection&&) noexcept;
    server_connection& operator=(server_connection&&) noexcept;
    ~server_connection();

    /// Sends a command and waits for its reply, which may be an error.
    /// @throws unreachable
    [[nodiscard]] resp_value ask(const command_words& words);

    /// Sends many commands at once, and returns their replies in the same order.
    /// @throws unreachable
    [[nodiscard]] std::vector<resp_value> ask_all(const std::vector<command_words>& commands);

    /// The same as `ask`, but throws if the reply is an error.
    /// @throws unreachable, refused
    [[nodiscard]] resp_value demand(const command_words& words);

    /// False after a call that has thrown `unreachable`.
    [[nodiscard]] bool is_open() const noexcept;

    /// "127.0.0.1:6379", or the path of a socket.
    [[nodiscard]] const std::string& name() const noexcept;

private:
    struct state;
    std::unique_ptr<state> state_;
};

using redis_store::name_of;

} // namespace leasehold::tool

#endif
