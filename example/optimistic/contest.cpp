#include "optimistic/contest.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/error_code.hpp>

#include <algorithm>
#include <exception>
#include <memory>
#include <vector>

namespace asio = boost::asio;
using steady = std::chrono::steady_clock;

namespace example {

class contest
{
public:
    contest(asio::io_context& context, const market& on)
        : context_(context), on_(on), all_done_(context, steady::time_point::max())
    {}

    asio::awaitable<verdict> hold(method& tried)
    {
        co_await tried.open(on_.items, on_.stock);
        for (int number = 0; number < on_.traders; ++number)
            traders_.push_back(tried.make_trader());
        const auto began = steady::now();
        running_ = on_.traders;
        for (int number = 0; number < on_.traders; ++number) {
            asio::co_spawn(context_, sell_all(*traders_[static_cast<std::size_t>(number)], number),
                           [this](std::exception_ptr failure) {
                               if (failure)
                                   failed_ = failure;
                               if (--running_ == 0)
                                   all_done_.cancel();
                           });
        }
        boost::system::error_code woken;
        co_await all_done_.async_wait(asio::redirect_error(woken));
        result_.took = steady::now() - began;
        for (const auto& one : traders_)
            co_await one->close();
        co_await tried.close();
        if (failed_)
            std::rethrow_exception(failed_);
        co_return result_;
    }

private:
    /// Each trader begins with another item, so that conflicts are rare if there are many items.
    asio::awaitable<void> sell_all(trader& seller, int number)
    {
        const thinking thought = [this] { return think(); };
        for (int turn = 0; turn < on_.items; ++turn) {
            const int item = (number * on_.items / on_.traders + turn) % on_.items;
            int retries = 0;
            for (outcome last = outcome::sold; last != outcome::none_left;) {
                last = co_await seller.try_to_sell(item, thought);
                if (last == outcome::conflict) {
                    ++result_.conflicts;
                    result_.most_retries = std::max(result_.most_retries, ++retries);
                }
                else {
                    retries = 0;
                    result_.sold += last == outcome::sold ? 1 : 0;
                }
            }
        }
    }

    asio::awaitable<void> think()
    {
        const bool slow = on_.slow_every > 0 && ++thoughts_ % on_.slow_every == 0;
        asio::steady_timer timer(context_, slow ? 6 * on_.think : on_.think);
        co_await timer.async_wait();
    }

    asio::io_context& context_;
    const market on_;
    asio::steady_timer all_done_;
    std::vector<std::unique_ptr<trader>> traders_;
    std::exception_ptr failed_;
    verdict result_;
    int running_ = 0;
    int thoughts_ = 0;
};

asio::awaitable<verdict> hold_contest(asio::io_context& context, method& tried, market on)
{
    contest held(context, on);
    co_return co_await held.hold(tried);
}

} // namespace example
