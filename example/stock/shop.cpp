#include "stock/options.hpp"
#include "stock/stock_data.hpp"
#include "support/lines.hpp"
#include "support/redis.hpp"
#include "support/terminal.hpp"
#include "support/worker.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <exception>
#include <iomanip>
#include <iostream>
#include <memory>
#include <numeric>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

namespace example {
namespace {

/// The shop's record of a seller.
struct seller_process
{
    seller_process(const char* program, std::vector<std::string> arguments)
        : process(program, std::move(arguments))
    {}

    worker process;
    int sold = 0; // by its last report
    bool killed = false;
    bool finished = false;
};

std::string seconds(steady::duration time)
{
    std::ostringstream text;
    text << std::fixed << std::setprecision(2) << std::chrono::duration<double>(time).count()
         << " s";
    return text.str();
}

class shop
{
public:
    shop(const stock_options& wanted, const char* program)
        : wanted_(wanted), key_(new_key("stock:"))
    {
        for (int number = 1; number <= wanted.processes; ++number)
            sellers_.emplace_back(program, orders_for(number));
        context_.emplace(1);
        data_ = make_stock(*context_, wanted.url, key_);
        progress_.emplace(*context_);
    }

    int run()
    {
        spawn(open());
        context_->run();
        return passed_ ? 0 : 1;
    }

private:
    std::vector<std::string> orders_for(int number) const
    {
        std::vector<std::string> words{"--worker",     std::to_string(number),
                                       "--key",        key_,
                                       "--url",        wanted_.url,
                                       "--coroutines", std::to_string(wanted_.coroutines),
                                       "--think-ms",   std::to_string(wanted_.think_ms),
                                       "--lease-ms",   std::to_string(wanted_.lease_ms)};
        if (!wanted_.store.empty())
            words.insert(words.end(), {"--store", wanted_.store});
        if (wanted_.unsafe)
            words.push_back("--unsafe");
        if (wanted_.kill_one && number == wanted_.processes) {
            words.push_back("--hang-at");
            words.push_back(std::to_string(wanted_.stock - wanted_.stock / 3));
        }
        return words;
    }

    void spawn(asio::awaitable<void> work)
    {
        asio::co_spawn(*context_, std::move(work), [](std::exception_ptr failure) {
            if (failure)
                std::rethrow_exception(failure);
        });
    }

    asio::awaitable<void> open()
    {
        co_await data_->connect();
        co_await data_->open(wanted_.stock);
        for (seller_process& seller : sellers_)
            spawn(listen(seller));
        spawn(show_progress());
    }

    asio::awaitable<void> listen(seller_process& seller)
    {
        lines output(context_->get_executor(), seller.process.take_output());
        while (const auto line = co_await output.next()) {
            std::istringstream words(*line);
            std::string what;
            words >> what;
            if (what == "ready")
                ready();
            else if (what == "sold")
                heard_of_sale(seller, words);
            else if (what == "holding")
                kill(seller);
            else if (what == "result")
                heard_result(seller, words);
        }
        if (ready_ < wanted_.processes)
            throw std::runtime_error("a seller ended before it began");
        if (++ended_ == wanted_.processes)
            co_await close();
    }

    void ready()
    {
        if (++ready_ < wanted_.processes)
            return;
        started_ = steady::now();
        for (seller_process& other : sellers_)
            other.process.send("go");
    }

    void heard_of_sale(seller_process& seller, std::istringstream& words)
    {
        steady::rep when = 0;
        words >> seller.sold >> when;
        const steady::time_point sold{
            steady::duration(when)}; // one clock for all processes of the machine
        if (killed_ && !went_on_ && sold > *killed_)
            went_on_ = sold;
        if (disturbed_ && !resumed_ && sold > *disturbed_)
            resumed_ = sold;
        if (!wanted_.halfway.empty() && !disturbed_ && sold_so_far() >= wanted_.stock / 2)
            disturb();
    }

    /// Runs the command of `--halfway`. Its environment has the name of the lock.
    void disturb()
    {
        ::setenv("LEASEHOLD_LOCK", (key_ + ":lock").c_str(), 1);
        disturbed_ = steady::now();
        if (std::system(wanted_.halfway.c_str()) != 0)
            throw std::runtime_error("--halfway: the command failed");
    }

    int sold_so_far() const
    {
        return std::accumulate(
            sellers_.begin(), sellers_.end(), 0,
            [](int sum, const seller_process& seller) { return sum + seller.sold; });
    }

    void kill(seller_process& seller)
    {
        seller.process.kill();
        seller.killed = true;
        killed_ = steady::now();
    }

    void heard_result(seller_process& seller, std::istringstream& words)
    {
        int lost = 0;
        int refused = 0;
        words >> lost >> refused;
        lost_ += lost;
        refused_ += refused;
        for (int wait = 0; words >> wait;)
            waits_.push_back(wait);
        seller.finished = true;
    }

