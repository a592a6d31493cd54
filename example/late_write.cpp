// A holder that is paused for longer than its lease, and then writes to Redis, a database or
// ZooKeeper. Its write carries its fencing token, so the store rejects it.
#include "stock/stock_data.hpp"
#include "support/arguments.hpp"
#include "support/redis.hpp"
#include "support/rethrow.hpp"

#include <leasehold.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

/// Each client has a context of its own, as if it were a process: a pause stops the whole context.
class seller
{
public:
    seller(const std::string& url, const std::string& key)
        : locks_(context_, url),
          stock_(example::make_stock(context_, url, key)),
          lock_(locks_, key + ":lock", {.lease_time = 1s})
    {}

    /// Acquires the lock, reads the stock, and is paused.
    void begin(int units)
    {
        run(open(units));
        std::cout << "first client: lock acquired, fencing token " << lease_.fence() << ", reads "
                  << left_ << " units, then paused\n";
    }

    /// Sells a unit under the lock, which it gets when the lease of the first has ended.
    bool sell_one()
    {
        run(sell_under_lock());
        return accepted_;
    }

    /// Continues after the pause with the sale that it was about to make.
    bool resume()
    {
        run(sell(1));
        std::cout << "first client: resumed, its sale with token " << lease_.fence() << " is "
                  << (accepted_ ? "accepted" : "rejected") << '\n';
        return accepted_;
    }

    /// Reads the result, and removes the stock.
    std::pair<int, std::vector<int>> end()
    {
        std::vector<int> sold;
        run(count(sold));
        return {left_, sold};
    }

private:
    void run(asio::awaitable<void> work)
    {
        context_.restart();
        asio::co_spawn(context_, std::move(work), [this](std::exception_ptr failure) {
            context_.stop();
            example::rethrow(failure);
        });
        context_.run();
    }

    asio::awaitable<void> open(int units)
    {
        co_await stock_->connect();
        co_await stock_->open(units);
        co_await acquire_and_read();
    }

    asio::awaitable<void> sell_under_lock()
    {
        co_await stock_->connect();
        co_await acquire_and_read();
        co_await sell(2);
        std::cout << "second client: lock acquired, fencing token " << lease_.fence()
                  << ", its sale is " << (accepted_ ? "accepted" : "rejected") << '\n';
        co_await lease_.async_release();
    }

    asio::awaitable<void> acquire_and_read()
    {
        locks_.async_run(asio::detached);
        lease_ = co_await lock_.async_lock();
        left_ = co_await stock_->left();
    }

    // The check of the lease is left out: a pause between the check and the write is as long.
    asio::awaitable<void> sell(int number)
    {
        accepted_ = co_await stock_->sell(left_ - 1, number, lease_.fence());
    }

    asio::awaitable<void> count(std::vector<int>& sold)
    {
        left_ = co_await stock_->left();
        sold = co_await stock_->sold(2);
        co_await stock_->remove();
        stock_->close();
        co_await locks_.async_shutdown();
    }

    asio::io_context context_{1};
    leasehold::client locks_;
    std::unique_ptr<example::stock_data> stock_;
    leasehold::mutex lock_;
    leasehold::lease lease_;
    int left_ = 0;
    bool accepted_ = false;
};

} // namespace

int main(int argc, char** argv)
try {
    std::string url = "redis://127.0.0.1:6379";
    example::arguments line(
        "A holder that is paused for longer than its lease, and whose late write is rejected.");
    line.url(url, example::stores::redis_or_database);
    line.parse(argc, argv);

    const std::string key = example::new_key("late_write:");
    seller first(url, key);
    seller second(url, key);
    first.begin(500);
    const bool sold = second.sell_one();
    const bool sold_late = first.resume();
    const auto [left, sales] = first.end();
    std::cout << left << " units left; sold by the first client: " << sales.at(0)
              << ", by the second: " << sales.at(1) << '\n';
    return sold && !sold_late && left == 499 && sales.at(0) == 0 && sales.at(1) == 1 ? 0 : 1;
}
catch (const std::exception& failure) {
    std::cerr << "error: " << failure.what() << '\n';
    return 1;
}
