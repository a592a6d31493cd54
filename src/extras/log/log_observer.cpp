#include <leasehold/log_observer.hpp>

#include "base/printable.hpp"
#include "extras/log/line_limit.hpp"

#include <leasehold/clock.hpp>

#include <algorithm>
#include <cstdio>
#include <set>
#include <string>
#include <utility>

#if defined(__unix__) || defined(__APPLE__)
#include <poll.h>
#include <unistd.h>
#endif

namespace leasehold {
namespace {

using std::chrono::milliseconds;

// A pipe takes a write of this size whole or not at all.
constexpr std::size_t longest_queue = 4096;

/// Writes the line in one piece, so that lines of several threads do not mix.
void write_to_stderr(std::string_view line)
{
    std::string text = "leasehold: ";
    text.append(line.substr(0, longest_queue - text.size() - 1)).append("\n");
#if defined(__unix__) || defined(__APPLE__)
    // A full pipe would block the renewals. A closed one would send SIGPIPE.
    pollfd place{STDERR_FILENO, POLLOUT, 0};
    if (::poll(&place, 1, 0) == 1 && place.revents == POLLOUT)
        static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size()));
#else
    std::fwrite(text.data(), 1, text.size(), stderr);
#endif
}

/// "340 ms", "3.2 s"
std::string text_of(std::chrono::nanoseconds time)
{
    const auto ms = std::chrono::duration_cast<milliseconds>(time).count();
    if (ms < 1000)
        return std::to_string(ms) + " ms";
    const auto tenths = (ms + 50) / 100;
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

std::string lock_text(std::string_view name)
{
    return "lock '" + detail::printable(name) + "'";
}

/// The details without what the line says itself.
std::string text_of(const diagnostics& details, bool with_key)
{
    diagnostics shown = details;
    shown.waited = {};
    shown.attempts = 0;
    if (!with_key)
        shown.key.clear();
    return shown.to_string();
}

std::string with_cause(std::string details, error_code why)
{
    return details.append(details.empty() ? "" : ": ").append(why.message());
}

} // namespace

struct log_observer::state
{
    explicit state(sink to) : write(std::move(to)) {}

    /// Writes a line that belongs to one which was written.
    void follow(const std::string& line) { write(line); }

    /// Returns whether the line was written.
    bool line(std::string_view topic, const std::string& text)
    {
        switch (limit.judge(topic, clock::now())) {
        case detail::line_limit::verdict::write: write(text); return true;
        case detail::line_limit::verdict::last:
            write("more problems; the next lines are left out for up to a minute");
            return false;
        default: return false;
        }
    }

    /// A problem of the connection, in one line for its cause.
    void trouble(error_code why, const std::string& text)
    {
        if (line("store " + text, text))
            reported_trouble = true;
        last_error = why;
    }

    /// Calls `f`, and ignores its exceptions: a missing line does no harm.
    template <class F>
    void attempt(F f) noexcept
    {
        if (!write)
            return;
        try {
            f();
        }
        catch (...) {
        }
    }

    const sink write;
    detail::line_limit limit;
    std::set<std::string, std::less<>> waits; ///< The names whose long wait was written.
    error_code last_error{};                  ///< The last one since a connection.
    clock::time_point down_since{};           ///< The epoch: not down.
    bool reported_trouble = false;            ///< A line was written since then.
    bool was_connected = false;
    bool reported_unused = false;
};

log_observer::log_observer() : log_observer(sink(&write_to_stderr)) {}
log_observer::log_observer(sink to) : state_(std::make_unique<state>(std::move(to))) {}
log_observer::~log_observer() = default;

void log_observer::long_wait(std::string_view name, error_code why, duration waited,
                             milliseconds remaining, const diagnostics& details) noexcept
{
    state_->attempt([&] {
        const bool held = why == errc::held;
        std::string text = "waiting for " + lock_text(name) + " since " + text_of(waited) + ": ";
        text += with_cause(text_of(details, false), why);
        if (held && remaining.count() < 0)
            text += ", and it never expires";
        else if (held && remaining.count() > 0)
            text += ", and its lease ends in " + text_of(remaining) + " unless renewed";
        // An unreachable server makes many locks wait, and one line says it.
        const std::string topic = held ? "wait " + std::string(name) + " " + details.holder
                                       : "wait, " + with_cause(details.server, why);
        if (state_->line(topic, text))
            state_->waits.emplace(name);
    });
}

void log_observer::long_wait_ended(std::string_view name, error_code why, duration waited) noexcept
{
    state_->attempt([&] {
        const auto written = state_->waits.find(name);
        if (written == state_->waits.end())
            return;
        state_->waits.erase(written);
        state_->follow(why ? "the wait for " + lock_text(name) + " ended without it after " +
                                 text_of(waited) + ": " + why.message()
                           : lock_text(name) + " acquired after " + text_of(waited));
    });
}

void log_observer::suspect_expiry(std::string_view name, milliseconds remaining) noexcept
{
    state_->attempt([&] {
        state_->line("expiry " + std::string(name),
                     lock_text(name) + ": its TTL of " + text_of(remaining) +
                         " does not decrease, or is too long; the server's clock may have "
                         "stepped back");
    });
}

void log_observer::renewal_late(std::string_view name, std::uint64_t fence, error_code why,
                                duration left) noexcept
{
    state_->attempt([&] {
        state_->line("late " + std::string(name),
                     lock_text(name) + ", fencing token " + std::to_string(fence) +
                         ": not renewed yet, " + text_of(std::max(left, duration::zero())) +
                         " left: " + why.message());
    });
}

void log_observer::lost(std::string_view name, std::uint64_t fence, duration held,
                        error_code reason, const diagnostics& details) noexcept
{
    if (reason == errc::shut_down) // the program stops the client
        return;
    state_->attempt([&] {
        state_->line("lost " + std::string(name), "LOST " + lock_text(name) + ", fencing token " +
                                                      std::to_string(fence) + ", held for " +
                                                      text_of(held) + ": " +
                                                      with_cause(text_of(details, false), reason));
    });
}

void log_observer::unused(std::string_view name, std::uint64_t, duration held) noexcept
{
    state_->attempt([&] {
        if (!std::exchange(state_->reported_unused, true))
            state_->line("unused", lock_text(name) + " was released after " + text_of(held) +
                                       ", and its lease was never used: keep the lease in a "
                                       "variable, as in 'auto lease = co_await m.async_lock();'");
    });
}

void log_observer::connected() noexcept
{
    state_->attempt([&] {
        const auto since = std::exchange(state_->down_since, {});
        const bool again = std::exchange(state_->was_connected, true);
        state_->last_error = {};
        if (std::exchange(state_->reported_trouble, false) && since != clock::time_point())
            state_->follow(
                (again ? "connected to the store again after " : "connected to the store after ") +
                text_of(clock::now() - since));
    });
}

void log_observer::store_error(error_code code, const diagnostics& details) noexcept
{
    state_->attempt([&] { state_->trouble(code, with_cause(text_of(details, true), code)); });
}

void log_observer::disconnected(error_code why) noexcept
{
    state_->attempt([&] {
        if (state_->down_since == clock::time_point())
            state_->down_since = clock::now();
        if (state_->last_error != why) // otherwise `store_error` has reported more
            state_->trouble(why, "no connection to the store: " + why.message());
    });
}

std::shared_ptr<observer> log_to_stderr()
{
    return std::make_shared<log_observer>();
}

} // namespace leasehold
