#include "stock/options.hpp"
#include "stock/stock_data.hpp"
#include "support/lines.hpp"
#include "support/rethrow.hpp"

#include <leasehold.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>

#include <unistd.h>

#include <chrono>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

namespace example {
namespace {

class seller
{
public:
    seller(const stock_options& wanted, const std::string& key, int number, int hang_at)
        : wanted_(wanted),
          number_(number),
          hang_at_(hang_at),
          data_(make_stock(context_, wanted.url, key)),
          locks_(context_, wanted.store.empty() ? wanted.url : wanted.store),
          lock_(locks_, key + ":lock", {.lease_time = std::chrono::milliseconds(wanted.lease_ms)}),
          orders_(context_.get_executor(), ::dup(STDIN_FILENO))
    {}

    int run()
    {
        asio::co_spawn(context_, follow_orders(), rethrow);
        context_.run();
        return done_ ? 0 : 1;
    }

private:
    /// Reports when it is ready, starts on "go", and stops when the parent has ended.
    asio::awaitable<void> follow_orders()
    {
        co_await data_->connect();
        std::cout << "ready" << std::endl;
        while (const auto order = co_await orders_.next()) {
            locks_.async_run(asio::detached);
            selling_ = wanted_.coroutines;
            for (int i = 0; i < wanted_.coroutines; ++i)
                asio::co_spawn(context_, sell_all(), rethrow);
        }
        context_.stop();
    }

    /// The subject of this example: read, check, wait, and write, under the lock, or without it
    /// (`--unsafe`).
    asio::awaitable<void> sell_all()
    {
        for (;;) {
            leasehold::lease held;
            const auto began = steady::now();
            if (!wanted_.unsafe)
                held = co_await lock_.async_lock();
            waits_.push_back(steady::now() - began);

            const int left = co_await data_->left();
            if (left <= 0) {
                co_await release(held);
                break;
            }
            if (left <= hang_at_)
                co_await hang();
            co_await pause(std::chrono::milliseconds(wanted_.think_ms));
            if (co_await data_->sell(left - 1, number_, held.fence()))
                report_sale();
            else
                ++refused_;

            co_await release(held);
        }
        if (--selling_ == 0)
            co_await finish();
    }

    asio::awaitable<void> release(leasehold::lease& held)
    {
        if (!held)
            co_return;
        leasehold::error_code ended;
        co_await held.async_release(asio::redirect_error(ended));
        if (ended)
            ++lost_;
    }

    asio::awaitable<void> pause(steady::duration time)
    {
        asio::steady_timer timer(context_, time);
        co_await timer.async_wait();
    }

    /// Holds the lock, whose renewals continue, until the parent kills this process.
    asio::awaitable<void> hang()
    {
        std::cout << "holding" << std::endl;
        co_await pause(1h);
    }

    /// Does not report each sale, because the pipe would be the slowest part. Reports the first
    /// sale after a pause at once.
    void report_sale()
    {
        ++sold_;
        const auto now = steady::now();
        if (now - reported_ < 20ms)
            return;
        reported_ = now;
        std::cout << "sold " << sold_ << ' ' << now.time_since_epoch().count() << std::endl;
    }

    asio::awaitable<void> finish()
    {
        co_await locks_.async_shutdown();
        data_->close();
        std::cout << "result " << lost_ << ' ' << refused_;
        for (const auto wait : waits_)
            std::cout << ' ' << std::chrono::duration_cast<std::chrono::microseconds>(wait).count();
        std::cout << std::endl;
        done_ = true;
        context_.stop();
    }

    const stock_options& wanted_;
    const int number_;
    const int hang_at_;
    asio::io_context context_{1};
    std::unique_ptr<stock_data> data_;
    leasehold::client locks_;
    leasehold::mutex lock_;
    lines orders_;
    int selling_ = 0;
    int sold_ = 0;
    int lost_ = 0;
    int refused_ = 0;
    bool done_ = false;
    steady::time_point reported_{};
    std::vector<steady::duration> waits_;
};

} // namespace

int run_seller(const stock_options& wanted, const std::string& key, int number, int hang_at)
{
    return seller(wanted, key, number, hang_at).run();
}

} // namespace example
