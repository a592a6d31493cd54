#include "break_command.hpp"

#include "exit_code.hpp"
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
    R"(Removes the lock KEY of the owner ID, which 'leasehold inspect KEY' shows, and
wakes the next waiter. It compares and deletes in one step: if another owner
holds the lock, nothing is changed.

The holder is not asked. Its next renewal, after at most a third of its lease
time, reports the loss. Until then it may work at the same time as the next
holder, and only its fencing token protects the data. Break a lock only if the
process of its holder has certainly ended.
)";

constexpr char break_notes[] = R"(Exit code: 0, or
  1    no owner holds the lock; nothing was changed
  2    an argument is invalid, or KEY is not a lock that can be broken
  70   the output cannot be written
  75   another owner holds the lock; nothing was changed
  77   a server cannot be reached, or rejects a command
)";

const char* name_of(break_outcome result)
{
    switch (result) {
    case break_outcome::freed: return "freed";
    case break_outcome::granted_next: return "granted_next";
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
    break_command()
        : lock_command("break [OPTION...] KEY --owner ID", break_about, "Print one object.")
    {
        options().value("--owner", "ID", "The owner of the lock, in full. Required.",
                        [this](std::string_view value) { owner_ = value; });
        options().notes(break_notes);
    }

    int run(const command_line::words& given) override
    {
        const std::string& key = only_key(given);
        if (owner_.empty())
            throw usage_error("--owner is missing; 'leasehold inspect' shows it");
        const break_result done = open()->break_lock(key, owner_);
        if (json())
            print(json_of(key, done) + "\n");
        else
            notify(key, done);
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
            out.key("notified").number(static_cast<std::int64_t>(done.notified));
        if (where_is_quorum(done))
            out.key("members").number(static_cast<std::int64_t>(done.members));
        return out.end_object().str();
    }

    static bool where_is_quorum(const break_result& done)
    {
        return done.before.kind == lock_kind::quorum;
    }

    void notify(const std::string& key, const break_result& done) const
    {
        const std::string name = std::string("'").append(detail::printable(key)).append("'");
        switch (done.result) {
        case break_outcome::freed: {
            std::string text = "removed " + name + " of " + holder_text(done.before);
            if (where_is_quorum(done))
                text += ", at " + std::to_string(done.members) + " members";
            text += done.notified > 0
                        ? "; it is free; notified " + std::to_string(done.notified) +
                              (done.notified == 1 ? " waiting client" : " waiting clients")
                        : std::string("; it is free and has no waiters");
            print(text + "\n");
            return;
        }
        case break_outcome::granted_next:
            print("removed " + name + " of " + holder_text(done.before) +
                  "; the next waiter holds it" +
                  (done.next.empty() ? std::string() : ", " + detail::printable(done.next)) + "\n");
            return;
        case break_outcome::not_held:
            say("no owner holds " + name + "; nothing was changed");
            return;
        case break_outcome::other_owner:
            say("another owner holds " + name + ", " + holder_text(done.before) +
                "; nothing was changed");
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
