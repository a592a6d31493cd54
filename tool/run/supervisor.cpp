#include "supervisor.hpp"

#include "../exit_code.hpp"
#include "../message.hpp"
#include "../values.hpp"
#include "process_tree.hpp"

#include <leasehold/config.hpp>
#include <leasehold/diagnostics.hpp>
#include <leasehold/error.hpp>
#include <leasehold/mutex.hpp>
#include <leasehold/observer.hpp>
#include <leasehold/options.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace leasehold::tool {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using namespace std::chrono_literals;

constexpr auto as_tuple = asio::as_tuple(asio::deferred);

// Not "quoted": for a std::string the one of the standard library would be called.
std::string in_quotes(std::string_view name)
{
    return std::string("'").append(name).append("'");
}

int exit_code_of_acquire(error_code code)
{
    if (code == condition::busy)
        return busy;
    if (code == errc::lost)
        return lost;
    if (code == condition::bad_request && code != errc::permission_denied)
        return bad_arguments;
    return store_unavailable;
}

int exit_code_of_start(int error)
{
    return error == ENOENT ? command_not_found : cannot_execute;
}

} // namespace

class supervisor::lease_observer : public observer
{
public:
    lease_observer(std::function<void()> renewed, bool verbose)
        : renewed_(std::move(renewed)), verbose_(verbose)
    {}

    void waiting(std::string_view name, std::chrono::milliseconds) noexcept override
    {
        if (verbose_ && !std::exchange(told_waiting_, true))
            say("waiting for " + in_quotes(name) + ", which another owner holds");
    }

    void acquired(std::string_view name, std::uint64_t fence, duration, bool) noexcept override
    {
        told_waiting_ = false;
        if (verbose_)
            say("holding " + in_quotes(name) + ", fence " + std::to_string(fence));
    }

    void renewed(std::string_view, std::uint64_t, duration, duration) noexcept override
    {
        renewed_();
    }

    void renewal_late(std::string_view name, std::uint64_t, error_code why,
                      duration left) noexcept override
    {
        if (verbose_)
            say(in_quotes(name) + " is not renewed yet (" + why.message() + "), " +
                to_text(std::chrono::duration_cast<std::chrono::milliseconds>(left)) + " left");
    }

    void disconnected(error_code why) noexcept override
    {
        if (verbose_)
            say("no connection to the store: " + why.message());
    }

private:
    std::function<void()> renewed_;
    bool verbose_;
    bool told_waiting_ = false;
};

supervisor::supervisor(const run_settings& settings, deadline_page& page, const guardian& watching)
    : settings_(settings),
      page_(page),
      guardian_(watching),
      locks_(context_, config(settings.url),
             // The deadline has moved when the observer has returned.
             std::make_shared<lease_observer>(
                 [this] { asio::post(context_, [this] { keep_page(); }); }, settings.verbose)),
      signals_(context_),
      reports_(context_, ::dup(watching.link().native_handle())),
      last_moment_(context_)
{
    std::signal(SIGPIPE, SIG_IGN);
    for (const int each : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH}) {
        struct sigaction now{};
        ::sigaction(each, nullptr, &now);
        if (now.sa_handler != SIG_IGN) // as nohup wants it
            signals_.add(each);
    }
    // What the guardian has started is this process's when the guardian is gone.
    become_subreaper();
}

supervisor::ending supervisor::run()
{
    int code = internal_failure;
    std::exception_ptr failure;
    obey_signals();
    asio::co_spawn(context_, locked_run(), [&](std::exception_ptr thrown, int result) {
        failure = thrown;
        code = result;
        context_.stop();
    });
    context_.run();
    if (failure)
        std::rethrow_exception(failure);
    return {code, stopped_by_};
}

asio::awaitable<int> supervisor::locked_run()
{
    locks_.async_run(asio::detached);
    int code = co_await acquire();
    if (code == success && stopped_by_ == 0) {
        code = co_await run_command();
        if (code != lost)
            code = co_await release(code);
    }
    if (code == lost) {
        // What is left of the locks is given back if the store can be reached, and not waited for
        // otherwise.
        leases_.clear();
        locks_.cancel();
    }
    error_code ignored;
    co_await locks_.async_shutdown(asio::redirect_error(asio::use_awaitable, ignored));
    co_return code;
}

asio::awaitable<int> supervisor::acquire()
{
    // In one order everywhere: two that want the same locks never wait for each other.
    std::vector<std::string> names = settings_.keys;
    std::sort(names.begin(), names.end());
    const bool limited = settings_.wait.has_value();
    const clock::time_point until = limited ? clock::now() + *settings_.wait
                                            : clock::time_point::max();
    lock_options options;
    options.lease_time = settings_.lease_time;
    for (const std::string& name : names) {
        const mutex each(locks_, name, options);
        diagnostics details;
        error_code code;
        lease held;
        const auto under = settings_.owners.find(name);
        if (under != settings_.owners.end()) {
            auto entering = each.async_try_lock_until(until, under->second, details, as_tuple);
            std::tie(code, held) = co_await std::move(entering);
        }
        else {
            auto locking = each.async_try_lock_until(until, details, as_tuple);
            std::tie(code, held) = co_await std::move(locking);
        }
        if (code) {
            if (stopped_by_ == 0)
                say(details.to_string() + ": " + code.message());
            co_return exit_code_of_acquire(code);
        }
        leases_.push_back(std::move(held));
    }
    for (const lease& each : leases_) {
        if (!each.valid()) {
            say("lost " + in_quotes(each.name()) + " before the command was started");
            co_return lost;
        }
    }
    co_return success;
}

