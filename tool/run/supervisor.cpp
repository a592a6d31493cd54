#include "supervisor.hpp"

#include "../exit_code.hpp"
#include "../message.hpp"
#include "../url_option.hpp"
#include "../values.hpp"
#include "process_tree.hpp"

#include <leasehold/diagnostics.hpp>
#include <leasehold/error.hpp>
#include <leasehold/mutex.hpp>
#include <leasehold/observer.hpp>
#include <leasehold/options.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/cancel_after.hpp>
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

/// A longer wait is explained.
constexpr clock::duration silent_wait = 500ms;
/// The limit of the shutdown of the client.
constexpr clock::duration shutdown_limit = 1s;

// Not named "quoted": for a std::string, argument-dependent lookup would find std::quoted.
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

std::string name_of_stop(int signal)
{
    switch (signal) {
    case SIGSTOP: return "SIGSTOP";
    case SIGTSTP: return "SIGTSTP";
    case SIGTTIN: return "SIGTTIN, it reads from the terminal";
    case SIGTTOU: return "SIGTTOU, it uses the terminal";
    default: return "signal " + std::to_string(signal);
    }
}

} // namespace

class supervisor::lease_observer : public observer
{
public:
    lease_observer(supervisor& of, bool verbose) : of_(of), verbose_(verbose) {}

    void waiting(std::string_view, std::chrono::milliseconds) noexcept override
    {
        if (!of_.trying_) // a try reports its details itself
            of_.explain_wait(of_.reason_of(of_.holder_, errc::held));
    }

    void acquired(std::string_view name, std::uint64_t fence, duration, bool) noexcept override
    {
        if (verbose_)
            say("holding " + in_quotes(name) + ", fencing token " + std::to_string(fence));
    }

    void renewed(std::string_view, std::uint64_t, duration, duration) noexcept override
    {
        of_.failure_.clear();
        // The new deadline is set after the observer returns.
        asio::post(of_.context_, [&of = of_] { of.keep_page(); });
    }

    void renewal_late(std::string_view name, std::uint64_t, error_code why,
                      duration left) noexcept override
    {
        if (verbose_)
            say(in_quotes(name) + " is not renewed yet (" + why.message() + "), " +
                to_text(std::chrono::duration_cast<std::chrono::milliseconds>(left)) + " left");
    }

    void connected() noexcept override { of_.failure_.clear(); }

    void store_error(error_code why, const diagnostics& details) noexcept override
    {
        of_.fail(details, why);
    }

    void disconnected(error_code why) noexcept override
    {
        // A known reason was reported before.
        if (of_.failure_.empty())
            of_.fail({}, why);
        if (verbose_ && of_.running_)
            say("no connection to the store: " + of_.failure_);
    }

private:
    supervisor& of_;
    bool verbose_;
};

supervisor::supervisor(const run_settings& settings, deadline_page& page, const guardian& watching)
    : settings_(settings),
      page_(page),
      guardian_(watching),
      locks_(context_, settings.url, std::make_shared<lease_observer>(*this, settings.verbose)),
      signals_(context_),
      reports_(context_, ::dup(watching.link().native_handle())),
      last_moment_(context_),
      notice_(context_),
      wait_over_(context_)
{
    std::signal(SIGPIPE, SIG_IGN);
    for (const int each : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT}) {
        struct sigaction now{};
        ::sigaction(each, nullptr, &now);
        if (now.sa_handler != SIG_IGN) // as nohup requires
            signals_.add(each);
    }
    // If the guardian ends, its children become children of this process.
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
    bool released = true;
    if (code == success && stopped_by_ == 0) {
        code = co_await run_command();
        if (code != lost && code != not_ended) {
            ended_ = true;
            co_await hold();
            released = co_await release(code);
        }
    }
    if (!released)
        co_return code; // the release was retried until the lease ended
    if (code == lost || code == not_ended) {
        // The remaining locks are released if the store can be reached; this does not wait for it.
        leases_.clear();
        locks_.cancel();
    }
    auto stopping = locks_.async_shutdown(asio::cancel_after(shutdown_limit, as_tuple));
    co_await std::move(stopping);
    co_return code;
}

