#include "jobs.hpp"

#include <leasehold/client.hpp>
#include <leasehold/lease.hpp>
#include <leasehold/mutex.hpp>
#include <leasehold/options.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include <csignal>
#include <deque>
#include <exception>
#include <utility>

namespace leasehold::tool::bench {
namespace {

namespace asio = boost::asio;
using steady = std::chrono::steady_clock;

/// Limits the wait for a lock. No lock is held for long, so after this time the store is gone.
lock_options patience()
{
    lock_options made;
    made.wait_limit = std::chrono::seconds(10);
    return made;
}

/// Runs clients and their coroutines until the time has passed, one fails, or a signal arrives.
class session
{
public:
    session(const job_settings& settings, std::size_t clients)
        : signals_(context_, SIGINT, SIGTERM), time_(settings.time)
    {
        for (std::size_t i = 0; i < clients; ++i)
            clients_.emplace_back(context_, settings.make_store()).async_run(asio::detached);
        signals_.async_wait([this](const error_code& ended, int number) {
            if (!ended)
                signal_ = number;
        });
    }

    client& at(std::size_t index) { return clients_[index]; }
    bool goes_on() const { return !signal_ && !failed_ && steady::now() < end_; }

    void spawn(asio::awaitable<void> work)
    {
        ++running_;
        asio::co_spawn(context_, std::move(work), [this](std::exception_ptr failed) {
            if (failed && !failed_)
                failed_ = failed;
            if (--running_ == 0)
                asio::co_spawn(context_, end(), asio::detached);
        });
    }

    /// Connects the clients before the measurement begins.
    asio::awaitable<void> warm_up(const std::string& name)
    {
        for (client& each : clients_) {
            const mutex known(each, name, patience());
            lease held = co_await known.async_lock();
            co_await held.async_release();
        }
    }

    void begin()
    {
        began_ = steady::now();
        end_ = began_ + time_;
    }

    /// @returns The duration in seconds.
    /// @throws The exception of a coroutine.
    double run()
    {
        context_.run();
        if (failed_)
            std::rethrow_exception(failed_);
        return std::chrono::duration<double>(ended_ - began_).count();
    }

    int signal() const noexcept { return signal_; }

private:
    asio::awaitable<void> end()
    {
        ended_ = steady::now();
        signals_.cancel();
        for (client& each : clients_)
            co_await each.async_shutdown();
    }

    asio::io_context context_;
    asio::signal_set signals_;
    std::deque<client> clients_;
    std::chrono::milliseconds time_;
    steady::time_point began_{};
    steady::time_point end_{};
    steady::time_point ended_{};
    std::exception_ptr failed_;
    std::size_t running_ = 0;
    int signal_ = 0;
};

asio::awaitable<void> timed_locks(session& within, std::string name, measurements& to)
{
    co_await within.warm_up(name);
    const mutex own(within.at(0), name, patience());
    within.begin();
    do {
        const auto began = steady::now();
        lease held = co_await own.async_lock();
        const auto got = steady::now();
        co_await held.async_release();
        to.acquire.add(got - began);
        to.release.add(steady::now() - got);
    } while (within.goes_on());
}

asio::awaitable<void> own_lock(session& within, std::string name, std::size_t& count)
{
    const mutex own(within.at(0), name, patience());
    do {
        lease held = co_await own.async_lock();
        co_await held.async_release();
        ++count;
    } while (within.goes_on());
}

/// Runs one of the clients that share a lock.
asio::awaitable<void> in_turns(session& within, std::size_t index, std::string name,
                               std::pair<std::size_t, steady::time_point>& released, durations& to)
{
    const mutex shared(within.at(index), name, patience());
    while (within.goes_on()) {
        lease held = co_await shared.async_lock();
        if (released.second != steady::time_point() && released.first != index)
            to.add(steady::now() - released.second);
        released = {index, steady::now()};
        co_await held.async_release();
    }
}

} // namespace

std::vector<std::string> jobs::names() const
{
    std::vector<std::string> all{settings_.prefix + "single", settings_.prefix + "shared"};
    for (std::size_t i = 0; i < settings_.coroutines; ++i)
        all.push_back(settings_.prefix + std::to_string(i));
    return all;
}

void jobs::one_after_the_other(measurements& to)
{
    session within(settings_, 1);
    within.spawn(timed_locks(within, settings_.prefix + "single", to));
    const double seconds = within.run();
    to.locks_a_second = static_cast<double>(to.acquire.size()) / seconds;
    signal_ = within.signal();
}

void jobs::many_at_a_time(measurements& to)
{
    session within(settings_, 1);
    std::size_t count = 0;
    const auto all = [&]() -> asio::awaitable<void> {
        co_await within.warm_up(settings_.prefix + "0");
        within.begin();
        for (std::size_t i = 0; i < settings_.coroutines; ++i)
            within.spawn(own_lock(within, settings_.prefix + std::to_string(i), count));
    };
    within.spawn(all());
    const double seconds = within.run();
    to.coroutines = settings_.coroutines;
    to.locks_together = count;
    to.locks_a_second_together = static_cast<double>(count) / seconds;
    signal_ = within.signal();
}

void jobs::two_in_turns(measurements& to)
{
    session within(settings_, 2);
    std::pair<std::size_t, steady::time_point> released{};
    const auto all = [&]() -> asio::awaitable<void> {
        co_await within.warm_up(settings_.prefix + "shared");
        within.begin();
        for (std::size_t i = 0; i < 2; ++i)
            within.spawn(in_turns(within, i, settings_.prefix + "shared", released, to.handoff));
    };
    within.spawn(all());
    const double seconds = within.run();
    to.handoffs_a_second = static_cast<double>(to.handoff.size()) / seconds;
    signal_ = within.signal();
}

measurements jobs::run(const std::function<std::optional<server_work>()>& work)
{
    measurements made;
    one_after_the_other(made);
    if (signal_ != 0)
        return made;
    const auto before = work();
    many_at_a_time(made);
    const auto after = work();
    const auto locks = static_cast<double>(made.locks_together);
    if (before && after && locks > 0) {
        made.server_microseconds = (after->cpu_seconds - before->cpu_seconds) * 1e6 / locks;
        made.server_commands = static_cast<double>(after->commands - before->commands) / locks;
    }
    if (signal_ == 0)
        two_in_turns(made);
    return made;
}

} // namespace leasehold::tool::bench
