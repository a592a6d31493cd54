#include "lock_reader.hpp"

#include "command_line.hpp"

#include "lock_keys.hpp"

#include "redis/protocol/key_names.hpp"

#include <leasehold/diagnostics.hpp>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace leasehold::tool {
namespace {

namespace native = redis_store::native;
using std::chrono::milliseconds;

// The values of locks are not longer. Longer values are read only in part.
constexpr char last_byte[] = "511";

// The number of keys in one request.
constexpr std::size_t at_once = 500;

/// Reads the owner's dead_holder_grace from the flags after the owner.
std::optional<milliseconds> read_grace(std::string_view flags)
{
    const std::size_t begin = flags.find('g');
    milliseconds::rep grace = 0;
    if (begin != flags.npos)
        std::from_chars(flags.data() + begin + 1, flags.data() + flags.size(), grace);
    return grace > 0 ? std::optional(milliseconds(grace)) : std::nullopt;
}

/// Computes the time since the last heartbeat from the TTL of its record.
std::optional<milliseconds> read_silence(const resp_value& answer)
{
    const auto left = answer.to_number();
    if (!left || *left == -1)
        return std::nullopt;
    const milliseconds age = longest_silence - milliseconds(std::max<std::int64_t>(*left, 0));
    return std::max(age, milliseconds(0));
}

/// Reads the kind of a lock and its owner from a string. Returns false if it is of another kind.
bool read_value(const std::string& value, lock_state& to)
{
    const std::string_view text = value;
    if (text.starts_with(quorum::mark)) {
        to.kind = lock_kind::quorum;
        to.owner = text.substr(quorum::mark.size());
    }
    else if (const std::string_view owner = native::owner_of(text); !owner.empty()) {
        to.kind = lock_kind::native;
        to.owner = owner;
        to.grace = read_grace(text.substr(native::mark.size() + owner.size()));
    }
    else {
        return false;
    }
    to.client = holder_name(to.owner);
    return true;
}

/// Reads the time left. Returns false if the lock is gone.
bool read_life(const resp_value& answer, lock_state& to)
{
    const auto left = answer.to_number();
    if (!left || *left == -2)
        return false;
    to.left = *left < 0 ? std::nullopt : std::optional(milliseconds(*left));
    return true;
}

std::optional<std::uint64_t> read_fence(const resp_value& answer)
{
    const auto number = answer.to_number();
    return number && *number > 0 ? std::optional(static_cast<std::uint64_t>(*number))
                                 : std::nullopt;
}

std::size_t read_count(const resp_value& answer)
{
    return static_cast<std::size_t>(std::max<std::int64_t>(answer.to_number().value_or(0), 0));
}

/// Reads the reply of PUBSUB NUMSUB for one channel.
std::size_t read_listeners(const resp_value& answer)
{
    return answer.items.size() == 2 ? read_count(answer.items[1]) : 0;
}

client_info read_info(const resp_value& answer)
{
    client_info info;
    if (answer.items.size() != 5)
        return info;
    info.host = answer.items[0].text;
    info.pid = answer.items[1].to_number().value_or(0);
    info.program = answer.items[2].text;
    info.since = decltype(info.since)(milliseconds(answer.items[3].to_number().value_or(0)));
    info.version = answer.items[4].text;
    return info;
}

std::string refusal_text(const std::string& command, const std::string& answer)
{
    return command + " is rejected: " + answer;
}

} // namespace

bool is_reserved(std::string_view key) noexcept
{
    return key.starts_with("leasehold:") || key.starts_with("redisson_lock_token:");
}

lock_reader::asker lock_reader::all_of_them()
{
    return [this](const commands& queries) { return checked(queries, servers_.ask_all(queries)); };
}

lock_reader::asker lock_reader::member(std::size_t place)
{
    return [this, place](const commands& queries) {
        std::vector<command_words> words;
        words.reserve(queries.size());
        for (const auto& each : queries)
            words.push_back(each.words);
        return checked(queries, servers_.connection(place).ask_all(words));
    };
}

