#include "ls_command.hpp"

#include "exit_code.hpp"
#include "locks/lock_command.hpp"
#include "locks/lock_reader.hpp"
#include "locks/lock_text.hpp"
#include "message.hpp"
#include "terminal.hpp"

namespace leasehold::tool {
namespace {

constexpr char ls_about[] =
    R"(Lists the locks that are held, of every layout, and changes nothing. A lock of
another library that keeps a text of its own under the name looks like any other
key: it is not listed, but shown by 'leasehold inspect KEY'.

PATTERN is a glob of Redis over their names: *, ?, [abc], and \ before one of
these; quote it.

SINCE is when the holder's client began: when a lock was taken is not kept.
FENCE<= is a bound: which fence it has the holder alone knows. A dash stands
for what is not known: clients of other libraries, or with client_info=off, do
not say who they are. The servers are read piece by piece with SCAN: a
lock that is taken or left meanwhile may be missing.

A holder is shown as silent that has promised signs of life (dead_holder_grace)
and has missed some: most likely its process is gone, stopped or cut off. Of
holders without that promise nothing is known.
)";

constexpr char ls_notes[] = R"(Exit code: 0, also when there is no lock, or
  2    an argument is wrong
  70   the output cannot be written
  77   a server cannot be reached, or refuses: locks may be missing
)";

class ls_command final : public lock_command
{
public:
    ls_command()
        : lock_command("ls [OPTION...] [PATTERN]", ls_about,
                       "An array with an object for "
                       "each lock.")
    {
        options().notes(ls_notes);
    }

    int run(const command_line::words& given) override
    {
        const std::string names = pattern(given);
        servers where = open();
        const lock_list all = lock_reader(where).list(names);
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
            say("no lock is held" + (names == "*" ? std::string() : " that '" + names + "' names"));
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
