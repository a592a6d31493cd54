#include "lock_breaker.hpp"

#include "lock_keys.hpp"
#include "lock_reader.hpp"

#include "command_line.hpp"

#include "redis/protocol/key_names.hpp"
#include "redis/protocol/script.hpp"
#include "redis/protocol/slot.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace leasehold::tool {
namespace {

namespace native = redis_store::native;
using break_outcome = break_result::outcome;

// The owner may acquire reentrantly while the lock is broken; this limits the retries.
constexpr int most_leaves = 10'000;
// A reentrant acquisition may be released between two steps, but not each time.
constexpr int most_misses = 3;

command_words eval(const redis_store::script& called, const std::vector<std::string>& keys,
                   const std::vector<std::string>& arguments)
{
    command_words words{"EVAL", std::string(called.text), std::to_string(keys.size())};
    words.insert(words.end(), keys.begin(), keys.end());
    words.insert(words.end(), arguments.begin(), arguments.end());
    return words;
}

/// Returns the reply, and throws if it is an error other than WRONGTYPE.
/// @throws refused
resp_value allowed(resp_value answer)
{
    if (answer.is_refusal())
        throw refused("the server rejects breaking the lock: " + answer.text);
    return answer;
}

[[noreturn]] void refuse_entries(const std::string& lock)
{
    throw refused("the reentrant acquisitions of '" + lock + "' are not those of its owner");
}

/// Returns a number of a script's reply, by default the first.
std::int64_t status_of(const resp_value& answer, std::size_t place = 0)
{
    if (place >= answer.items.size())
        throw refused("the reply is not that of a script");
    return answer.items[place].number;
}

/// Releases the lock for its owner, one reentrant acquisition at a time.
class native_break
{
public:
    /// @param lock The key of the lock.
    native_break(ask_server ask, const std::string& lock, native_lock_keys beside,
                 const std::string& owner)
        : ask_(std::move(ask)), lock_(lock), beside_(std::move(beside))
    {
        native::value_of(owner, value_);
    }

    void run(break_result& to)
    {
        int misses = 0;
        for (int tries = 0; tries < most_leaves && holds(); ++tries) {
            std::string entry;
            if (reentered_) {
                const resp_value entries = ask_({"HKEYS", beside_.entries});
                if (!entries.items.empty())
                    entry = entries.items[0].text;
            }
            const std::int64_t status = status_of(ask_(leave(entry)));
            if (status == 1 || status == 4) {
                to.result = status == 4 ? break_outcome::granted_next : break_outcome::freed;
                if (status == 4)
                    to.next = native::owner_of(ask_({"GET", lock_}).text);
                return;
            }
            if (status == 0 && ++misses == most_misses)
                refuse_entries(lock_);
        }
        to.result = break_outcome::not_held; // it was released or has expired
    }

private:
    bool holds()
    {
        const resp_value found = ask_({"GET", lock_});
        const bool marked = found.text.starts_with(value_ + "|");
        reentered_ = marked && found.text.find('e', value_.size()) != std::string::npos;
        return marked || found.text == value_;
    }

    [[nodiscard]] command_words leave(const std::string& entry) const
    {
        return eval(redis_store::of_native().leave,
                    {lock_, beside_.fence, beside_.queue, beside_.waiters, beside_.entries},
                    {value_, entry, "", "0", "0", "0", "0", "0", "0", "0", "0"});
    }

