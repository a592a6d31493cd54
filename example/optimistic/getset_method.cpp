#include "optimistic/getset_method.hpp"

#include "optimistic/stock_keys.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/redis/ignore.hpp>
#include <boost/redis/request.hpp>
#include <boost/redis/response.hpp>

#include <chrono>
#include <optional>
#include <tuple>

namespace asio = boost::asio;
namespace redis = boost::redis;
using namespace std::chrono_literals;

namespace example {

// [lock]
asio::awaitable<bool> getset_lock::try_lock(std::int64_t now, std::int64_t until)
{
    const bool absent = co_await set_if_absent(until);
    if (absent)
        co_return true;
    const std::int64_t expires = co_await expiry();
    if (expires >= now)
        co_return false;
    // It has expired. The first client that replaces the time gets the lock.
    const std::int64_t replaced = co_await replace_expiry(until);
    co_return replaced < now;
}

asio::awaitable<void> getset_lock::unlock()
{
    redis::request request;
    request.push("DEL", key_);
    co_await connection_.async_exec(request, redis::ignore);
}
// [/lock]

asio::awaitable<bool> getset_lock::set_if_absent(std::int64_t until)
{
    redis::request request;
    request.push("SETNX", key_, until);
    redis::response<int> response;
    co_await connection_.async_exec(request, response);
    co_return std::get<0>(response).value() == 1;
}

/// 0, a time in the past, if there is no lock.
asio::awaitable<std::int64_t> getset_lock::expiry()
{
    redis::request request;
    request.push("GET", key_);
    redis::response<std::optional<std::int64_t>> response;
    co_await connection_.async_exec(request, response);
    co_return std::get<0>(response).value().value_or(0);
}

asio::awaitable<std::int64_t> getset_lock::replace_expiry(std::int64_t until)
{
    redis::request request;
    request.push("GETSET", key_, until);
    redis::response<std::optional<std::int64_t>> response;
    co_await connection_.async_exec(request, response);
    co_return std::get<0>(response).value().value_or(0);
}

namespace {

constexpr auto lease_time = 10ms;

std::int64_t milliseconds_now()
{
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

class getset_trader final : public redis_trader
{
public:
    getset_trader(asio::io_context& context, const stock_keys& of)
        : redis_trader(of), context_(context)
    {}

    asio::awaitable<outcome> try_to_sell(int item, const thinking& think) override
    {
        const std::string key = keys.key(item);
        const int seen = co_await read_stock(*connection, key);
        if (seen <= 0)
            co_return outcome::none_left;
        getset_lock lock(*connection, key + ":lock");
        for (;;) {
            const std::int64_t now = milliseconds_now();
            const bool taken = co_await lock.try_lock(now, now + lease_time.count());
            if (taken)
                break;
            // This lock has no wake-ups, so the trader polls.
            asio::steady_timer pause(context_, 1ms);
            co_await pause.async_wait();
        }
        const int left = co_await read_stock(*connection, key);
        if (left > 0) {
            co_await think();
            redis::request request;
            request.push("SET", key, left - 1);
            co_await connection->async_exec(request, redis::ignore);
        }
        co_await lock.unlock();
        co_return left > 0 ? outcome::sold : outcome::none_left;
    }

private:
    asio::io_context& context_;
};

class getset_method final : public redis_method
{
public:
    using redis_method::redis_method;

    [[nodiscard]] std::string name() const override { return "GETSET lock of old articles"; }
    [[nodiscard]] bool correct() const override { return false; }
    [[nodiscard]] std::unique_ptr<trader> make_trader() override
    {
        return std::make_unique<getset_trader>(context, keys);
    }
};

} // namespace

std::unique_ptr<method> make_getset_method(asio::io_context& context, const std::string& url)
{
    return std::make_unique<getset_method>(context, url);
}

} // namespace example
