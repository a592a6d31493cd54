// The lock: traders wait in its queue, and each sale succeeds at the first attempt.
#include "optimistic/stock_keys.hpp"

#include <leasehold.hpp>
#include <leasehold/extras/guard/redis.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>

namespace asio = boost::asio;
namespace guard = leasehold::guard;

namespace example {
namespace {

class lock_trader final : public redis_trader
{
public:
    lock_trader(asio::io_context& context, const std::string& url, const stock_keys& of)
        : redis_trader(of), locks_(context, url)
    {
        locks_.async_run(asio::detached);
    }

    // [sell]
    asio::awaitable<outcome> try_to_sell(int item, const thinking& think) override
    {
        const std::string key = keys.key(item);
        const int seen = co_await read_stock(*connection, key);
        if (seen <= 0) // no lock is needed for that
            co_return outcome::none_left;
        const leasehold::mutex lock(locks_, key + ":lock");
        leasehold::lease lease = co_await lock.async_lock();
        const int left = co_await read_stock(*connection, key);
        outcome result = outcome::none_left;
        if (left > 0) {
            co_await think();
            guard::redis_write write(key + ":fence", lease.fence());
            write.push("SET", key, left - 1);
            leasehold::error_code failed;
            co_await guard::async_write(connection, write, asio::redirect_error(failed));
            result = failed ? outcome::conflict : outcome::sold;
        }
        leasehold::error_code ended;
        co_await lease.async_release(asio::redirect_error(ended));
        co_return result;
    }
    // [/sell]

    asio::awaitable<void> close() override
    {
        leasehold::error_code unreleased;
        co_await locks_.async_shutdown(asio::redirect_error(unreleased));
        co_await redis_trader::close();
    }

private:
    leasehold::client locks_;
};

class lock_method final : public redis_method
{
public:
    using redis_method::redis_method;

    [[nodiscard]] std::string name() const override { return "lock with a fence"; }
    [[nodiscard]] std::unique_ptr<trader> make_trader() override
    {
        return std::make_unique<lock_trader>(context, url, keys);
    }
};

} // namespace

std::unique_ptr<method> make_lock_method(asio::io_context& context, const std::string& url)
{
    return std::make_unique<lock_method>(context, url);
}

} // namespace example