lock_reader::answers lock_reader::checked(const commands& queries, answers replies)
{
    for (std::size_t i = 0; i < replies.size(); ++i) {
        if (replies[i].is_refusal())
            refusals_.emplace(queries[i].words.front(), replies[i].text);
    }
    return replies;
}

std::string lock_reader::name_of(const std::string& key) const
{
    return key.substr(servers_.where().prefix.size());
}

command_words lock_reader::info_question(const std::string& client) const
{
    std::string key;
    redis_store::client_key(servers_.where().prefix, client, key);
    return {"HMGET", key, "host", "pid", "program", "since", "version"};
}

void lock_reader::report_refusals(lock_list& to) const
{
    for (const auto& [command, text] : refusals_)
        to.problems.push_back(refusal_text(command, text));
    to.complete = to.complete && refusals_.empty();
}

void lock_reader::read_strings(const asker& ask, const std::vector<std::string>& names,
                               std::vector<lock_state>& to, bool external)
{
    commands queries;
    for (const std::string& name : names)
        queries.push_back({name, {"GETRANGE", name, "0", last_byte}});
    const answers replies = ask(queries);
    std::vector<lock_state> native_ones;
    std::vector<lock_state> members;
    for (std::size_t i = 0; i < names.size(); ++i) {
        lock_state found;
        found.name = names[i];
        if (replies[i].is_error() || replies[i].text.empty())
            continue;
        if (!read_value(replies[i].text, found)) {
            if (!external)
                continue;
            found.kind = lock_kind::external;
            found.owner = replies[i].text;
        }
        (found.kind == lock_kind::quorum ? members : native_ones).push_back(std::move(found));
    }
    read_native(ask, native_ones);
    read_member(ask, members);
    std::move(native_ones.begin(), native_ones.end(), std::back_inserter(to));
    std::move(members.begin(), members.end(), std::back_inserter(to));
}

void lock_reader::read_hashes(const asker& ask, const std::vector<std::string>& names,
                              std::vector<lock_state>& to)
{
    // The first fields are enough to identify a lock: most hashes with many fields are not locks.
    commands queries;
    for (const std::string& name : names)
        queries.push_back({name, {"HSCAN", name, "0", "COUNT", "10"}});
    const answers replies = ask(queries);
    std::vector<lock_state> found;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (replies[i].items.size() != 2)
            continue;
        const std::vector<resp_value>& fields = replies[i].items[1].items;
        for (std::size_t j = 0; j + 1 < fields.size(); j += 2) {
            const std::string owner = fields[j].text.substr(0, fields[j].text.find('/'));
            const auto holds = fields[j + 1].to_number();
            if (holder_name(owner).empty() || !holds || *holds < 1)
                continue;
            if (found.empty() || found.back().name != names[i]) {
                lock_state made;
                made.name = names[i];
                made.kind = lock_kind::redisson;
                made.owner = owner;
                made.client = holder_name(owner);
                found.push_back(std::move(made));
            }
            if (owner == fields[j].text)
                found.back().holds = static_cast<std::size_t>(*holds);
        }
    }
    read_redisson(ask, found);
    std::move(found.begin(), found.end(), std::back_inserter(to));
}

