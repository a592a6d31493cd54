// One command: the server reads, checks and writes in one atomic step. This needs a result that the
// server can compute. The trader computes before it, with data that may have changed since.
#include "optimistic/stock_keys.hpp"

#include <boost/redis/request.hpp>
#include <boost/redis/response.hpp>

#include <string>
#include <tuple>

namespace asio = boost::asio;
namespace redis = boost::redis;

namespace example {
namespace {

class script_trader final : public redis_trader
{
public:
    using redis_trader::redis_trader;

    // [sell]
    asio::awaitable<outcome> try_to_sell(int item, const thinking& think) override
    {
        static constexpr char script[] = R"(
            if tonumber(redis.call('GET', KEYS[1]) or 0) <= 0 then return 0 end
            redis.call('DECR', KEYS[1])
            return 1)";
        const std::string key = keys.key(item);
        const int seen = co_await read_stock(*connection, key);
        if (seen <= 0)
            co_return outcome::none_left;
        co_await think();
        redis::request request;
        request.push("EVAL", script, 1, key);
        redis::response<int> response;
        co_await connection->async_exec(request, response);
        co_return std::get<0>(response).value() == 1 ? outcome::sold : outcome::none_left;
    }
    // [/sell]
};

class script_method final : public redis_method
{
public:
    using redis_method::redis_method;

    [[nodiscard]] std::string name() const override { return "one script in Redis"; }
    [[nodiscard]] std::unique_ptr<trader> make_trader() override
    {
        return std::make_unique<script_trader>(keys);
    }
};

} // namespace

std::unique_ptr<method> make_script_method(asio::io_context& context, const std::string& url)
{
    return std::make_unique<script_method>(context, url);
}

} // namespace example