asio::awaitable<int> supervisor::acquire()
{
    // All processes use the same order, so two with the same locks never wait for each other.
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
        begin_wait(name);
        const auto under = settings_.owners.find(name);
        if (under != settings_.owners.end()) {
            auto entering =
                each.with_owner(under->second).async_try_lock_until(until, details, as_tuple);
            std::tie(code, held) = co_await std::move(entering);
        }
        else {
            code = errc::held;
            // A try reports the holder at once; a wait reports it only at its end.
            if (clock::now() < until) {
                auto trying = each.async_try_lock(details,
                                                  asio::cancel_after(silent_wait, as_tuple));
                trying_ = true;
                std::tie(code, held) = co_await std::move(trying);
                trying_ = false;
                if (code == errc::held)
                    holder_ = details;
                if (code && code != asio::error::operation_aborted)
                    explain_wait(reason_of(details, code));
            }
            if (code && code != condition::bad_request) {
                auto locking = each.async_try_lock_until(until, details, as_tuple);
                std::tie(code, held) = co_await std::move(locking);
            }
        }
        waits_for_.clear();
        notice_.cancel();
        if (code) {
            if (stopped_by_ == 0)
                say(details.to_string() + ": " + code.message());
            co_return exit_code_of_acquire(code);
        }
        leases_.push_back(std::move(held));
    }
    acquired_at_ = clock::now();
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
    outcome result;
    bool received = true;
    do {
        error_code failed;
        co_await reports_.async_wait(asio::posix::stream_descriptor::wait_read,
                                     asio::redirect_error(asio::use_awaitable, failed));
        received = guardian_.link().receive(result);
        if (received && result.how == outcome::kind::stopped)
            notify_stop(result);
    } while (received && result.how == outcome::kind::stopped);
    std::size_t unended = 0;
    if (!received)
        unended = co_await end_orphans();
    running_ = false;
    last_moment_.cancel();
    if (received)
        co_return exit_code_of(result);
    say("the guardian has ended; the command was ended");
    co_return unended != 0 ? exit_code_of_unended(unended) : internal_failure;
}

void supervisor::notify_stop(const outcome& result)
{
    say("the command is stopped (" + name_of_stop(result.stop_signal) + ")" +
        (result.by_terminal ? ", and so is its job; the locks are not renewed while it is stopped"
                            : "; the locks are held until it continues and ends"));
    // The terminal stops all processes of a job, and the shell gets its terminal back.
    if (result.by_terminal)
        ::kill(0, result.stop_signal);
}

/// The guardian has ended, and its children are now children of this process.
asio::awaitable<std::size_t> supervisor::end_orphans()
{
    timer pause(context_);
    while (::waitpid(-1, nullptr, WNOHANG) >= 0) {
        const reach done = signal_descendants(::getpid(), SIGKILL);
        if (done.count == 0 && !done.denied.empty()) {
            for (const denied_process& each : done.denied)
                say(to_text(each));
            co_return done.denied.size();
        }
        pause.expires_after(5ms);
        co_await pause.async_wait(asio::use_awaitable);
    }
    co_return 0;
}

asio::awaitable<void> supervisor::hold()
{
    const clock::time_point until = acquired_at_ + settings_.hold_at_least;
    if (clock::now() >= until)
        co_return;
    if (settings_.verbose)
        say("the command has ended; holding its locks for " +
            to_text(std::chrono::ceil<std::chrono::milliseconds>(until - clock::now())));
    wait_over_.expires_at(until);
    auto waiting = wait_over_.async_wait(as_tuple);
    co_await std::move(waiting);
}

asio::awaitable<bool> supervisor::release(int& code)
{
    struct departure
    {
        std::string name;
        clock::time_point deadline;
        bool over = false;
        error_code failed{};
        diagnostics details{};
    };
    // Shared with handlers that may run later.
    const auto all = std::make_shared<std::vector<departure>>();
    clock::time_point latest{};
    for (const lease& each : leases_) {
        all->push_back({each.name(), each.deadline()});
        latest = std::max(latest, each.deadline());
    }
    const auto is_over = [](const departure& each) { return each.over; };
    wait_over_.expires_at(latest);
    // All locks at once, so that a failed release does not delay the others.
    for (std::size_t i = 0; i < all->size(); ++i) {
        leases_[i].async_release((*all)[i].details, [this, all, is_over, i](error_code failed) {
            (*all)[i].over = true;
            (*all)[i].failed = failed;
            if (std::all_of(all->begin(), all->end(), is_over))
                wait_over_.cancel();
        });
    }
    notice_.expires_after(silent_wait);
    notice_.async_wait([this, all, is_over](error_code cancelled) {
        if (!cancelled && !std::all_of(all->begin(), all->end(), is_over))
            say("the command has ended; releasing its locks" +
                (failure_.empty() ? "" : ": " + failure_));
    });
    auto waiting = wait_over_.async_wait(as_tuple);
    co_await std::move(waiting);
    notice_.cancel();

    bool released = true;
    for (const departure& each : *all) {
        if (each.over && !each.failed)
            continue;
        if (each.failed == condition::lease_ended && each.failed != errc::expired) {
            say(each.details.to_string() + ": not released: " + each.failed.message());
            code = lost;
            continue;
        }
        released = false;
        const auto left = std::chrono::ceil<std::chrono::seconds>(each.deadline - clock::now());
        say(in_quotes(each.name) + " is not released" +
            (failure_.empty() ? "" : " (" + failure_ + ")") +
            (left.count() > 0 ? "; it expires in " + to_text(left) : "; its lease has expired"));
    }
    co_return released;
}