    asio::awaitable<void> show_progress()
    {
        while (ended_ < wanted_.processes) {
            const int sold = sold_so_far();
            const char* const event = killed_ && !went_on_
                                          ? "   one was killed while it held the lock"
                                          : "";
            if (on_terminal())
                std::cout << "\r\033[Kselling: " << sold << event << std::flush;
            else if (ready_ == wanted_.processes)
                std::cout << "selling: " << sold << event << std::endl;
            progress_->expires_after(on_terminal() ? 100ms : 1000ms);
            boost::system::error_code ignored;
            co_await progress_->async_wait(asio::redirect_error(ignored));
        }
    }

    asio::awaitable<void> close()
    {
        const auto took = steady::now() - started_;
        progress_->cancel();
        const std::vector<int> sold = co_await data_->sold(wanted_.processes);
        const int left = co_await data_->left();
        co_await data_->remove();
        data_->close();
        if (on_terminal())
            std::cout << "\r\033[K";
        show_table(sold, took);
        passed_ = check(std::accumulate(sold.begin(), sold.end(), 0), left);
    }

    template <class Value>
    static void row(const char* label, const Value& value)
    {
        std::cout << "  " << std::left << std::setw(16) << label << value << '\n';
    }

    double wait_ms(double part)
    {
        if (waits_.empty())
            return 0;
        const auto rank = static_cast<std::size_t>(part * static_cast<double>(waits_.size() - 1));
        std::nth_element(waits_.begin(), waits_.begin() + static_cast<std::ptrdiff_t>(rank),
                         waits_.end());
        return waits_[rank] / 1000.0;
    }

    void show_table(const std::vector<int>& sold, steady::duration took)
    {
        for (int i = 0; i < wanted_.processes; ++i) {
            const seller_process& seller = sellers_[static_cast<std::size_t>(i)];
            std::ostringstream text;
            text << sold[static_cast<std::size_t>(i)]
                 << (seller.killed ? "   killed while it held the lock" : "");
            row(("process " + std::to_string(i + 1)).c_str(), text.str());
        }
        const int all = std::accumulate(sold.begin(), sold.end(), 0);
        const int over = std::max(0, all - wanted_.stock);
        const std::string oversold = std::to_string(over);
        row("sold", std::to_string(all) + " of " + std::to_string(wanted_.stock));
        row("oversold", over > 0 ? bad(oversold) : good(oversold));
        row("time", seconds(took));
        if (wanted_.unsafe)
            return;
        std::ostringstream waited;
        waited << std::fixed << std::setprecision(1) << "p50 " << wait_ms(0.5) << " ms, p99 "
               << wait_ms(0.99) << " ms";
        row("wait", waited.str());
        const double per_second = static_cast<double>(waits_.size()) /
                                  std::chrono::duration<double>(took).count();
        row("locks", std::to_string(static_cast<long>(per_second)) + " per second");
        row("leases lost", lost_);
        row("writes rejected", refused_);
        if (killed_ && went_on_)
            row("resumed", seconds(*went_on_ - *killed_) + " after the kill; the lease time is " +
                               seconds(std::chrono::milliseconds(wanted_.lease_ms)));
        if (disturbed_ && resumed_)
            row("next sale", seconds(*resumed_ - *disturbed_) + " after --halfway");
    }

    bool check(int sold, int left) const
    {
        bool passed = true;
        const auto expect = [&passed](bool true_, const char* otherwise) {
            if (!true_)
                std::cerr << "error: " << otherwise << '\n';
            passed = passed && true_;
        };
        for (const seller_process& seller : sellers_)
            expect(seller.finished || seller.killed, "a seller failed");
        if (wanted_.unsafe) {
            expect(sold > wanted_.stock || wanted_.processes * wanted_.coroutines == 1,
                   "nothing was oversold this time; try more --coroutines or --think-ms");
        }
        else {
            expect(sold == wanted_.stock && left == 0, "the sold units are not the stock");
            expect(!wanted_.kill_one || killed_,
                   "all was sold before a process could be killed; try a larger --stock");
            expect(wanted_.halfway.empty() || resumed_,
                   "all was sold before --halfway; try a larger --stock");
        }
        return passed;
    }

    const stock_options& wanted_;
    const std::string key_;
    std::deque<seller_process> sellers_;
    // Made after the start of the processes, which must come before anything of Asio.
    std::optional<asio::io_context> context_;
    std::unique_ptr<stock_data> data_;
    std::optional<asio::steady_timer> progress_;
    int ready_ = 0;
    int ended_ = 0;
    int lost_ = 0;
    int refused_ = 0;
    bool passed_ = false;
    steady::time_point started_;
    std::optional<steady::time_point> killed_;
    std::optional<steady::time_point> went_on_;
    std::optional<steady::time_point> disturbed_;
    std::optional<steady::time_point> resumed_;
    std::vector<int> waits_; // in microseconds
};

} // namespace

int run_shop(const stock_options& wanted, const char* program)
{
    return shop(wanted, program).run();
}

} // namespace example
