#include "stock/stock_data.hpp"

#include "support/redis.hpp"

#include <boost/redis/ignore.hpp>
#include <boost/redis/request.hpp>
#include <boost/redis/response.hpp>

#include <optional>
#include <utility>

namespace asio = boost::asio;
namespace redis = boost::redis;

namespace example {

stock_data::stock_data(asio::io_context& context, const std::string& url, std::string key)
    : connection_(connect(context.get_executor(), url)), key_(std::move(key))
{}

asio::awaitable<void> stock_data::open(int stock)
{
    co_await expect_server(*connection_);
    redis::request request;
    request.push("HSET", key_, "left", stock);
    request.push("EXPIRE", key_, 3600); // in case this program cannot delete it
    co_await connection_->async_exec(request, redis::ignore);
}

asio::awaitable<int> stock_data::left()
{
    redis::request request;
    request.push("HGET", key_, "left");
    redis::response<std::optional<int>> response;
    co_await connection_->async_exec(request, response);
    co_return std::get<0>(response).value().value_or(0);
}

asio::awaitable<bool> stock_data::sell(int left, int seller, std::uint64_t fence)
{
    static constexpr char script[] = R"(
        if tonumber(ARGV[1]) < tonumber(redis.call('HGET', KEYS[1], 'fence') or 0) then return 0 end
        redis.call('HSET', KEYS[1], 'fence', ARGV[1], 'left', ARGV[2])
        redis.call('HINCRBY', KEYS[1], ARGV[3], 1)
        return 1)";
    redis::request request;
    request.push("EVAL", script, 1, key_, fence, left, "sold:" + std::to_string(seller));
    redis::response<int> response;
    co_await connection_->async_exec(request, response);
    co_return std::get<0>(response).value() == 1;
}

asio::awaitable<std::vector<int>> stock_data::sold(int sellers)
{
    std::vector<int> result;
    for (int seller = 1; seller <= sellers; ++seller) {
        redis::request request;
        request.push("HGET", key_, "sold:" + std::to_string(seller));
        redis::response<std::optional<int>> response;
        co_await connection_->async_exec(request, response);
        result.push_back(std::get<0>(response).value().value_or(0));
    }
    co_return result;
}

asio::awaitable<void> stock_data::remove()
{
    redis::request request;
    request.push("DEL", key_);
    co_await connection_->async_exec(request, redis::ignore);
}

void stock_data::close()
{
    connection_->cancel();
}

} // namespace example