asio::awaitable<int> supervisor::run_command()
{
    running_ = true;
    keep_page();
    guardian_.link().start(environment());
    watch_leases();
    error_code failed;
    co_await reports_.async_wait(asio::posix::stream_descriptor::wait_read,
                                 asio::redirect_error(asio::use_awaitable, failed));
    outcome told;
    const bool heard = guardian_.link().receive(told);
    if (!heard)
        co_await end_orphans();
    running_ = false;
    last_moment_.cancel();
    if (!heard) {
        say("the guardian is gone; the command was ended");
        co_return internal_failure;
    }
    co_return exit_code_of(told);
}

/// The guardian is gone, and its children are this process's now.
asio::awaitable<void> supervisor::end_orphans()
{
    timer pause(context_);
    while (::waitpid(-1, nullptr, WNOHANG) >= 0) {
        signal_descendants(::getpid(), SIGKILL);
        pause.expires_after(5ms);
        co_await pause.async_wait(asio::use_awaitable);
    }
}

asio::awaitable<int> supervisor::release(int code)
{
    for (lease& each : leases_) {
        const std::string name = each.name();
        diagnostics details;
        auto releasing = each.async_release(details, as_tuple);
        const std::tuple<error_code> result = co_await std::move(releasing);
        const error_code failed = std::get<0>(result);
        if (!failed)
            continue;
        say(details.to_string() + ": not released: " + failed.message());
        if (failed == condition::lease_ended)
            code = lost;
    }
    co_return code;
}

void supervisor::obey_signals()
{
    signals_.async_wait([this](error_code failed, int signal) {
        if (failed)
            return;
        if (running_)
            guardian_.link().forward(signal);
        else if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT) {
            if (stopped_by_ != 0)
                locks_.cancel(); // once more: whoever waits is in a hurry
            stopped_by_ = signal;
            locks_.async_shutdown(asio::detached); // ends the wait
        }
        obey_signals();
    });
}

void supervisor::watch_leases()
{
    for (lease& each : leases_) {
        each.async_wait_lost([this, name = each.name()](error_code why) {
            if (why != asio::error::operation_aborted)
                lose(name, why);
        });
    }
}

void supervisor::keep_page()
{
    if (!running_ || lost_)
        return;
    clock::time_point deadline = clock::time_point::max();
    for (const lease& each : leases_)
        deadline = std::min(deadline, each.deadline());
    const deadline_page::moments until{deadline - settings_.term_before,
                                       deadline - settings_.kill_before};
    page_.set(until);
    // Who stops the guardian does not stop this.
    end_by_own_hand_at(until.kill_at);
}

void supervisor::end_by_own_hand_at(clock::time_point when)
{
    last_moment_.expires_at(when);
    last_moment_.async_wait([this](error_code cancelled) {
        if (!cancelled)
            end_by_own_hand();
    });
}

void supervisor::end_by_own_hand()
{
    if (!running_)
        return;
    overdue_ = true;
    signal_descendants(::getpid(), SIGKILL, 0, guardian_.process());
    guardian_.resume();
    end_by_own_hand_at(clock::now() + 10ms); // what has forked meanwhile
}

void supervisor::lose(std::string_view key, error_code why)
{
    if (!running_ || std::exchange(lost_, true))
        return;
    say("lost " + in_quotes(key) + ": " + why.message());
    // Another may hold the lock by now. The command has the time that it would have had between
    // TERM and KILL, and no more than was left.
    const clock::time_point now = clock::now();
    const clock::time_point kill_at = std::min(
        page_.get().kill_at, now + (settings_.term_before - settings_.kill_before));
    page_.set({now, kill_at});
    guardian_.link().look();
    end_by_own_hand_at(kill_at);
}

std::vector<std::string> supervisor::environment() const
{
    std::string keys;
    std::string fences;
    std::string owners;
    for (const std::string& name : settings_.keys) {
        const lease& held = *std::find_if(leases_.begin(), leases_.end(),
                                          [&](const lease& each) { return each.name() == name; });
        const char* const end_of_last = keys.empty() ? "" : "\n";
        keys.append(end_of_last).append(name);
        fences.append(end_of_last).append(std::to_string(held.fence()));
        owners.append(end_of_last).append(held.owner().to_string());
    }
    return {"LEASEHOLD_KEY=" + keys, "LEASEHOLD_FENCE=" + fences, "LEASEHOLD_OWNER=" + owners,
            "LEASEHOLD_URL=" + settings_.url};
}

int supervisor::exit_code_of(const outcome& told) const
{
    if (told.how == outcome::kind::not_started) {
        say(settings_.command.front() + ": " + std::generic_category().message(told.error));
        return exit_code_of_start(told.error);
    }
    if (told.remainder != 0)
        say("ended what the command left behind: processes: " + std::to_string(told.remainder));
    if ((told.asked || overdue_) && !lost_)
        say("not renewed in time; the command was ended before the lease did");
    return told.asked || overdue_ || lost_ ? lost : told.exit_code;
}

} // namespace leasehold::tool
