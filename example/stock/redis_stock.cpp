#include "stock/stock_data.hpp"

#include "support/redis.hpp"

#include <boost/redis/connection.hpp>
#include <boost/redis/ignore.hpp>
#include <boost/redis/request.hpp>
#include <boost/redis/response.hpp>

#include <optional>
#include <utility>

namespace asio = boost::asio;
namespace redis = boost::redis;

namespace example {
namespace {

/// One hash.
class redis_stock final : public stock_data
{
public:
    redis_stock(asio::io_context& context, const std::string& url, std::string key)
        : connection_(example::connect(context.get_executor(), url)), key_(std::move(key))
    {}

    asio::awaitable<void> connect() override { co_await expect_server(*connection_); }

    asio::awaitable<void> open(int stock) override
    {
        redis::request request;
        request.push("HSET", key_, "left", stock);
        request.push("EXPIRE", key_, 3600); // in case this program cannot delete it
        co_await connection_->async_exec(request, redis::ignore);
    }

    asio::awaitable<int> left() override
    {
        redis::request request;
        request.push("HGET", key_, "left");
        redis::response<std::optional<int>> response;
        co_await connection_->async_exec(request, response);
        co_return std::get<0>(response).value().value_or(0);
    }

    asio::awaitable<bool> sell(int left, int seller, std::uint64_t fence) override
    {
        static constexpr char script[] = R"(
            if tonumber(ARGV[1]) < tonumber(redis.call('HGET', KEYS[1], 'fence') or 0) then
                return 0
            end
            redis.call('HSET', KEYS[1], 'fence', ARGV[1], 'left', ARGV[2])
            redis.call('HINCRBY', KEYS[1], ARGV[3], 1)
            return 1)";
        redis::request request;
        request.push("EVAL", script, 1, key_, fence, left, "sold:" + std::to_string(seller));
        redis::response<int> response;
        co_await connection_->async_exec(request, response);
        co_return std::get<0>(response).value() == 1;
    }

    asio::awaitable<std::vector<int>> sold(int sellers) override
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

    asio::awaitable<void> remove() override
    {
        redis::request request;
        request.push("DEL", key_);
        co_await connection_->async_exec(request, redis::ignore);
    }

    void close() override { connection_->cancel(); }

private:
    std::shared_ptr<redis::connection> connection_;
    std::string key_;
};

} // namespace

std::unique_ptr<stock_data> make_redis_stock(asio::io_context& context, const std::string& url,
                                             std::string key)
{
    return std::make_unique<redis_stock>(context, url, std::move(key));
}

} // namespace example
