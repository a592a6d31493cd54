#include "optimistic/interleaving.hpp"

#include "optimistic/getset_method.hpp"
#include "optimistic/stock_keys.hpp"

#include <leasehold/extras/guard/redis.hpp>

#include <boost/asio/redirect_error.hpp>
#include <boost/redis/ignore.hpp>
#include <boost/redis/request.hpp>

#include <cstdint>
#include <iostream>
#include <stdexcept>
#include <string_view>

namespace asio = boost::asio;
namespace redis = boost::redis;
namespace guard = leasehold::guard;

namespace example {
namespace {

void print(std::int64_t at, std::string_view what)
{
    std::cout << "  " << at << " ms  " << what << '\n';
}

void expect(bool happened, const char* what)
{
    if (!happened)
        throw std::runtime_error(std::string("did not happen: ") + what);
}

asio::awaitable<void> write_stock(redis::connection& to, std::string key, int left)
{
    redis::request request;
    request.push("SET", key, left);
    co_await to.async_exec(request, redis::ignore);
}

asio::awaitable<bool> write_guarded(std::shared_ptr<redis::connection> to, std::string key,
                                    std::uint64_t fence, int left)
{
    guard::redis_write write(key + ":fence", fence);
    write.push("SET", key, left);
    leasehold::error_code refused;
    co_await guard::async_write(to, write, asio::redirect_error(refused));
    if (refused && refused != guard::errc::stale_fence)
        throw boost::system::system_error(refused);
    co_return !refused;
}

} // namespace

asio::awaitable<int> break_getset_lock(asio::io_context& context, std::string url)
{
    stock_keys keys(context, url);
    co_await keys.open(1, 1);
    const auto connection = keys.connect();
    const std::string key = keys.key(0);
    getset_lock lock(*connection, key + ":lock");

    const bool a = co_await lock.try_lock(1'000, 1'100);
    expect(a, "A acquires a free lock");
    print(1'000, "A acquires the lock until 1100, reads that 1 is left, and is paused");
    const int seen_by_a = co_await read_stock(*connection, key);
    const bool b = co_await lock.try_lock(1'150, 1'250);
    expect(b, "B acquires an expired lock");
    print(1'150, "B finds it expired, acquires it until 1250, and reads that 1 is left");
    const int seen_by_b = co_await read_stock(*connection, key);
    co_await write_stock(*connection, key, seen_by_a - 1);
    co_await lock.unlock();
    print(1'160, "A resumes, sells the unit, and deletes the lock of B");
    // The write of A is too late for B, which has already read.
    co_await write_stock(*connection, key, seen_by_b - 1);
    print(1'170, "B sells the unit, too, as if it still held the lock");
    const bool c = co_await lock.try_lock(1'180, 1'280);
    expect(c, "C acquires the lock of B");
    print(1'180, "C acquires the lock, although B has not released it");
    co_await keys.close();
    connection->cancel();
    co_return seen_by_a + seen_by_b - 1;
}

asio::awaitable<int> keep_by_fence(asio::io_context& context, std::string url)
{
    stock_keys keys(context, url);
    co_await keys.open(1, 1);
    const auto connection = keys.connect();
    const std::string key = keys.key(0);
    const int seen_by_a = co_await read_stock(*connection, key);
    print(1'000, "A has fence 1, reads that 1 is left, and is paused");
    const int seen_by_b = co_await read_stock(*connection, key);
    const bool newer = co_await write_guarded(connection, key, 2, seen_by_b - 1);
    print(1'150, "B has fence 2, reads that 1 is left, and sells the unit");
    const bool late = co_await write_guarded(connection, key, 1, seen_by_a - 1);
    print(1'160,
          late ? "A resumes and sells the unit, too" : "A resumes, and its write is rejected");
    co_await keys.close();
    connection->cancel();
    co_return (newer ? 1 : 0) + (late ? 1 : 0) - 1;
}

} // namespace example
