#include "watch_command.hpp"

#include "exit_code.hpp"
#include "failures.hpp"
#include "full_screen.hpp"
#include "interruption.hpp"
#include "lock_changes.hpp"
#include "locks/lock_command.hpp"
#include "locks/lock_text.hpp"
#include "message.hpp"
#include "pause.hpp"
#include "terminal.hpp"
#include "values.hpp"

#include "base/printable.hpp"

#include <leasehold/error.hpp>

#include <boost/asio/signal_set.hpp>

#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>

namespace leasehold::tool {
namespace {

using std::chrono::milliseconds;

// The part of the interval in which new locks are searched.
constexpr int search_share = 10;

constexpr char watch_about[] =
    R"(Shows changes of locks until INT, TERM or HUP. On a terminal it shows a table.
Otherwise it prints a line for each lock that is held, taken, passed to another
owner, or freed, and if its holder becomes silent or is heard again. For PATTERN
and silent holders see 'leasehold ls --help'.

It first reads all keys of a Redis server. Then it reads the locks that it
knows at each interval, and looks for new ones in steps of a thousand keys, for
a tenth of the interval: this takes at most a tenth of the time of the server,
and a step. So among many keys a new lock is shown later, after several
intervals. Other stores list all locks each time. A lock that is acquired and
released between two reads is not seen. An unreachable server is reported and
retried.
)";

constexpr char watch_notes[] = R"(Exit code: 0, or
  2    an argument is invalid
  70   the output cannot be written
  77   no server could be reached
)";

class watch_command final : public lock_command
{
public:
    watch_command()
        : lock_command("watch [OPTION...] [PATTERN]", watch_about,
                       "Print an object for each change, one per line.")
    {
        options().value("--every", "TIME", "Interval between two reads (1s).",
                        [this](std::string_view value) { pause_ = read_duration(value); });
        options().notes(watch_notes);
    }

    int run(const command_line::words& given) override;

private:
    lock_list next(lock_admin& locks) { return locks.list_again(names_, pause_ / search_share); }
    void show(const lock_list& seen);
    void print_changes(const lock_list& seen);

    std::string names_;
    milliseconds pause_{1'000};
    std::optional<full_screen> screen_;
    lock_changes changes_;
    std::vector<std::string> problems_; ///< The last that were reported.
};

int watch_command::run(const command_line::words& given)
{
    names_ = pattern(given);
    if (pause_ < milliseconds(10))
        throw usage_error("--every is " + to_text(pause_) + "; it must be 10ms or more");
    boost::asio::signal_set ends(context_, SIGINT, SIGTERM, SIGHUP);
    ends.async_wait([this](error_code failed, int) {
        if (!failed)
            interrupt(context_);
    });
    // If the reader of the output has ended, the write fails instead.
    std::signal(SIGPIPE, SIG_IGN);
    try {
        const std::unique_ptr<lock_admin> locks = open();
        lock_list seen = next(*locks);
        if (!seen.complete && seen.locks.empty() && !seen.problems.empty())
            throw unreachable(seen.problems.front()); // a wrong URL is reported at once
        if (!json() && writes_to_terminal())
            screen_.emplace();
        for (;; seen = next(*locks)) {
            screen_ ? show(seen) : print_changes(seen);
            rest(context_, pause_);
        }
    }
    catch (const interrupted&) {
    }
    catch (const std::system_error& failed) {
        if (failed.code() != std::errc::broken_pipe) // its reader has ended
            throw;
    }
    screen_.reset();
    return success;
}

void watch_command::show(const lock_list& seen)
{
    const terminal_size size = size_of_terminal();
    const auto now = std::chrono::floor<milliseconds>(std::chrono::system_clock::now());
    std::string head = std::to_string(seen.locks.size()) +
                       (seen.locks.size() == 1 ? " lock" : " locks") + ", " + time_text(now) +
                       ", every " + to_text(pause_);
    std::vector<std::string> lines{fit(head, size.columns)};
    for (const std::string& each : seen.problems)
        lines.push_back(bold(fit(detail::printable(each), size.columns), writes_colour()));
    lines.emplace_back();
    const auto table = lock_table(seen.locks, size.columns);
    for (std::size_t i = 0; i < table.size(); ++i)
        lines.push_back(i == 0 ? bold(table[i], writes_colour()) : table[i]);
    screen_->show(lines);
}

void watch_command::print_changes(const lock_list& seen)
{
    const auto now = std::chrono::floor<milliseconds>(std::chrono::system_clock::now());
    std::string text;
    for (const lock_change& each : changes_.update(seen.locks, seen.complete)) {
        if (json()) {
            json_writer out;
            out.begin_object().key("time").text(time_text(now));
            out.key("event").text(name_of(each.what)).key("lock");
            write_json(out, each.lock);
            text.append(out.end_object().str()).append("\n");
            continue;
        }
        text.append(time_text(now)).append(" ").append(name_of(each.what)).append(" ");
        text.append(detail::printable(each.lock.name));
        if (!each.lock.client.empty())
            text.append(" by ").append(each.lock.client);
        if (const std::string process = process_text(each.lock.info); !process.empty())
            text.append(" (").append(process).append(")");
        if (const std::string silent = silent_text(each.lock); !silent.empty())
            text.append(", ").append(silent);
        text.append("\n");
    }
    if (seen.problems != problems_) {
        for (const std::string& each : seen.problems)
            say(each);
        if (seen.problems.empty())
            say("all servers can be reached again");
        problems_ = seen.problems;
    }
    print(text);
}

} // namespace

std::unique_ptr<command> make_watch_command()
{
    return std::make_unique<watch_command>();
}

} // namespace leasehold::tool
