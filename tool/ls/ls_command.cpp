#include "ls_command.hpp"

#include "exit_code.hpp"
#include "locks/lock_command.hpp"
#include "locks/lock_text.hpp"
#include "message.hpp"
#include "terminal.hpp"

namespace leasehold::tool {
namespace {

constexpr char ls_about[] =
    R"(Lists the held locks of all layouts, and changes nothing. Some other libraries
store a lock as a plain string, which looks like any other key. Such a lock is
not listed; 'leasehold inspect KEY' shows it.

PATTERN is a glob of Redis over the names: *, ?, [abc], and \ before one of
these. Quote it.

SINCE is the start time of the holder's client; the store does not keep the
time of the acquire. FENCE<= is an upper bound; only the holder knows its
fencing token. A dash means unknown: clients of other libraries, or with
client_info=off, store no details. Redis is read in steps with SCAN, so a lock
that is acquired or released meanwhile may be missing.

A holder is shown as silent if it sends heartbeats (dead_holder_grace) and has
missed some: most likely its process is gone, stopped or disconnected. Holders
without heartbeats are never shown as silent.
)";

constexpr char ls_notes[] = R"(Exit code: 0, also if no lock is held, or
  2    an argument is invalid
  70   the output cannot be written
  77   a server cannot be reached, or rejects a command: locks may be missing
)";

class ls_command final : public lock_command
{
public:
    ls_command()
        : lock_command("ls [OPTION...] [PATTERN]", ls_about,
                       "Print an array with an object for each lock.")
    {
        options().notes(ls_notes);
    }

    int run(const command_line::words& given) override
    {
        const std::string names = pattern(given);
        const lock_list all = open()->list(names);
        std::string text;
        if (json()) {
            json_writer out;
            out.begin_array();
            for (const lock_state& each : all.locks)
                write_json(out, each);
            out.end_array();
            text = out.str() + "\n";
        }
        else if (!all.locks.empty()) {
            const bool terminal = writes_to_terminal();
            const auto lines = lock_table(all.locks, terminal ? size_of_terminal().columns : 0);
            text = bold(lines.front(), writes_colour()) + "\n";
            for (std::size_t i = 1; i < lines.size(); ++i)
                text.append(lines[i]).append("\n");
        }
        print(text);
        if (all.locks.empty() && all.problems.empty() && !json())
            say("no lock is held" +
                (names == "*" ? std::string() : " that matches '" + names + "'"));
        for (const std::string& each : all.problems)
            say(each);
        return all.complete ? success : store_unavailable;
    }
};

} // namespace

std::unique_ptr<command> make_ls_command()
{
    return std::make_unique<ls_command>();
}

} // namespace leasehold::tool
