#include "run_command.hpp"

#include "../command_line.hpp"
#include "../exit_code.hpp"
#include "../url_option.hpp"
#include "../values.hpp"
#include "guardian.hpp"
#include "run_settings.hpp"
#include "supervisor.hpp"

#include <leasehold/options.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace leasehold::tool {
namespace {

using std::chrono::milliseconds;

constexpr char about[] = R"(Runs COMMAND while it holds the locks KEY..., and releases them
when COMMAND and all processes that it started have ended.

It sets LEASEHOLD_KEY, LEASEHOLD_FENCE, LEASEHOLD_OWNER and LEASEHOLD_URL in the
environment of the command; for several keys, one line each. Send the fencing
token LEASEHOLD_FENCE with each write, and have the resource reject a token
smaller than the largest it has seen. The signals INT, TERM, HUP, QUIT, USR1,
USR2 and WINCH are forwarded to the command. INT, TERM, HUP and QUIT end the
wait for the locks.

The locks are renewed while the command runs. If a renewal is not possible, the
command and all processes that it started get TERM, then KILL, before the lease
expires, in any process group and session. A second process sends the signals,
even if this one is stopped.

'leasehold ls' shows the name of the command as the program of the holder; for a
shell command line, that of its first command.
)";

constexpr char notes[] = R"(The command runs in its own process group. It gets the foreground of the
terminal when it reads from it. TERM, INT, HUP and QUIT also reach a stopped
command. A process of another user, for example started by sudo, cannot be
ended: it is reported, and may outlive the lock.

If the store does not answer when the command has ended, the release is retried
until the lease ends or a signal arrives. INT, TERM, HUP and QUIT also end the
time of --hold-at-least.

Exit code: that of the command (128 plus the signal that ended it), or
  2    an argument is invalid, or KEY is not a lock
  70   the second process was ended from outside, and so was the command
  75   another owner holds the lock
  76   the lock was lost while the command ran
  77   the store cannot be reached, or rejects a command
  78   a process of another user still runs without the lock
  126  the command cannot be executed
  127  the command was not found
)";

