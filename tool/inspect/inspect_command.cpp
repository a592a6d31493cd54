#include "inspect_command.hpp"

#include "exit_code.hpp"
#include "locks/lock_command.hpp"
#include "locks/lock_reader.hpp"
#include "locks/lock_text.hpp"
#include "message.hpp"
#include "terminal.hpp"

namespace leasehold::tool {
namespace {

constexpr char inspect_about[] =
    R"(Tells all that is known of the lock KEY, and changes nothing: who holds it,
since when that client runs, until when, and who stands in line for it; and where
the holder has promised signs of life (dead_holder_grace), when the last one came.

The owner is shown in full. Whoever knows it can enter the lock, and break it.
)";

constexpr char inspect_notes[] = R"(Exit code: 0, or
  1    nobody holds it
  2    an argument is wrong, or KEY is no lock
  70   the output cannot be written
  77   a server cannot be reached, or refuses
)";

class inspect_command final : public lock_command
{
public:
    inspect_command()
        : lock_command("inspect [OPTION...] KEY", inspect_about,
                       "One object; null: nobody "
                       "holds it.")
    {
        options().notes(inspect_notes);
    }

    int run(const command_line::words& given) override
    {
        const std::string& key = only_key(given);
        servers where = open();
        const auto lock = lock_reader(where).look(key);
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
            say("nobody holds '" + key + "'");
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