/// Reads the TTL of each lock, and the replies to the commands of `of`; removes locks that are
/// gone.
void lock_reader::read_rest(const asker& ask, std::vector<lock_state>& locks,
                            const std::function<commands(const lock_state&)>& of,
                            const std::function<void(lock_state&, const resp_value*)>& take)
{
    std::vector<lock_state> there;
    for (std::size_t first = 0; first < locks.size(); first += at_once) {
        const std::size_t last = std::min(first + at_once, locks.size());
        commands queries;
        std::vector<std::size_t> begins;
        for (std::size_t i = first; i < last; ++i) {
            begins.push_back(queries.size());
            queries.push_back({locks[i].name, {"PTTL", locks[i].name}});
            const commands more = of(locks[i]);
            queries.insert(queries.end(), more.begin(), more.end());
        }
        const answers replies = ask(queries);
        for (std::size_t i = first; i < last; ++i) {
            const resp_value* const answer = &replies[begins[i - first]];
            if (!read_life(*answer, locks[i]))
                continue;
            take(locks[i], answer + 1);
            there.push_back(std::move(locks[i]));
        }
    }
    locks = std::move(there);
}

void lock_reader::read_native(const asker& ask, std::vector<lock_state>& locks)
{
    const bool in_cluster = servers_.is_cluster();
    read_rest(
        ask, locks,
        [&](const lock_state& lock) -> commands {
            if (lock.kind == lock_kind::external)
                return {};
            const native_lock_keys of(keys_, lock.name, in_cluster);
            const std::string &fence = of.fence, &queue = of.queue, &entries = of.entries;
            commands queries{
                {fence, {"GET", fence}}, {queue, {"LLEN", queue}}, {entries, {"HLEN", entries}}};
            if (lock.grace) {
                std::string record;
                keys_.alive(native::client_of(lock.owner), record);
                queries.push_back({record, {"PTTL", record}});
            }
            return queries;
        },
        [](lock_state& lock, const resp_value* replies) {
            if (lock.kind == lock_kind::external)
                return;
            lock.fence_at_most = read_fence(replies[0]);
            lock.waiters = read_count(replies[1]);
            lock.holds = std::max<std::size_t>(read_count(replies[2]), 1);
            if (lock.grace)
                lock.silent = read_silence(replies[3]);
        });
}

void lock_reader::read_redisson(const asker& ask, std::vector<lock_state>& locks)
{
    const char* const count = servers_.is_cluster() ? "SHARDNUMSUB" : "NUMSUB";
    read_rest(
        ask, locks,
        [&](const lock_state& lock) -> commands {
            std::string fence, channel, queue;
            redis_store::fence_key(lock.name, fence);
            redis_store::release_channel(lock.name, channel);
            keys_.queue(lock.name, queue);
            return {{fence, {"GET", fence}},
                    {channel, {"PUBSUB", count, channel}},
                    {queue, {"LLEN", queue}}};
        },
        [](lock_state& lock, const resp_value* replies) {
            lock.fence_at_most = read_fence(replies[0]);
            // While an external client holds the lock, the first waiters also listen to its
            // channel.
            lock.waiters = std::max(read_listeners(replies[1]), read_count(replies[2]));
        });
}

void lock_reader::read_member(const asker& ask, std::vector<lock_state>& locks)
{
    read_rest(
        ask, locks,
        [this](const lock_state& lock) -> commands {
            return {{lock.name, {"GET", member_keys_.fence(lock.name)}},
                    {lock.name, {"PUBSUB", "NUMSUB", member_keys_.releases(lock.name)}},
                    {lock.name, {"HLEN", member_keys_.entries(lock.name)}}};
        },
        [](lock_state& lock, const resp_value* replies) {
            lock.fence_at_most = read_fence(replies[0]);
            lock.waiters = read_listeners(replies[1]);
            // One of the fields names the owner.
            lock.holds = std::max<std::size_t>(read_count(replies[2]), 2) - 1;
            lock.members = 1;
        });
}

