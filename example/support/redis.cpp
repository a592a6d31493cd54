#include "support/redis.hpp"

#include <boost/asio/cancel_after.hpp>
#include <boost/asio/consign.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/redis/ignore.hpp>
#include <boost/redis/logger.hpp>
#include <boost/redis/request.hpp>

#include <chrono>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>

namespace asio = boost::asio;
namespace redis = boost::redis;

namespace example {

redis::config connection_config(const leasehold::redis_config& where)
{
    redis::config result;
    result.addr = {where.addresses.front().host, std::to_string(where.addresses.front().port)};
    result.unix_socket = where.unix_socket;
    if (!where.user.empty())
        result.username = where.user;
    result.password = where.password;
    result.database_index = static_cast<int>(where.database);
    return result;
}

std::shared_ptr<redis::connection> connect(const asio::any_io_executor& executor,
                                           const leasehold::redis_config& where)
{
    auto connection = std::make_shared<redis::connection>(
        executor, redis::logger(redis::logger::level::crit));
    // The operation keeps the connection alive, because it has pointers into it.
    connection->async_run(connection_config(where), asio::consign(asio::detached, connection));
    return connection;
}

asio::awaitable<void> expect_server(redis::connection& connection)
{
    redis::request request;
    request.push("PING");
    boost::system::error_code failed;
    co_await connection.async_exec(
        request, redis::ignore,
        asio::cancel_after(std::chrono::seconds(5), asio::redirect_error(asio::deferred, failed)));
    if (failed)
        throw std::runtime_error(
            "no Redis server answers; name one with --url, or start one for this run: "
            "example/with_redis COMMAND");
}

std::string new_key(const std::string& of)
{
    std::ostringstream text;
    text << "leasehold-example:" << of << std::hex << std::random_device()();
    return text.str();
}

} // namespace example
