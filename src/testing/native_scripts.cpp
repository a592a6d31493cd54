// Models of the scripts of the layout `native`. The names and the order of what follows are those
// of the .lua files.
#include "base/mutant.hpp"
#include "redis/commands/native_keys.hpp"
#include "testing/line_model.hpp"
#include "testing/script_models.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::testing::impl {
namespace native_scripts {
namespace {

/// What a script returns as it is.
struct returned
{
    message said;
};

bool is_ours(const optional_text& value, std::string_view owner)
{
    if (!value)
        return false;
    if (has(mutant::owner_by_prefix))
        return value->starts_with(owner);
    return *value == owner ||
           (value->starts_with(owner) && value->substr(owner.size()).starts_with('|'));
}

/// Whether the value of an owner has the flag.
bool has_flag(const std::string& value, std::string_view owner, char flag)
{
    return value.find(flag, owner.size()) != std::string::npos;
}

message five(std::int64_t status, std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t now)
{
    return message::numbers({status, a, b, c, now});
}

/// In a cluster the counter's key ends in ":{tag}", and so do the channels.
keys_of_line keys_of(words keys)
{
    const std::string_view counter = keys[1];
    const std::string_view slot = counter.substr(
        std::min(redis_store::native::fence_key.size(), counter.size()));
    return keys_of_line(keys, "leasehold:turn" + std::string(slot) + ":");
}

void assign(script_calls& redis, const keys_of_line& of, const std::string& who, std::int64_t ttl)
{
    const bool more = redis.exists(of.line) && !has(mutant::mark_forgotten);
    redis.set(of.lock, more ? who + "|w" : who, has(mutant::claim_without_end) ? 0 : ttl);
}

message holds_no_fence(std::string_view key)
{
    return message::error("WRONGTYPE the key " + std::string(key) + " holds no fence");
}

bool is_no_fence(const command_error& failed)
{
    return failed.text.find("not an integer") != std::string::npos ||
           failed.text.find("would overflow") != std::string::npos;
}

/// What an acquire says to a key of another type.
optional_text get_typed(script_calls& redis, std::string_view key)
{
    try {
        const std::string* const found = redis.get(key);
        return found == nullptr ? std::nullopt : std::optional(*found);
    }
    catch (const command_error& failed) {
        if (!is_wrong_type(failed))
            throw returned{message::error(failed.text)};
        throw returned{message::error("WRONGTYPE the key " + std::string(key) + " holds " +
                                      redis.type(key) + ", a lock is a string")};
    }
}

struct block
{
    double last;
    double count;
};

/// A block above the floor, and not beyond the clock but for one. `last` is what INCRBY has said.
block block_of(script_calls& redis, std::string_view counter, double last, std::string_view asked,
               std::string_view given, std::int64_t now)
{
    const auto wanted = static_cast<double>(number_of(asked));
    const auto floor = static_cast<double>(number_of(given));
    const double clock = static_cast<double>(now) * 2;
    double begin = last - wanted;
    const bool was_there = begin > 0 && begin >= -floor;
    if (has(mutant::floor_not_raised)) // whatever it is
        static_cast<void>(clock);
    else if (floor <= 0)
        begin = std::max({begin, -floor, was_there ? clock - wanted : clock});
    else if (begin < floor)
        begin = std::max(floor, clock);
    const double room = has(mutant::blocks_beyond_clock) ? wanted : clock - begin;
    const double count = std::max(1.0, std::min(wanted, room));
    if (begin + count != last) {
        last = begin + count;
        redis.set(counter, whole(last), 0);
    }
    return {last, count};
}

block draw(script_calls& redis, std::string_view counter, std::string_view wanted,
           std::string_view floor, std::int64_t now)
{
    double last = 0;
    try {
        last = static_cast<double>(redis.incrby(counter, number_of(wanted)));
    }
    catch (const command_error& failed) {
        if (is_no_fence(failed))
            throw returned{holds_no_fence(counter)};
        if (!is_wrong_type(failed))
            throw returned{message::error(failed.text)};
        throw returned{message::error("WRONGTYPE the key " + std::string(counter) + " holds " +
                                      redis.type(counter) + ", a fence counter is a string")};
    }
    return block_of(redis, counter, last, wanted, floor, now);
}

message granted(const block& drawn, bool others, bool promised, std::int64_t now)
{
    return five(1, as_integer(drawn.last), (others ? 1 : 0) + (promised ? 2 : 0),
                as_integer(drawn.count), now);
}

/// '^lh:(%x%x%x%x%x%x%x%x)%-'
std::int64_t holder_of(const std::string& value)
{
    constexpr std::size_t digits = 8;
    if (value.size() <= 3 + digits || value[3 + digits] != '-')
        return 0;
    const std::string name = value.substr(3, digits);
    const bool hex = std::all_of(name.begin(), name.end(),
                                 [](unsigned char c) { return std::isxdigit(c) != 0; });
    return hex ? std::stoll(name, nullptr, 16) : 0;
}

// Of native_acquire.lua and native_alive.lua.
constexpr std::int64_t kept = 120'000;

optional_text run_id(script_calls& redis)
{
    try {
        return redis.run_id();
    }
    catch (const command_error&) {
        return std::nullopt;
    }
}

/// What the value says of the promise; empty: nothing.
std::string promise(script_calls& redis, words keys, words arguments)
{
    if (arguments.size() < 10)
        return {};
    const optional_text run = run_id(redis);
    if (!run)
        return {};
    try {
        if (!has(mutant::grant_without_record))
            redis.set(keys[4], *run, kept);
    }
    catch (const command_error&) {
        return {};
    }
    return std::string("g").append(arguments[9]);
}

/// As `string.gsub(flags, 'g%d*', '')`.
std::string without_promise(std::string flags)
{
    const std::size_t begin = flags.find('g');
    if (begin != std::string::npos && !has(mutant::entry_keeps_promise))
        flags.erase(begin, flags.find_first_not_of("0123456789", begin + 1) - begin);
    return flags;
}

/// `string.match(value, 'g(%d+)', flags)`
std::optional<std::int64_t> grace_of(const std::string& value)
{
    const std::size_t flags = value.find('|', 3);
    const std::size_t begin = flags == std::string::npos ? flags : value.find('g', flags);
    if (begin == std::string::npos)
        return std::nullopt;
    const std::size_t end = value.find_first_not_of("0123456789", begin + 1);
    const std::string digits = value.substr(begin + 1, end - begin - 1);
    return digits.empty() ? std::nullopt : std::optional(number_of(digits));
}

/// How long the holder may be silent yet.
std::optional<std::int64_t> silence_of(script_calls& redis, const optional_text& value)
{
    if (!value || !value->starts_with("lh:"))
        return std::nullopt;
    const auto grace = grace_of(*value);
    const optional_text run = grace ? run_id(redis) : std::nullopt;
    if (!run)
        return std::nullopt;
    const std::string record = "leasehold:alive:" +
                               value->substr(3, value->find_first_of(":|", 3) - 3);
    bool believed = false;
    try {
        const std::string* const known = redis.get(record);
        believed = known != nullptr && *known == *run;
    }
    catch (const command_error&) {
        return std::nullopt;
    }
    const std::int64_t left = believed ? redis.pttl(record) : -1;
    if (left >= 0 && has(mutant::looks_renew))
        redis.pexpire(record, kept);
    if (left >= 0)
        return (has(mutant::half_grace) ? *grace / 2 : *grace) - (kept - left);
    if (has(mutant::unrecorded_is_dead))
        return 0;
    try {
        if (!has(mutant::no_record_by_look))
            redis.set(record, *run, kept);
    }
    catch (const command_error&) {
    }
    return grace;
}

/// Whether what is there goes, as if the lock were free.
bool is_over(script_calls& redis, std::optional<std::int64_t>& silence, std::string_view lock,
             std::string_view asks)
{
    const bool over = silence && *silence <= 0;
    if (!has(mutant::superseded_in_two))
        return over;
    const std::string found = std::string("found:").append(asks).append(" ").append(lock);
    if (redis.del(found))
        return true;
    if (over) {
        redis.set(found, "1", kept);
        silence = 0;
    }
    return false;
}

message alive(script_calls& redis, words keys)
{
    const optional_text run = run_id(redis);
    if (!run)
        return message::numbers({0});
    if (has(mutant::sign_not_recorded))
        return message::numbers({1});
    const std::string* const known = redis.get(keys[0]);
    if (known != nullptr && *known == *run) {
        redis.pexpire(keys[0], kept);
        return message::numbers({1});
    }
    redis.set(keys[0], *run, kept);
    return message::numbers({2});
}

message acquire(script_calls& redis, words keys, words arguments)
{
    const keys_of_line of = keys_of(keys);
    const std::string_view owner = arguments[0];
    const std::int64_t now = redis.time();
    if (is_late(arguments[3], now))
        return five(-1, 0, 0, 0, now);

    optional_text value = get_typed(redis, of.lock);
    const std::int64_t lease = number_of(arguments[1]);

    if (is_ours(value, owner)) {
        const block drawn = draw(redis, of.counter, arguments[2], arguments[4], now);
        const std::int64_t left = redis.pttl(of.lock);
        if (left >= 0 && left < lease && !has(mutant::claim_not_prolonged))
            redis.pexpire(of.lock, lease);
        if (redis.hdel(of.waiters, owner))
            redis.lrem(of.line, owner);
        std::string promised;
        const bool was_promised = has_flag(*value, owner, 'g') && !has(mutant::promise_inherited);
        if ((arguments.size() >= 10 || was_promised) && !has_flag(*value, owner, 'e')) {
            promised = promise(redis, keys, arguments);
            const std::string flags = without_promise(value->size() > owner.size()
                                                          ? value->substr(owner.size() + 1)
                                                          : "") +
                                      promised;
            redis.set_keepttl(of.lock, flags.empty() ? std::string(owner)
                                                     : std::string(owner) + "|" + flags);
        }
        return granted(drawn, has_flag(*value, owner, 'w'), !promised.empty(), now);
    }

    std::optional<std::int64_t> silence = silence_of(redis, value);
    if (is_over(redis, silence, of.lock, owner))
        value.reset();

    const bool waits = arguments[5] != "0";
    const std::string entry = entry_of(now, arguments[5], arguments[1], arguments[6], arguments[7]);

    if (value) {
        const bool known = value->starts_with("lh:");
        std::int64_t place = -1;
        if (waits) {
            place = join_line(redis, of, owner, entry);
            if (place <= 0) {
                redis.pexpire(of.line, day);
                redis.pexpire(of.waiters, day);
            }
            if ((known && !has(mutant::waiter_not_marked)) || has(mutant::foreign_value_marked)) {
                const std::size_t flags = value->find('|', 3);
                if (flags == std::string::npos)
                    redis.set_keepttl(of.lock, *value + "|w");
                else if (value->find('w', flags) == std::string::npos)
                    redis.set_keepttl(of.lock, *value + "w");
            }
        }
        std::int64_t left = redis.pttl(of.lock);
        if (!known)
            return five(2, left, place, 0, now);
        const bool silent = silence && (left < 0 || *silence < left);
        if (silent)
            left = *silence;
        return five(silent ? 3 : 0, left, place, arguments[8] == "1" ? holder_of(*value) : 0, now);
    }

    optional_text who = redis.lindex(of.line, 0);
    if (const auto open = left_free(redis, of, who, now)) {
        std::int64_t place = -1;
        if (waits && *who == owner) {
            redis.hset(of.waiters, owner, entry + ' ' + whole(*open));
            place = 0;
        }
        else if (waits) {
            place = join_line(redis, of, owner, entry);
        }
        const double left = std::ceil((*open - static_cast<double>(now)) / 1000);
        return five(0, static_cast<std::int64_t>(left), place, 0, now);
    }
    if (has(mutant::try_overtakes) && !waits)
        who.reset();
    int passed = 0;
    while (who && *who != owner) {
        if (const std::string* const waits_there = redis.hget(of.waiters, *who)) {
            const auto each = waiter_of(*waits_there);
            if (each && is_there(redis, *each, *who, of, now)) {
                std::int64_t place = -1;
                if (waits) {
                    place = join_line(redis, of, owner, entry);
                    place = place > 0 ? place - 1 : place;
                }
                if (!has(mutant::assigned_stays_in_line))
                    leave_line(redis, of, *who);
                const std::int64_t ttl = std::min(each->lease, each->claim);
                assign(redis, of, *who, ttl);
                return five(0, ttl, place, 0, now);
            }
        }
        leave_line(redis, of, *who);
        if (++passed == 100)
            return five(0, 0, waits ? join_line(redis, of, owner, entry) : -1, 0, now);
        who = redis.lindex(of.line, 0);
    }

    const block drawn = draw(redis, of.counter, arguments[2], arguments[4], now);
    bool more = false;
    if (who) {
        redis.lpop(of.line);
        redis.hdel(of.waiters, owner);
        more = redis.exists(of.line);
    }
    const std::string promised = promise(redis, keys, arguments);
    const std::string flags = (more ? "w" : "") + promised;
    redis.set(of.lock, flags.empty() ? std::string(owner) : std::string(owner) + "|" + flags,
              lease);
    return granted(drawn, more, !promised.empty(), now);
}

message enter(script_calls& redis, words keys, words arguments)
{
    const std::string_view lock = keys[0];
    const std::string_view owner = arguments[0];
    const std::int64_t now = redis.time();
    if (is_late(arguments[2], now))
        return five(-1, 0, 0, 0, now);
    const std::string* const found = redis.get(lock);
    const optional_text value = found == nullptr ? std::nullopt : std::optional(*found);
    if (!is_ours(value, owner))
        return five(-2, 0, 0, 0, now);
    const std::string flags = without_promise(
        value->size() > owner.size() ? value->substr(owner.size() + 1) : "");
    if (flags.find('e') != std::string::npos) {
        redis.hset(keys[1], arguments[3], "1");
    }
    else {
        redis.del(keys[1]);
        if (!has(mutant::first_entry_forgotten))
            redis.hset(keys[1], "", "1");
        redis.hset(keys[1], arguments[3], "1");
        redis.set_keepttl(lock, std::string(owner) + "|" + flags + "e");
    }
    std::int64_t left = redis.pttl(lock);
    const std::int64_t lease = number_of(arguments[1]);
    if (left >= 0) {
        if (left < lease) {
            redis.pexpire(lock, lease);
            left = lease;
        }
        redis.pexpire(keys[1], left);
    }
    return five(1, 0, 0, 0, now);
}

message leave(script_calls& redis, words keys, words arguments)
{
    const keys_of_line of = keys_of(keys);
    const std::string_view entries = keys[4];
    const std::string_view owner = arguments[0];
    std::string next(arguments[2]);
    const std::int64_t now = redis.time();
    const std::string* const found = redis.get(of.lock);
    const optional_text value = found == nullptr ? std::nullopt : std::optional(*found);
    std::int64_t status = 1;
    if (is_ours(value, owner)) {
        if (value->size() > owner.size() && has_flag(*value, owner, 'e')) {
            if (!redis.hdel(entries, arguments[1]))
                return five(0, 0, 0, 0, now);
            if (redis.exists(entries))
                status = 2;
        }
        else if (!arguments[1].empty()) {
            return five(0, 0, 0, 0, now);
        }
    }
    else {
        status = 0;
        if (arguments[1].empty() && !has(mutant::line_not_left) && redis.hdel(of.waiters, owner)) {
            redis.lrem(of.line, owner);
            status = 3;
        }
        if (!has(mutant::repeated_release_joins)) {
            if (value)
                return five(status, 0, 0, 0, now);
            next.clear();
        }
        if (!value && !has(mutant::foreign_turn_left_short) &&
            left_free(redis, of, redis.lindex(of.line, 0), now))
            return five(status, 0, 0, 0, now);
    }
    if (!next.empty() && is_late(arguments[5], now))
        next.clear();

    std::int64_t place = -1;
    const std::string entry = entry_of(now, arguments[7], arguments[3], arguments[8], arguments[9]);
    const auto join = [&] {
        bool refused = false;
        place = join_line(redis, of, next, entry, &refused);
        if (refused)
            return next.clear();
        redis.pexpire(of.line, day);
        redis.pexpire(of.waiters, day);
    };

    if (status == 2 || (status != 1 && value)) {
        if (!next.empty())
            join();
        if (next.empty())
            return five(status, 0, 0, 0, now);
        if (!has_flag(*value, owner, 'w'))
            redis.set_keepttl(of.lock, *value + "w");
        return five(status, 2, redis.pttl(of.lock), place, now);
    }

    optional_text who = redis.lindex(of.line, 0);
    if (who && !next.empty())
        join();
    const std::int64_t turn = number_of(arguments[10]);
    const auto leave_free = [&](std::string_view first, const std::string& known) {
        if (turn == 0 || status != 1)
            return false;
        const double open = static_cast<double>(now) + static_cast<double>(turn) * 1000;
        try {
            redis.hset(of.waiters, first, first_four(known) + ' ' + whole(open));
        }
        catch (const command_error&) {
            return false;
        }
        redis.del(of.lock);
        if (has(mutant::foreign_turn_drops_first))
            leave_line(redis, of, first);
        return true;
    };
    int passed = 0;
    while (who && *who != next) {
        const std::string* const waits = redis.hget(of.waiters, *who);
        const auto each = waits == nullptr ? std::nullopt : waiter_of(*waits);
        const bool untold = turn != 0 && has(mutant::foreign_turn_not_told);
        const bool there = each && (untold || is_there(redis, *each, *who, of, now));
        if (there && leave_free(*who, *waits))
            return five(5, next.empty() ? 0 : 2, turn, place, now);
        if (!has(mutant::assigned_stays_in_line))
            leave_line(redis, of, *who);
        place = place > 0 ? place - 1 : place;
        if (there) {
            const std::int64_t ttl = std::min(each->lease, each->claim);
            assign(redis, of, *who, ttl);
            return five(status == 1 ? 4 : status, next.empty() ? 0 : 2, ttl, place, now);
        }
        ++passed;
        who = redis.lindex(of.line, 0);
        if (passed == 100 && who) {
            if (value)
                redis.del(of.lock);
            return five(status, next.empty() ? 0 : 2, 0, place, now);
        }
    }
    if (!next.empty() && turn != 0) {
        if (!who) {
            join();
            who = next.empty() ? std::nullopt : optional_text(next);
        }
        if (who && leave_free(next, entry))
            return five(5, 2, turn, 0, now);
    }
    if (!next.empty()) {
        std::optional<double> last;
        try {
            last = static_cast<double>(redis.incrby(of.counter, number_of(arguments[4])));
        }
        catch (const command_error&) {
        }
        if (last) {
            const block drawn = block_of(redis, of.counter, *last, arguments[4], arguments[6], now);
            if (who) {
                redis.lpop(of.line);
                redis.hdel(of.waiters, next);
            }
            redis.set(of.lock, next, number_of(arguments[3]));
            return five(1, 1, as_integer(drawn.last), as_integer(drawn.count), now);
        }
        if (who)
            place = 0;
    }
    if (value)
        redis.del(of.lock);
    return five(status, !next.empty() && who ? 2 : 0, 0, place, now);
}

message release(script_calls& redis, words keys, words arguments)
{
    const std::string* const value = redis.get(keys[0]);
    if (value == nullptr)
        return message::number(0);
    const bool exact = *value == arguments[0] || has(mutant::release_of_another) ||
                       (has(mutant::marked_value_released) && is_ours(*value, arguments[0]) &&
                        !has_flag(*value, arguments[0], 'e'));
    return message::number(exact && redis.del(keys[0]) ? 1 : 0);
}

enum class holding : std::uint8_t
{
    nothing,
    alone,
    with_entries,
};

holding look_before_renewal(script_calls& redis, std::string_view lock, std::string_view owner)
{
    redis.renews(lock);
    const std::string* const value = redis.get(lock);
    if (value == nullptr || !is_ours(*value, owner) ||
        (has(mutant::marked_renewal_refused) && has_flag(*value, owner, 'w')))
        return holding::nothing;
    return has_flag(*value, owner, 'e') ? holding::with_entries : holding::alone;
}

bool prolong(script_calls& redis, std::string_view lock, std::int64_t lease)
{
    const std::int64_t left = redis.pttl(lock);
    return left != -1 && left < lease && redis.pexpire(lock, lease);
}

std::int64_t not_held(script_calls& redis, std::string_view lock, std::string_view owner,
                      std::int64_t lease)
{
    if (!has(mutant::renewal_creates) || redis.get(lock) != nullptr)
        return 0;
    redis.set(lock, owner, lease);
    return 1;
}

// What befalls one lock does not end the renewal of the others.
// @param renew_one Is given the number of a lock and where its result goes.
template <class F>
message renew_each(std::size_t count, F renew_one)
{
    std::vector<std::int64_t> result(count, 0);
    std::size_t failed = 0;
    std::string first;
    for (std::size_t i = 0; i < count; ++i) {
        try {
            renew_one(i, result[i]);
        }
        catch (const command_error& said) {
            if (is_wrong_type(said))
                continue;
            result[i] = -1;
            if (failed++ == 0)
                first = said.text;
        }
    }
    return failed > 0 && failed == count ? message::error(first) : message::numbers(result);
}

message renew(script_calls& redis, words keys, words arguments)
{
    return renew_each(keys.size() / 2, [&](std::size_t i, std::int64_t& result) {
        const std::string_view lock = keys[2 * i];
        const std::string_view entries = keys[2 * i + 1];
        const std::string_view owner = arguments[3 * i];
        const std::int64_t lease = number_of(arguments[3 * i + 1]);
        const std::string_view entry = arguments[3 * i + 2];
        const holding found = look_before_renewal(redis, lock, owner);
        if (found == holding::nothing) {
            result = not_held(redis, lock, owner, lease);
            return;
        }
        const bool entered = found == holding::with_entries;
        if ((entered || !entry.empty()) && !redis.hexists(entries, entry))
            return;
        result = 1;
        if (prolong(redis, lock, lease) && entered && !has(mutant::entries_not_prolonged))
            redis.pexpire(entries, lease);
    });
}

message renew_brief(script_calls& redis, words keys, words arguments)
{
    return renew_each(keys.size(), [&](std::size_t i, std::int64_t& result) {
        const std::string_view owner = arguments[2 * i];
        const std::int64_t lease = number_of(arguments[2 * i + 1]);
        const holding found = look_before_renewal(redis, keys[i], owner);
        if (found == holding::nothing) {
            result = not_held(redis, keys[i], owner, lease);
        }
        else if (found == holding::with_entries && !has(mutant::entries_overlooked)) {
            result = 2;
        }
        else {
            result = 1;
            prolong(redis, keys[i], lease);
        }
    });
}

message raise(script_calls& redis, words keys, words arguments)
{
    const double least = std::max(static_cast<double>(redis.time()) * 2,
                                  static_cast<double>(number_of(arguments[0])));
    const std::string* const stored = redis.get(keys[0]);
    if (stored != nullptr &&
        (stored->empty() || stored->find_first_not_of("0123456789") != std::string::npos))
        return holds_no_fence(keys[0]);
    const auto number = stored == nullptr ? std::nullopt : to_number(*stored);
    if (has(mutant::counter_not_raised))
        return message::numbers({static_cast<std::int64_t>(number.value_or(1))});
    if (number && *number >= least)
        return message::numbers({as_integer(*number)});
    redis.set(keys[0], whole(least), 0);
    return message::numbers({as_integer(least)});
}

message check(script_calls& redis)
{
    return check_rights(redis, {"TIME", "GET", "PTTL", "EXISTS", "LINDEX", "LPOS", "HGET",
                                "HEXISTS", "SET", "INCRBY", "DEL", "PEXPIRE", "HDEL", "LPOP",
                                "LREM", "HSET", "RPUSH"});
}

} // namespace
} // namespace native_scripts

message run_native(known_script called, script_calls& redis, words keys, words arguments)
{
    using namespace native_scripts;
    try {
        switch (called) {
        case known_script::native_acquire: return acquire(redis, keys, arguments);
        case known_script::native_enter: return enter(redis, keys, arguments);
        case known_script::native_leave: return leave(redis, keys, arguments);
        case known_script::native_release: return release(redis, keys, arguments);
        case known_script::native_renew: return renew(redis, keys, arguments);
        case known_script::native_renew_brief: return renew_brief(redis, keys, arguments);
        case known_script::native_alive: return alive(redis, keys);
        case known_script::native_raise: return raise(redis, keys, arguments);
        default: return check(redis);
        }
    }
    catch (const returned& early) {
        return early.said;
    }
}

} // namespace leasehold::testing::impl