template <class LockOrWaiter>
void lock_reader::describe(const asker& ask, std::vector<LockOrWaiter>& of)
{
    std::map<std::string, client_info> known;
    for (const LockOrWaiter& lock : of) {
        if (!lock.client.empty() && lock.info.empty())
            known.emplace(lock.client, client_info());
    }
    commands queries;
    for (const auto& each : known) {
        const command_words question = info_question(each.first);
        queries.push_back({question[1], question});
    }
    auto place = known.begin();
    for (std::size_t first = 0; first < queries.size(); first += at_once) {
        const auto begin = queries.begin() + static_cast<std::ptrdiff_t>(first);
        const auto end = queries.begin() +
                         static_cast<std::ptrdiff_t>(std::min(first + at_once, queries.size()));
        for (const resp_value& answer : ask({begin, end}))
            (place++)->second = read_info(answer);
    }
    for (LockOrWaiter& lock : of) {
        if (const auto found = known.find(lock.client); found != known.end())
            lock.info = found->second;
    }
}

template void lock_reader::describe(const asker&, std::vector<lock_state>&);

std::optional<lock_state> lock_reader::read(const std::string& name)
{
    refusals_.clear();
    auto found = find(servers_.where().prefix + name);
    if (!refusals_.empty())
        throw refused(refusal_text(refusals_.begin()->first, refusals_.begin()->second));
    if (found)
        found->name = name;
    return found;
}

std::optional<lock_state> lock_reader::find(const std::string& key)
{
    std::vector<lock_state> found;
    if (servers_.is_quorum()) {
        std::vector<std::vector<lock_state>> seen;
        std::vector<std::size_t> there;
        std::string problems;
        for (std::size_t place = 0; place < servers_.size(); ++place) {
            try {
                std::vector<lock_state> here;
                read_strings(member(place), {key}, here);
                seen.push_back(std::move(here));
                there.push_back(place);
            }
            catch (const unreachable& failed) {
                problems.append(problems.empty() ? "" : "; ").append(failed.what());
            }
        }
        if (seen.size() < quorum())
            throw unreachable(problems);
        found = merge(seen);
        std::vector<std::string> gone;
        describe_by_members(found, there, gone);
        return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
    }
    const resp_value type = servers_.ask(key, {"TYPE", key});
    if (type.is_error())
        throw refused(refusal_text("TYPE", type.text));
    if (type.text == "none")
        return std::nullopt;
    if (type.text == "string")
        read_strings(all_of_them(), {key}, found, true);
    else if (type.text == "hash")
        read_hashes(all_of_them(), {key}, found);
    if (found.empty()) {
        if (!refusals_.empty())
            return std::nullopt;
        // The key may be gone meanwhile.
        if (servers_.ask(key, {"TYPE", key}).text == "none")
            return std::nullopt;
        throw usage_error("KEY '" + name_of(key) + "' is a " + type.text + "; it must be a lock");
    }
    describe(all_of_them(), found);
    lock_state& lock = found.front();
    if (lock.kind == lock_kind::native || lock.kind == lock_kind::redisson)
        read_line(lock);
    return std::move(lock);
}

void lock_reader::read_line(lock_state& of)
{
    const native_lock_keys keys(keys_, of.name, servers_.is_cluster());
    const std::string &queue = keys.queue, &waiters = keys.waiters;
    // The times are by the clock of the server that keeps the queue.
    const answers replies = all_of_them()({{queue, {"LRANGE", queue, "0", "-1"}},
                                           {waiters, {"HGETALL", waiters}},
                                           {queue, {"TIME"}}});
    const resp_value& time = replies[2];
    const std::int64_t now = time.items.size() == 2
                                 ? time.items[0].to_number().value_or(0) * 1'000'000
                                 : 0;
    for (const resp_value& each : replies[0].items) {
        lock_waiter waiter;
        waiter.owner = native::owner_of(each.text);
        waiter.client = holder_name(waiter.owner);
        const resp_value* const entry = replies[1].find(each.text);
        std::int64_t until = 0;
        if (entry != nullptr)
            std::from_chars(entry->text.data(), entry->text.data() + entry->text.size(), until);
        waiter.present = until >= now;
        of.queue.push_back(std::move(waiter));
    }
    describe(all_of_them(), of.queue);
}

} // namespace leasehold::tool
