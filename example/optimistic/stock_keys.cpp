#include "optimistic/stock_keys.hpp"

#include "support/redis.hpp"

#include <leasehold/redis.hpp>

#include <boost/redis/ignore.hpp>
#include <boost/redis/request.hpp>
#include <boost/redis/response.hpp>

#include <optional>
#include <tuple>

namespace asio = boost::asio;
namespace redis = boost::redis;

namespace example {
stock_keys::stock_keys(asio::io_context& context, const std::string& url)
    : context_(context), url_(url), prefix_(new_key() + ':')
{}

std::string stock_keys::key(int item) const
{
    return '{' + prefix_ + std::to_string(item) + '}';
}

std::shared_ptr<redis::connection> stock_keys::connect() const
{
    return example::connect(context_.get_executor(), leasehold::redis_config(url_));
}

asio::awaitable<void> stock_keys::open(int items, int stock)
{
    connection_ = connect();
    co_await expect_server(*connection_);
    items_ = items;
    redis::request request;
    for (int item = 0; item < items; ++item)
        request.push("SET", key(item), stock, "EX", 3600);
    co_await connection_->async_exec(request, redis::ignore);
}

asio::awaitable<void> stock_keys::close()
{
    redis::request request;
    for (int item = 0; item < items_; ++item)
        request.push("DEL", key(item), key(item) + ":fence", key(item) + ":lock");
    co_await connection_->async_exec(request, redis::ignore);
    connection_->cancel();
}

asio::awaitable<int> read_stock(redis::connection& from, std::string key)
{
    redis::request request;
    request.push("GET", key);
    redis::response<std::optional<int>> response;
    co_await from.async_exec(request, response);
    co_return std::get<0>(response).value().value_or(0);
}

} // namespace example
