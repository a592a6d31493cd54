#include "inspect_command.hpp"

#include "exit_code.hpp"
#include "locks/lock_command.hpp"
#include "locks/lock_text.hpp"
#include "message.hpp"
#include "terminal.hpp"

namespace leasehold::tool {
namespace {

constexpr char inspect_about[] =
    R"(Shows the lock KEY: its owner, the process of the owner and its start time, the
time left, and the queue of waiters. If the holder sends heartbeats
(dead_holder_grace), it shows the time since the last one. It changes nothing.

The owner is shown in full. With this text the lock can be acquired or broken.
)";

constexpr char inspect_notes[] = R"(Exit code: 0, or
  1    no owner holds the lock
  2    an argument is invalid, or KEY is not a lock
  70   the output cannot be written
  77   a server cannot be reached, or rejects a command
)";

class inspect_command final : public lock_command
{
public:
    inspect_command()
        : lock_command("inspect [OPTION...] KEY", inspect_about,
                       "Print one object; null if no owner holds the lock.")
    {
        options().notes(inspect_notes);
    }

    int run(const command_line::words& given) override
    {
        const std::string& key = only_key(given);
        const auto lock = open()->read(key);
        if (json()) {
            json_writer out;
            if (lock)
                write_json(out, *lock);
            else
                out.null();
            print(out.str() + "\n");
        }
        else if (lock) {
            print(lock_details(*lock));
        }
        else {
            say("no owner holds '" + key + "'");
        }
        return lock ? success : not_there;
    }
};

} // namespace

std::unique_ptr<command> make_inspect_command()
{
    return std::make_unique<inspect_command>();
}

} // namespace leasehold::tool
