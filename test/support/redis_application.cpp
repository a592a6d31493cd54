#include "support/redis_application.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/redis/connection.hpp>

#include <chrono>
#include <string>
#include <thread>
#include <utility>

namespace leasehold::test {

namespace asio = boost::asio;
namespace redis = boost::redis;

struct redis_application::state
{
    asio::io_context context;
    std::shared_ptr<redis::connection> connection = std::make_shared<redis::connection>(
        asio::make_strand(context), redis::logger(redis::logger::level::disabled));
    std::jthread thread;
};

namespace {

redis::config settings_for(const std::string& socket)
{
    redis::config settings;
    settings.unix_socket = socket;
    return settings;
}

redis::config settings_for(std::uint16_t port)
{
    redis::config settings;
    settings.addr.port = std::to_string(port);
    return settings;
}

} // namespace

redis_application::redis_application(const std::string& socket)
    : redis_application(settings_for(socket))
{}

redis_application::redis_application(std::uint16_t port) : redis_application(settings_for(port)) {}

redis_application::redis_application(redis::config settings) : state_(std::make_unique<state>())
{
    settings.reconnect_wait_interval = std::chrono::milliseconds(5);
    state_->connection->async_run(settings,
                                  [held = state_->connection](boost::system::error_code) {});
    state_->thread = std::jthread([&context = state_->context] { context.run(); });
}

redis_application::~redis_application()
{
    asio::post(state_->connection->get_executor(), [held = state_->connection] { held->cancel(); });
    state_->thread.join();
    state_->connection.reset();
}

std::shared_ptr<redis::connection> redis_application::connection() const
{
    return state_->connection;
}

} // namespace leasehold::test