    ask_server ask_;
    std::string lock_, value_;
    native_lock_keys beside_;
    bool reentered_ = false; ///< The owner has acquired the lock reentrantly.
};

/// The same in the layout `redisson`, which keeps a count for the owner, and a mark for each
/// reentrant acquisition.
void break_redisson(const ask_server& ask, const std::string& name, const std::string& owner,
                    bool cluster, break_result& to)
{
    const redis_store::native_keys keys;
    std::string fence, line, waiters, channel, grants;
    redis_store::fence_key(name, fence);
    keys.queue(name, line);
    keys.waiters(name, waiters);
    redis_store::release_channel(name, channel);
    if (cluster)
        keys.grants_in(redis_store::slot_of(name), {}, grants);
    else
        keys.grants({}, grants);
    const auto leave = [&](const std::string& entry) {
        return ask(eval(redis_store::of_queue().leave, {name, fence, line, waiters},
                        {owner, entry, channel, grants, "0"}));
    };
    const std::string mark = owner + "/";
    int misses = 0;
    for (int tries = 0; tries < most_leaves; ++tries) {
        std::string entry;
        bool is_in = false;
        for (const resp_value& field : ask({"HKEYS", name}).items) {
            is_in = is_in || field.text == owner;
            if (field.text.starts_with(mark))
                entry = field.text.substr(mark.size());
        }
        if (!is_in)
            return;
        resp_value left = leave("");
        if (status_of(left) == 0 && !entry.empty()) // only reentrant acquisitions are left
            left = leave(entry);
        switch (status_of(left)) {
        case 1:
            to.result = break_outcome::freed;
            to.notified = static_cast<std::size_t>(std::max<std::int64_t>(status_of(left, 1), 0));
            return;
        case 4:
            to.result = break_outcome::granted_next;
            for (const resp_value& field : ask({"HKEYS", name}).items)
                if (field.text.find('/') == std::string::npos)
                    to.next = field.text;
            return;
        case 5: // the first waiter gets it after the turn of external clients
            to.result = break_outcome::granted_next;
            to.next = native::owner_of(ask({"LINDEX", line, "0"}).text);
            return;
        case 0:
            if (++misses == most_misses)
                refuse_entries(name);
            break;
        default: break;
        }
    }
}

} // namespace

bool break_member(const ask_server& ask, const quorum::member_keys& keys, const std::string& lock,
                  const std::string& owner, break_result& to)
{
    const std::string entries = keys.entries(lock);
    int misses = 0;
    for (int tries = 0; tries < most_leaves; ++tries) {
        if (ask({"GET", lock}).text != quorum::value_of(owner))
            return tries > 0;
        // The entries may be left of another owner; then this owner holds the lock once.
        std::string entry;
        if (ask({"HGET", entries, "owner"}).text == quorum::value_of(owner)) {
            for (const resp_value& field : ask({"HKEYS", entries}).items) {
                if (field.text.starts_with("e:"))
                    entry = field.text.substr(2);
            }
        }
        const resp_value left = ask(eval(redis_store::of_quorum().release,
                                         {lock, entries, keys.fence(lock)},
                                         {quorum::value_of(owner), entry, keys.releases(lock)}));
        if (status_of(left) == 1) {
            to.notified = std::max(to.notified, static_cast<std::size_t>(
                                                    std::max<std::int64_t>(status_of(left, 1), 0)));
            return true;
        }
        if (status_of(left) == 0 && ++misses == most_misses)
            refuse_entries(lock);
    }
    return false;
}

namespace {

break_result break_at_quorum(servers& where, const std::string& name, const std::string& owner)
{
    break_result done;
    if (auto found = lock_reader(where).read(name)) {
        done.before = std::move(*found);
        done.result = done.before.owner == owner ? break_outcome::not_held
                                                 : break_outcome::other_owner;
    }
    const std::string& prefix = where.where().prefix;
    const quorum::member_keys keys(prefix);
    // A lock at only a few members is broken as well, because it blocks other owners there.
    for (std::size_t place = 0; place < where.size(); ++place) {
        try {
            server_connection& member = where.connection(place);
            const ask_server ask = [&](const command_words& words) {
                return allowed(member.ask(words));
            };
            if (break_member(ask, keys, prefix + name, owner, done))
                ++done.members;
        }
        catch (const unreachable&) {
            // Enough members answered when the lock was read.
        }
    }
    if (done.members > 0)
        done.result = break_outcome::freed;
    return done;
}

} // namespace

break_result break_lock(servers& where, const std::string& name, const std::string& owner)
{
    if (where.is_quorum())
        return break_at_quorum(where, name, owner);
    break_result done;
    auto found = lock_reader(where).read(name);
    if (!found)
        return done;
    done.before = std::move(*found);
    if (done.before.kind == lock_kind::external || done.before.kind == lock_kind::quorum)
        throw usage_error("KEY '" + name +
                          "' is a lock of another kind; only its own client can release it");
    const std::string key = where.where().prefix + name;
    const ask_server ask = [&](const command_words& words) {
        return allowed(where.ask(key, words));
    };
    if (done.before.kind == lock_kind::redisson) {
        break_redisson(ask, name, owner, where.is_cluster(), done);
        if (done.result == break_outcome::not_held && done.before.owner != owner)
            done.result = break_outcome::other_owner;
        return done;
    }
    if (done.before.owner != owner) {
        done.result = break_outcome::other_owner;
        return done;
    }
    const redis_store::native_keys keys(where.where().prefix);
    native_break(ask, key, {keys, key, where.is_cluster()}, owner).run(done);
    return done;
}

} // namespace leasehold::tool
