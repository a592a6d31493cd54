#include "trace_command.hpp"

#include "exit_code.hpp"
#include "failures.hpp"
#include "interruption.hpp"
#include "lock_tracer.hpp"
#include "locks/lock_command.hpp"
#include "pause.hpp"
#include "terminal.hpp"
#include "trace_page.hpp"
#include "trace_text.hpp"
#include "url_option.hpp"
#include "values.hpp"

#include <leasehold/error.hpp>

#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace leasehold::tool {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr char trace_about[] =
    R"(Records the life of the locks KEY... until INT, TERM or HUP: a line for each
change of the holder, the queue, and the deadline. It waits for a lock that no
owner holds. It changes nothing. --html draws the trace.

  free, held       the state at the first read
  taken            a free lock has a holder
  passed           another owner holds it: it was granted to a waiter, or it was
                   released and acquired between two reads
  renewed          its deadline has moved; also when the client of a waiter
                   confirms the grant
  reentered        the number of acquisitions of its owner has changed
  freed            gone before its deadline: released, broken or deleted
  expired          gone, and the deadline of the last read has passed
  gone             gone while the server could not be read
  queued, left     a waiter is in the queue; a waiter is no longer in it, and was
                   not seen as the holder
  absent, present  the presence of a waiter has expired; it is present again
  waiters          the number of waiters, where they are in no queue
  members          the number of members of a quorum that have the lock
  silent, heard    see 'leasehold ls --help'
  unreachable, reachable  the lock cannot be read, usually because its server is
                   down; it can be read again

The locks are read at each interval. Changes between two reads are not seen, and
cannot be counted: fencing tokens are granted in blocks, and one counter may
serve many locks, so they do not give the number of holders in between. A lock
that passes between waiters of one client, without the server, keeps its owner.
A line has the time of the read that saw the change. If the previous read was
much earlier, its time follows. A fencing token is shown as an upper bound. It
is unknown at the first read of a holder, which may draw its token afterwards.
)";

constexpr char trace_notes[] = R"(Exit code: 0, or
  2    an argument is invalid, or a KEY is not a lock
  70   the output or the page cannot be written
  75   a lock was held at the end of --for, with --until-free
  77   at the beginning, a server cannot be reached, or rejects a command
)";

class trace_command final : public lock_command
{
public:
    trace_command()
        : lock_command("trace [OPTION...] KEY...", trace_about,
                       "Print an object for each event, one per line.")
    {
        options().value("--every", "TIME", "Interval between two reads (50ms).",
                        [this](std::string_view value) { every_ = read_duration(value); });
        options().value("--for", "TIME", "End this time after the first read.",
                        [this](std::string_view value) { limit_ = read_duration(value); });
        options().flag("--until-free", "End when no owner holds any of the locks.", until_free_);
        options().value("--html", "FILE",
                        "At the end, draw the trace: a page for a browser, in one file.",
                        [this](std::string_view value) { file_ = value; });
        options().notes(trace_notes);
    }

    int run(const command_line::words& given) override;

private:
    void read_names(const command_line::words& given);
    void follow();
    void start_limit();
    void read(lock_admin& locks, lock_tracer& of, const std::string& name);
    void report(const std::vector<trace_event>& events);
    [[nodiscard]] bool all_free() const;

    std::vector<std::string> names_;
    milliseconds every_{50};
    std::optional<milliseconds> limit_;
    bool until_free_ = false;
    std::string file_;

    std::vector<lock_tracer> tracers_; ///< In the order of the names.
    std::optional<trace_page> page_;
    bool was_read_ = false; ///< All locks, once.
    boost::asio::steady_timer end_{context_};
    bool over_ = false; ///< The time of --for has passed.
};

trace_event::wall_time wall_now()
{
    return std::chrono::floor<milliseconds>(std::chrono::system_clock::now());
}

void trace_command::read_names(const command_line::words& given)
{
    if (given.arguments.empty())
        throw usage_error("KEY is missing");
    if (!given.command.empty())
        throw usage_error("there is a command; this command runs none");
    for (const std::string& each : given.arguments) {
        if (each.empty())
            throw usage_error("KEY is ''; it must be the name of a lock");
        if (std::find(names_.begin(), names_.end(), each) == names_.end())
            names_.push_back(each);
    }
    if (every_ < milliseconds(10))
        throw usage_error("--every is " + to_text(every_) + "; it must be 10ms or more");
}

int trace_command::run(const command_line::words& given)
{
    read_names(given);
    check_url(url());
    if (!file_.empty()) {
        if (!std::ofstream(file_, std::ios::app)) // before the trace, not after it
            throw std::system_error(errno, std::generic_category(), "cannot write " + file_);
        page_.emplace(names_, servers_of(url()), every_, wall_now());
    }
    boost::asio::signal_set ends(context_, SIGINT, SIGTERM, SIGHUP);
    ends.async_wait([this](error_code failed, int) {
        if (!failed)
            interrupt(context_);
    });
    // If the reader of the output has ended, the write fails instead.
    std::signal(SIGPIPE, SIG_IGN);
    try {
        follow();
    }
    catch (const interrupted&) {
    }
    catch (const std::system_error& failed) {
        if (failed.code() != std::errc::broken_pipe) // its reader has ended
            throw;
    }
    if (page_)
        page_->write(file_, wall_now());
    return over_ && until_free_ && !all_free() ? busy : success;
}

void trace_command::follow()
{
    const std::unique_ptr<lock_admin> locks = open();
    for (const std::string& each : names_)
        tracers_.emplace_back(each);
    for (;; rest(context_, every_)) {
        for (std::size_t i = 0; i < names_.size(); ++i)
            read(*locks, tracers_[i], names_[i]);
        if (!std::exchange(was_read_, true))
            start_limit();
        if (until_free_ && all_free())
            return;
    }
}

/// Starts the time of --for.
void trace_command::start_limit()
{
    if (!limit_)
        return;
    end_.expires_after(*limit_);
    end_.async_wait([this](error_code failed) {
        if (failed)
            return;
        over_ = true;
        interrupt(context_);
    });
}

void trace_command::read(lock_admin& locks, lock_tracer& of, const std::string& name)
{
    lock_tracer::read_time when{steady_clock::now(), {}, {}};
    const auto ended = [&] {
        when.end = steady_clock::now();
        when.wall = wall_now();
        return when;
    };
    const auto failed = [&](const std::exception& error) {
        if (!was_read_)
            throw; // a wrong URL is reported at once
        report(of.fail(error.what(), ended()));
    };
    try {
        const std::optional<lock_state> found = locks.read(name);
        report(of.take(found, ended()));
    }
    catch (const unreachable& error) {
        failed(error);
    }
    catch (const refused& error) {
        failed(error);
    }
    catch (const usage_error& error) { // the key is not a lock any more
        failed(error);
    }
}

void trace_command::report(const std::vector<trace_event>& events)
{
    std::string text;
    for (const trace_event& each : events) {
        text.append(json() ? json_of(each) : line_of(each, every_)).append("\n");
        if (page_)
            page_->add(each);
    }
    print(text);
}

bool trace_command::all_free() const
{
    return !tracers_.empty() &&
           std::none_of(tracers_.begin(), tracers_.end(), [](const lock_tracer& each) {
               return each.is_held() || each.is_unknown();
           });
}

} // namespace

std::unique_ptr<command> make_trace_command()
{
    return std::make_unique<trace_command>();
}

} // namespace leasehold::tool
