// Redis WATCH: the first write wins, and the server rejects the others.
#include "optimistic/stock_keys.hpp"

#include <boost/redis/ignore.hpp>
#include <boost/redis/request.hpp>
#include <boost/redis/resp3/type.hpp>
#include <boost/redis/response.hpp>

#include <optional>
#include <tuple>

namespace asio = boost::asio;
namespace redis = boost::redis;

namespace example {
namespace {

class watch_trader final : public redis_trader
{
public:
    // Each trader has a connection of its own, because WATCH belongs to the connection.
    using redis_trader::redis_trader;

    // [sell]
    asio::awaitable<outcome> try_to_sell(int item, const thinking& think) override
    {
        const std::string key = keys.key(item);
        redis::request look;
        look.push("WATCH", key);
        look.push("GET", key);
        redis::response<redis::ignore_t, std::optional<int>> seen;
        co_await connection->async_exec(look, seen);
        const int left = std::get<1>(seen).value().value_or(0);
        if (left <= 0)
            co_return outcome::none_left;
        co_await think();

        redis::request write;
        write.push("MULTI");
        write.push("SET", key, left - 1);
        write.push("EXEC");
        redis::generic_response answers;
        co_await connection->async_exec(write, answers);
        // EXEC returns null if another client has written the key since WATCH.
        const bool late = answers.value().back().data_type == redis::resp3::type::null;
        co_return late ? outcome::conflict : outcome::sold;
    }
    // [/sell]
};

class watch_method final : public redis_method
{
public:
    using redis_method::redis_method;

    [[nodiscard]] std::string name() const override { return "Redis WATCH, MULTI, EXEC"; }
    [[nodiscard]] std::unique_ptr<trader> make_trader() override
    {
        return std::make_unique<watch_trader>(keys);
    }
};

} // namespace

std::unique_ptr<method> make_watch_method(asio::io_context& context, const std::string& url)
{
    return std::make_unique<watch_method>(context, url);
}

} // namespace example