void supervisor::obey_signals()
{
    signals_.async_wait([this](error_code failed, int signal) {
        if (failed)
            return;
        const bool ends = signal == SIGINT || signal == SIGTERM || signal == SIGHUP ||
                          signal == SIGQUIT;
        if (running_) {
            guardian_.link().forward(signal);
        }
        else if (ends && ended_) {
            wait_over_.cancel(); // the exit code is that of the command
        }
        else if (ends) {
            if (stopped_by_ != 0)
                locks_.cancel(); // the second signal ends the wait at once
            stopped_by_ = signal;
            locks_.async_shutdown(asio::detached); // ends the wait
        }
        obey_signals();
    });
}

std::string supervisor::reason_of(diagnostics details, error_code why) const
{
    if (details.server.empty())
        details.server = servers_of(settings_.url);
    // Removes the parts that differ between tries, and the key, which the message names.
    details.key.clear();
    details.waited = {};
    details.attempts = 0;
    return details.to_string() + ": " + why.message();
}

void supervisor::fail(const diagnostics& details, error_code why)
{
    failure_ = reason_of(details, why);
    explain_wait(failure_);
}

void supervisor::begin_wait(const std::string& key)
{
    waits_for_ = key;
    holder_ = {};
    reported_reasons_.clear();
    reason_ = "server " + servers_of(settings_.url) + ": no reply yet";
    keep_explaining();
}

void supervisor::explain_wait(const std::string& reason)
{
    if (waits_for_.empty())
        return;
    reason_ = reason;
    if (settings_.verbose)
        report_reason();
}

void supervisor::keep_explaining()
{
    notice_.expires_after(silent_wait);
    notice_.async_wait([this](error_code cancelled) {
        if (cancelled || waits_for_.empty())
            return;
        report_reason();
        keep_explaining();
    });
}

void supervisor::report_reason()
{
    if (!settings_.quiet && reported_reasons_.insert(reason_).second)
        say("waiting for " + in_quotes(waits_for_) + ": " + reason_);
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
    // A store may give a shorter TTL than requested. The times before the deadline are then shorter
    // by the same factor, so that they do not begin before the next renewal.
    longest_left_ = std::max(longest_left_, deadline - clock::now());
    using seconds = std::chrono::duration<double>;
    const double factor = std::min(1.0,
                                   seconds(longest_left_) / (0.9 * seconds(settings_.lease_time)));
    const auto before = [&](std::chrono::milliseconds time) {
        return deadline - std::chrono::duration_cast<clock::duration>(factor * seconds(time));
    };
    const deadline_page::moments until{before(settings_.term_before),
                                       before(settings_.kill_before)};
    page_.set(until);
    // This timer works even if the guardian is stopped.
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
    end_by_own_hand_at(clock::now() + 10ms); // for processes that were forked meanwhile
}

void supervisor::lose(std::string_view key, error_code why)
{
    if (!running_ || std::exchange(lost_, true))
        return;
    say("lost " + in_quotes(key) + ": " + why.message());
    // Another owner may hold the lock now. The command gets the usual time between TERM and KILL,
    // but no more than was left.
    const clock::time_point now = clock::now();
    const clock::time_point kill_at = std::min(
        page_.get().kill_at, now + (settings_.term_before - settings_.kill_before));
    page_.set({now, kill_at});
    guardian_.link().check();
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
        owners.append(end_of_last).append(held.share_owner().to_string());
    }
    return {"LEASEHOLD_KEY=" + keys, "LEASEHOLD_FENCE=" + fences, "LEASEHOLD_OWNER=" + owners,
            "LEASEHOLD_URL=" + settings_.url};
}

int supervisor::exit_code_of_unended(std::size_t processes)
{
    say("processes that cannot be signalled still run without the locks: " +
        std::to_string(processes));
    return not_ended;
}

int supervisor::exit_code_of(const outcome& result) const
{
    if (result.unended != 0)
        return exit_code_of_unended(result.unended);
    if (result.how == outcome::kind::not_started) {
        say(settings_.command.front() + ": " + std::generic_category().message(result.error));
        return exit_code_of_start(result.error);
    }
    if (result.remainder != 0)
        say("ended processes that the command left behind: " + std::to_string(result.remainder));
    if ((result.late || overdue_) && !lost_)
        say("not renewed in time; the command was ended before the lease expired");
    return result.late || overdue_ || lost_ ? lost : result.exit_code;
}

} // namespace leasehold::tool
