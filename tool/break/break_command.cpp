#include "break_command.hpp"

#include "exit_code.hpp"
#include "locks/lock_breaker.hpp"
#include "locks/lock_command.hpp"
#include "locks/lock_text.hpp"
#include "message.hpp"
#include "terminal.hpp"

#include "base/printable.hpp"

#include <string_view>

namespace leasehold::tool {
namespace {

using break_outcome = break_result::outcome;

constexpr char break_about[] =
    R"(Takes the lock KEY away from the owner ID, as 'leasehold inspect KEY' shows it,
and wakes the next who waits. Compared and deleted in one step: when another
owner has the lock by then, nothing is touched.

The holder is not asked. It finds out at its next renewal, a third of its lease
time later at most, and may go on working until then, while the next one works
as well: what it writes has to be refused by its fence. Break what a process has
left that is certainly gone.
)";

constexpr char break_notes[] = R"(Exit code: 0, or
  1    nobody holds it; nothing was touched
  2    an argument is wrong, or KEY is no lock that can be broken
  70   the output cannot be written
  75   another owner holds it; nothing was touched
  77   a server cannot be reached, or refuses
)";

const char* name_of(break_outcome result)
{
    switch (result) {
    case break_outcome::freed: return "freed";
    case break_outcome::passed_on: return "passed_on";
    case break_outcome::other_owner: return "other_owner";
    case break_outcome::not_held: break;
    }
    return "not_held";
}

std::string holder_text(const lock_state& lock)
{
    std::string text = "client ";
    text.append(lock.client.empty() ? "?" : lock.client);
    if (const std::string process = process_text(lock.info); !process.empty())
        text.append(" (").append(process).append(")");
    return text;
}

class break_command final : public lock_command
{
public:
    break_command() : lock_command("break [OPTION...] KEY --owner ID", break_about, "One object.")
    {
        options().value("--owner", "ID", "Whose lock it is, in full. Needed.",
                        [this](std::string_view value) { owner_ = value; });
        options().notes(break_notes);
    }

    int run(const command_line::words& given) override
    {
        const std::string& key = only_key(given);
        if (owner_.empty())
            throw usage_error("--owner is missing; 'leasehold inspect' shows it");
        servers where = open();
        const break_result done = break_lock(where, key, owner_);
        if (json())
            print(json_of(key, done) + "\n");
        else
            tell(key, done);
        switch (done.result) {
        case break_outcome::not_held: return not_there;
        case break_outcome::other_owner: return busy;
        default: return success;
        }
    }

private:
    [[nodiscard]] std::string json_of(const std::string& key, const break_result& done) const
    {
        json_writer out;
        out.begin_object().key("name").text(key).key("result").text(name_of(done.result));
        if (!done.before.name.empty()) {
            out.key("found");
            write_json(out, done.before);
        }
        if (!done.next.empty())
            out.key("next").text(done.next);
        if (done.before.kind != lock_kind::native)
            out.key("told").number(static_cast<std::int64_t>(done.told));
        if (where_is_quorum(done))
            out.key("members").number(static_cast<std::int64_t>(done.members));
        return out.end_object().str();
    }

    static bool where_is_quorum(const break_result& done)
    {
        return done.before.kind == lock_kind::quorum;
    }

    void tell(const std::string& key, const break_result& done) const
    {
        const std::string name = std::string("'").append(detail::printable(key)).append("'");
        switch (done.result) {
        case break_outcome::freed: {
            std::string text = "took " + name + " away from " + holder_text(done.before);
            if (where_is_quorum(done))
                text += ", at " + std::to_string(done.members) + " members";
            text += done.told > 0 ? "; it is free, and " + std::to_string(done.told) +
                                        (done.told == 1 ? " client was told" : " clients were told")
                                  : std::string("; it is free, and nobody waits for it");
            print(text + "\n");
            return;
        }
        case break_outcome::passed_on:
            print("took " + name + " away from " + holder_text(done.before) +
                  "; the next in line has it" +
                  (done.next.empty() ? std::string() : ", " + detail::printable(done.next)) + "\n");
            return;
        case break_outcome::not_held: say("nobody holds " + name + "; nothing was touched"); return;
        case break_outcome::other_owner:
            say("another owner holds " + name + ", " + holder_text(done.before) +
                "; nothing was touched");
            return;
        }
    }

    std::string owner_;
};

} // namespace

std::unique_ptr<command> make_break_command()
{
    return std::make_unique<break_command>();
}

} // namespace leasehold::tool