const char* variable(const char* name)
{
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

std::vector<std::string> lines_of(std::string_view text)
{
    std::vector<std::string> lines;
    for (std::size_t end = 0; end != std::string_view::npos;) {
        end = text.find('\n');
        lines.emplace_back(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return lines;
}

/// Reads the owners of the keys from the environment.
std::map<std::string, owner> owners_around(const std::vector<std::string>& keys)
{
    const std::vector<std::string> names = keys.size() == 1 && keys[0] == variable("LEASEHOLD_KEY")
                                               ? keys
                                               : lines_of(variable("LEASEHOLD_KEY"));
    const std::vector<std::string> owners = lines_of(variable("LEASEHOLD_OWNER"));
    std::map<std::string, owner> found;
    for (std::size_t i = 0; i < names.size() && i < owners.size(); ++i) {
        if (std::find(keys.begin(), keys.end(), names[i]) != keys.end())
            found.emplace(names[i], owner::from_string(owners[i]));
    }
    if (found.size() != keys.size())
        throw usage_error("--reenter needs LEASEHOLD_KEY and LEASEHOLD_OWNER of a 'leasehold run' "
                          "in the environment, with every KEY in them");
    return found;
}

/// Returns the part after the last slash.
std::string base_name(std::string_view path)
{
    return std::string(path.substr(path.rfind('/') + 1));
}

/// Returns the first command of a shell command line, if it can be found without a shell.
std::string first_command(std::string_view line)
{
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                       "0123456789_-+.,:@%/=";
    for (;;) {
        line.remove_prefix(std::min(line.find_first_not_of(" \t\n"), line.size()));
        const std::string_view word = line.substr(0, line.find_first_of(" \t\n;&|<>()"));
        const std::string name = base_name(word);
        if (name.empty() || word.find_first_not_of(plain) != word.npos)
            return "sh";
        if (word.find('=') == word.npos)
            return name;
        line.remove_prefix(word.size()); // a variable for the command
    }
}

/// Makes the clients of this process report the name of the command instead of "leasehold".
/// @param name Outlives the clients.
void be_known_as([[maybe_unused]] std::string& name)
{
#if defined(__GLIBC__)
    if (!name.empty())
        ::program_invocation_short_name = name.data();
#endif
}

void check(const run_settings& settings)
{
    if (settings.keys.empty())
        throw usage_error("KEY is missing");
    if (settings.command.empty())
        throw usage_error("the command is missing: -- COMMAND [ARGUMENT...]");
    for (std::size_t i = 0; i < settings.keys.size(); ++i) {
        const std::string& key = settings.keys[i];
        if (std::count(settings.keys.begin(), settings.keys.end(), key) > 1)
            throw usage_error("KEY '" + key + "' is given twice; each KEY is allowed once");
        if (settings.keys.size() > 1 && key.find('\n') != std::string::npos)
            throw usage_error("a KEY contains a line feed; such a KEY is allowed only alone");
    }
    // Checks the limits of the library, and the URL, before a process is created.
    lock_options options;
    options.lease_time = settings.lease_time;
    options.validate();
    check_url(settings.url);
    if (settings.kill_before >= settings.term_before)
        throw usage_error("--kill-before is " + to_text(settings.kill_before) +
                          "; it must be shorter than --term-before, " +
                          to_text(settings.term_before));
    // TERM must be later than the first renewal, or it ends every command.
    if (settings.term_before > settings.lease_time / 2)
        throw usage_error("--term-before is " + to_text(settings.term_before) +
                          "; it must be at most half of --lease, " + to_text(settings.lease_time));
}

supervisor::ending supervise(const run_settings& settings)
{
    deadline_page page;
    const guardian watching(page, settings.command);
    return supervisor(settings, page, watching).run();
}

class run_command final : public command
{
public:
    run_command() : command("run [OPTION...] KEY... -- COMMAND [ARGUMENT...]", about)
    {
        settings_.lease_time = milliseconds(15'000);
        declare_url(options(), settings_.url);
        options().value(
            "--lease", "TIME",
            "The lease time: the locks expire this long after a crash\n"
            "(15s).",
            [this](std::string_view value) { settings_.lease_time = read_duration(value); });
        options().value("--wait", "TIME", "Limit of the wait for the locks (none).",
                        [this](std::string_view value) { settings_.wait = read_duration(value); });
        options().flag("--no-wait", "Try once.", no_wait_);
        options().value(
            "--hold-at-least", "TIME",
            "Hold the locks for this time, even if the command ends sooner,\n"
            "so that a machine with a late clock does not run it again (0).",
            [this](std::string_view value) { settings_.hold_at_least = read_duration(value); });
        options().value("--term-before", "SHARE",
                        "Send TERM to the command this long before the lease ends: a\n"
                        "time, or a part of --lease (20%).",
                        [this](std::string_view value) { term_before_ = share::read(value); });
        options().value("--kill-before", "SHARE", "The same for KILL (2%).",
                        [this](std::string_view value) { kill_before_ = share::read(value); });
        options().flag("--shell", "Run COMMAND and its arguments as one line of /bin/sh.", shell_);
        options().flag("--reenter",
                       "Acquire reentrantly the locks of the 'leasehold run' that this\n"
                       "one runs in, as given in the environment.",
                       reenter_);
        options().flag("--quiet",
                       "Do not report a long wait for the locks. Without this option,\n"
                       "the server, the cause and the holder are reported within a\n"
                       "second.",
                       settings_.quiet);
        options().flag("--verbose", "Report waits, held locks and late renewals.",
                       settings_.verbose);
        options().notes(notes);
    }

    int run(const command_line::words& given) override;

private:
    run_settings settings_;
    share term_before_{20};
    share kill_before_{2};
    bool no_wait_ = false;
    bool shell_ = false;
    bool reenter_ = false;
};

int run_command::run(const command_line::words& given)
{
    if (no_wait_ && settings_.wait)
        throw usage_error("--wait and --no-wait exclude each other");
    if (settings_.quiet && settings_.verbose)
        throw usage_error("--quiet and --verbose exclude each other");
    if (no_wait_)
        settings_.wait = milliseconds(0);
    settings_.keys = given.arguments;
    settings_.command = given.command;
    settings_.term_before = term_before_.of(settings_.lease_time);
    settings_.kill_before = kill_before_.of(settings_.lease_time);
    check(settings_);
    if (reenter_)
        settings_.owners = owners_around(settings_.keys);
    if (shell_) {
        std::string line;
        for (const std::string& each : settings_.command)
            line.append(line.empty() ? "" : " ").append(each);
        settings_.program = first_command(line);
        settings_.command = {"/bin/sh", "-c", line};
    }
    else {
        settings_.program = base_name(settings_.command.front());
    }
    be_known_as(settings_.program);

    const supervisor::ending ended = supervise(settings_);
    if (ended.signal != 0) {
        // The parent sees that the signal ended this process.
        std::raise(ended.signal);
        return ended_by_signal + ended.signal;
    }
    return ended.exit_code;
}

} // namespace

std::unique_ptr<command> make_run_command()
{
    return std::make_unique<run_command>();
}

} // namespace leasehold::tool
