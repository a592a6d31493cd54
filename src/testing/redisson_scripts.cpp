// Models of the scripts of the layout `redisson`. The names and the order of what follows are those
// of the .lua files.
#include "base/mutant.hpp"
#include "testing/line_model.hpp"
#include "testing/script_models.hpp"

#include <leasehold/diagnostics.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::testing::impl {
namespace redisson_scripts {
namespace {

std::int64_t holder(script_calls& redis, std::string_view lock)
{
    try {
        const std::string name = holder_name(redis.hrandfield(lock));
        return name.empty() ? 0 : std::stoll(name, nullptr, 16);
    }
    catch (const command_error&) {
        return -1;
    }
}

message acquire(script_calls& redis, words keys, words arguments)
{
    const std::string_view lock = keys[0];
    const std::string_view owner = arguments[0];
    const std::int64_t now = redis.time();
    const std::int64_t latest = to_integer(arguments[3]).value_or(0);
    if (latest > 0 && now > latest && !has(mutant::late_acquire_runs))
        return message::numbers({-1, 0, 0, now});

    std::int64_t left = -2;
    const bool in_line = keys.size() > 2 && !has(mutant::line_not_seen);
    if (redis.exists(lock) || (in_line && redis.exists(keys[2]))) {
        left = redis.pttl(lock);
        if (left == -2 && in_line)
            return message::numbers({-3, 0, 0, now});
    }
    const std::int64_t lease = to_integer(arguments[1]).value_or(0);
    bool ours = false;
    if (left != -2) {
        try {
            ours = redis.hexists(lock, owner);
        }
        catch (const command_error& failed) {
            return message::error(is_wrong_type(failed)
                                      ? "WRONGTYPE the key " + std::string(lock) + " holds " +
                                            redis.type(lock) + ", a lock is a hash"
                                      : failed.text);
        }
    }

    if (arguments.size() > 5 && !arguments[5].empty()) {
        if (!ours)
            return message::numbers({-2, 0, 0, now});
        if (left >= 0 && left < lease)
            redis.pexpire(lock, lease);
        const std::string marker = std::string(owner) + '/' + std::string(arguments[5]);
        if (redis.hset(lock, marker, "1") || has(mutant::repeated_entry_adds)) {
            try {
                redis.hincrby(lock, owner, 1);
            }
            catch (const command_error& failed) {
                redis.hdel(lock, marker);
                return message::error(failed.text);
            }
        }
        return message::numbers({1, 0, 0, now});
    }

    if (left != -2 && !ours) {
        const bool asked = arguments.size() > 6 && arguments[6] == "1";
        return message::numbers({0, left, asked ? holder(redis, lock) : 0, now});
    }

    const double floor = static_cast<double>(now) * 2;
    const std::int64_t retention = to_integer(arguments[4]).value_or(0);
    double last = 0;
    std::optional<std::string> stored;
    try {
        if (!ours)
            stored = redis.set_get(keys[1], whole(floor), retention);
        else if (const std::string* const found = redis.get(keys[1]))
            stored = *found;
    }
    catch (const command_error& failed) {
        return message::error(is_wrong_type(failed)
                                  ? "WRONGTYPE the key " + std::string(keys[1]) + " holds " +
                                        redis.type(keys[1]) + ", a fence counter is a string"
                                  : failed.text);
    }
    const bool is_stored = stored.has_value();
    if (is_stored) {
        const auto number = to_number(*stored);
        if (!number || number != std::floor(*number) || std::isinf(*number) ||
            *number >= 9007199254740991) {
            if (!ours)
                redis.set(keys[1], *stored, 0);
            return message::error("WRONGTYPE the key " + std::string(keys[1]) + " holds no fence");
        }
        last = *number;
    }

    if (ours && is_stored) {
        if (left >= 0 && left < lease)
            redis.pexpire(lock, lease);
        if (has(mutant::repeated_acquire_adds))
            redis.hincrby(lock, owner, 1);
        return message::numbers({1, static_cast<std::int64_t>(last), 1, now});
    }

    double first = floor;
    double block = 1;
    if (last >= floor || has(mutant::fence_without_clock)) {
        first = last + 1;
    }
    else if (is_stored && arguments[2] != "1") {
        block = std::min(
            {static_cast<double>(to_integer(arguments[2]).value_or(1)), floor - last, 10000.0});
        first = floor - block + 1;
    }

    if (ours || first > floor || has(mutant::fence_without_clock))
        redis.set(keys[1], whole(first + block - 1), retention);
    if (ours) {
        if (left >= 0 && left < lease)
            redis.pexpire(lock, lease);
    }
    else {
        redis.hset(lock, owner, "1");
        try {
            redis.pexpire(lock, lease);
        }
        catch (const command_error& refused) {
            redis.del(lock);
            return message::error(refused.text);
        }
    }
    const auto wanted = static_cast<double>(to_integer(arguments[2]).value_or(1));
    if (first + block == floor + 1 && block == wanted)
        return message::number(static_cast<std::int64_t>(floor));
    return message::numbers(
        {1, static_cast<std::int64_t>(first), static_cast<std::int64_t>(block), now});
}

message renew(script_calls& redis, words keys, words arguments)
{
    std::vector<std::int64_t> result(keys.size(), 0);
    std::size_t failed = 0;
    std::string first;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const std::string_view field = arguments[2 * i];
        const std::int64_t lease = to_integer(arguments[2 * i + 1]).value_or(0);
        try {
            redis.renews(keys[i]);
            const bool there = redis.hexists(keys[i], field);
            if (has(mutant::renewal_creates) && !there && redis.pttl(keys[i]) == -2) {
                redis.hset(keys[i], field, "1");
                redis.pexpire(keys[i], lease);
                result[i] = 1;
                continue;
            }
            if (!there)
                continue;
            const std::int64_t left = redis.pttl(keys[i]);
            if (left != -1 && left < lease)
                redis.pexpire(keys[i], lease);
            result[i] = 1;
        }
        catch (const command_error& said) {
            if (is_wrong_type(said))
                continue;
            result[i] = -1;
            if (failed++ == 0)
                first = said.text;
        }
    }
    return failed > 0 && failed == keys.size() ? message::error(first) : message::numbers(result);
}

message check(script_calls& redis)
{
    return check_rights(redis, {"TIME", "PTTL", "HEXISTS", "GET", "HGET", "HLEN", "EXISTS",
                                "LINDEX", "LPOS", "PEXPIRE", "HDEL", "DEL", "SET", "HSET",
                                "HINCRBY", "LPOP", "LREM", "RPUSH"});
}

/// How many heard that the lock is free; -1: it may not be said.
std::int64_t tell_release(script_calls& redis, std::string_view channel)
{
    try {
        return redis.publish(channel, "0");
    }
    catch (const command_error&) {
        return -1;
    }
}

message release(script_calls& redis, words keys, words arguments)
{
    const std::string_view lock = keys[0];
    const std::string* const held = redis.hget(lock, arguments[0]);
    if (has(mutant::release_of_another) && held == nullptr && redis.hlen(lock) != 0) {
        redis.del(lock);
        return message::number(0);
    }
    if (held == nullptr || *held != "1" || redis.hlen(lock) != 1 ||
        (keys.size() > 1 && redis.exists(keys[1]) && !has(mutant::line_not_served)))
        return message::number(-2);
    redis.del(lock);
    return message::number(tell_release(redis, arguments[1]));
}

/// The fences that are granted.
struct block
{
    double first = 0;
    double count = 1;
};

block draw(script_calls& redis, std::string_view counter, std::string_view wanted,
           std::string_view retention, std::int64_t now)
{
    const double floor = static_cast<double>(now) * 2;
    const std::int64_t how_long = number_of(retention);
    const auto stored = redis.set_get(counter, whole(floor), how_long);
    double last = 0;
    if (stored) {
        const auto number = to_number(*stored);
        if (!number || number != std::floor(*number) || std::isinf(*number) ||
            *number >= 9007199254740991) {
            redis.set(counter, *stored, 0);
            throw command_error{"WRONGTYPE the key " + std::string(counter) + " holds no fence"};
        }
        last = *number;
    }
    block drawn{floor};
    if (last >= floor || has(mutant::fence_without_clock)) {
        drawn.first = last + 1;
    }
    else if (stored && wanted != "1") {
        drawn.count = std::min({static_cast<double>(number_of(wanted)), floor - last, 10000.0});
        drawn.first = floor - drawn.count + 1;
    }
    if (drawn.first > floor || has(mutant::fence_without_clock))
        redis.set(counter, whole(drawn.first + drawn.count - 1), how_long);
    return drawn;
}

/// As an error of an acquire says it.
message typed(script_calls& redis, const command_error& failed, std::string_view key,
              const char* kind)
{
    const bool other_type = is_wrong_type(failed) &&
                            failed.text.find("holds no fence") == std::string::npos;
    return message::error(other_type ? "WRONGTYPE the key " + std::string(key) + " holds " +
                                           redis.type(key) + ", a " + kind
                                     : failed.text);
}

/// The lock is theirs. One that never expires does not stay behind when that is refused to this
/// user.
/// @returns What the refusal says.
std::optional<std::string> take(script_calls& redis, std::string_view lock, std::string_view who,
                                std::int64_t ttl)
{
    redis.hset(lock, who, "1");
    if (has(mutant::claim_without_end))
        return std::nullopt;
    try {
        redis.pexpire(lock, ttl);
    }
    catch (const command_error& refused) {
        redis.del(lock);
        return refused.text;
    }
    return std::nullopt;
}

message five(std::int64_t status, std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t now)
{
    return message::numbers({status, a, b, c, now});
}

/// Refused to this user, it is not taken.
template <class Then>
message taken(script_calls& redis, std::string_view lock, std::string_view who, std::int64_t ttl,
              Then then)
{
    if (const auto refused = take(redis, lock, who, ttl))
        return message::error(*refused);
    return then();
}

message line_acquire(script_calls& redis, words keys, words arguments)
{
    const keys_of_line of(keys, std::string(arguments[8]));
    const std::string_view owner = arguments[0];
    const std::string self = "lh:" + std::string(owner);
    const std::int64_t now = redis.time();
    if (is_late(arguments[3], now))
        return five(-1, 0, 0, 0, now);

    bool ours = false;
    try {
        ours = redis.hexists(of.lock, owner);
    }
    catch (const command_error& failed) {
        return typed(redis, failed, of.lock, "lock is a hash");
    }
    const std::int64_t lease = number_of(arguments[1]);
    const auto drawn = [&](block& fences) -> std::optional<message> {
        try {
            fences = draw(redis, of.counter, arguments[2], arguments[4], now);
        }
        catch (const command_error& failed) {
            return typed(redis, failed, of.counter, "fence counter is a string");
        }
        return std::nullopt;
    };
    const auto granted = [&](const block& fences) {
        return five(1, as_integer(fences.first), as_integer(fences.count),
                    redis.exists(of.line) ? 1 : 0, now);
    };

    if (ours) {
        block fences;
        if (has(mutant::turn_without_fence) && redis.exists(of.counter)) {
            if (const std::string* const stored = redis.get(of.counter))
                fences.first = static_cast<double>(number_of(*stored));
        }
        else if (auto refused = drawn(fences)) {
            return *std::move(refused);
        }
        const std::int64_t left = redis.pttl(of.lock);
        if (left >= 0 && left < lease && !has(mutant::claim_not_prolonged))
            redis.pexpire(of.lock, lease);
        if (redis.hdel(of.waiters, self))
            redis.lrem(of.line, self);
        return granted(fences);
    }

    const bool waits = arguments[5] != "0";
    const std::string entry = entry_of(now, arguments[5], arguments[1], arguments[6], arguments[7]);
    const std::int64_t left = redis.pttl(of.lock);
    if (left != -2) {
        std::int64_t place = -1;
        if (waits) {
            place = join_line(redis, of, self, entry);
            if (place <= 0) {
                redis.pexpire(of.line, day);
                redis.pexpire(of.waiters, day);
            }
        }
        const bool near = place == 0 || place == 1;
        const std::string_view asked = arguments[9];
        if (asked == "-")
            return five(near ? 2 : 0, left, place, 0, now);
        if (!near && asked != "1")
            return five(0, left, place, 0, now);
        try {
            const std::string field(redis.hrandfield(of.lock));
            const std::string name = asked == "1" ? holder_name(field) : std::string();
            const bool knows = field.size() > 14 && field[14] == '8';
            return five(near && !knows ? 2 : 0, left, place,
                        name.empty() ? 0 : std::stoll(name, nullptr, 16), now);
        }
        catch (const command_error&) {
            return five(near ? 2 : 0, left, place, -1, now);
        }
    }

    optional_text who = redis.lindex(of.line, 0);
    if (const auto open = left_free(redis, of, who, now)) {
        std::int64_t place = -1;
        if (waits && *who == self) {
            redis.hset(of.waiters, self, entry + ' ' + whole(*open));
            place = 0;
        }
        else if (waits) {
            place = join_line(redis, of, self, entry);
        }
        const double rest = std::ceil((*open - static_cast<double>(now)) / 1000);
        return five(place == 0 ? 2 : 0, static_cast<std::int64_t>(rest), place, 0, now);
    }

    if (has(mutant::try_overtakes) && !waits)
        who.reset();
    int passed = 0;
    while (who && *who != self) {
        if (const std::string* const waits_there = redis.hget(of.waiters, *who)) {
            const auto each = waiter_of(*waits_there);
            if (each && is_there(redis, *each, *who, of, now)) {
                std::int64_t place = -1;
                if (waits) {
                    place = join_line(redis, of, self, entry);
                    place = place > 0 ? place - 1 : place;
                }
                if (!has(mutant::assigned_stays_in_line))
                    leave_line(redis, of, *who);
                const std::int64_t ttl = std::min(each->lease, each->claim);
                return taken(redis, of.lock, who->substr(3), ttl,
                             [&] { return five(0, ttl, place, 0, now); });
            }
        }
        leave_line(redis, of, *who);
        if (++passed == 100)
            return five(0, 0, waits ? join_line(redis, of, self, entry) : -1, 0, now);
        who = redis.lindex(of.line, 0);
    }

    block fences;
    if (auto refused = drawn(fences))
        return *std::move(refused);
    if (who)
        leave_line(redis, of, self);
    return taken(redis, of.lock, owner, lease, [&] { return granted(fences); });
}

message six(std::int64_t status, std::int64_t receivers, std::int64_t next, std::int64_t a,
            std::int64_t b, std::int64_t now)
{
    return message::numbers({status, receivers, next, a, b, now});
}

/// Where some of those who know no line hear of it.
bool is_strangers_turn(script_calls& redis, const keys_of_line& of, std::int64_t now)
{
    const auto chance = static_cast<std::size_t>(now % 16);
    return chance == 0 || (chance < 8 && !redis.lindex(of.line, (16 + chance - 1) / chance - 2));
}

message line_leave(script_calls& redis, words keys, words arguments)
{
    const keys_of_line of(keys, std::string(arguments[3]));
    const std::string owner(arguments[0]);
    const std::string_view channel = arguments[2];
    std::string next = arguments.size() > 5 ? "lh:" + std::string(arguments[5]) : std::string();
    const std::int64_t now = redis.time();
    const std::string* const held = redis.hget(of.lock, owner);
    const auto count = held == nullptr ? std::nullopt : to_number(*held);
    optional_text who = redis.lindex(of.line, 0);
    std::int64_t status = 1;
    if (count) {
        if (!arguments[1].empty()) {
            if (!redis.hdel(of.lock, owner + '/' + std::string(arguments[1])))
                return six(0, 0, 0, 0, 0, now);
        }
        else if (*count <= static_cast<double>(redis.hlen(of.lock)) - 1) {
            return six(0, 0, 0, 0, 0, now);
        }
        if (*count > 1) {
            redis.hincrby(of.lock, owner, -1);
            status = 2;
        }
    }
    else {
        status = 0;
        if (arguments[1].empty() && !has(mutant::line_not_left) &&
            redis.hdel(of.waiters, "lh:" + owner)) {
            redis.lrem(of.line, "lh:" + owner);
            status = 3;
        }
        if (redis.exists(of.lock)) {
            if (!has(mutant::repeated_release_joins))
                return six(status, 0, 0, 0, 0, now);
        }
        else {
            next.clear();
            who = redis.lindex(of.line, 0);
            if (!has(mutant::foreign_turn_left_short) && left_free(redis, of, who, now))
                return six(status, 0, 0, 0, 0, now);
        }
    }
    if (!next.empty() && is_late(arguments[8], now))
        next.clear();

    std::int64_t place = -1;
    const std::string entry = next.empty() ? std::string()
                                           : entry_of(now, arguments[10], arguments[6],
                                                      arguments[11], arguments[12]);
    const auto join = [&] {
        bool refused = false;
        place = join_line(redis, of, next, entry, &refused);
        if (refused)
            return next.clear();
        redis.pexpire(of.line, day);
        redis.pexpire(of.waiters, day);
    };
    if (status == 2 || (!count && redis.exists(of.lock))) {
        if (!next.empty())
            join();
        if (next.empty())
            return six(status, 0, 0, 0, 0, now);
        return six(status, 0, 2, redis.pttl(of.lock), place, now);
    }

    if (who && !next.empty())
        join();
    const auto free = [&] {
        if (count)
            redis.del(of.lock);
        return tell_release(redis, channel);
    };

    std::int64_t turn = 0;
    if (status == 1 && (who || !next.empty())) {
        turn = number_of(arguments[4]);
        if (turn > 0)
            tell_release(redis, channel);
        else if (is_strangers_turn(redis, of, now) && !has(mutant::foreign_turn_not_left) &&
                 tell_release(redis, channel) != 0)
            turn = 5;
    }
    const auto leave_free = [&](std::string_view first, const std::string& known) {
        if (turn == 0)
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
    const std::int64_t waits_next = next.empty() ? 0 : 2;
    int passed = 0;
    while (who && *who != next) {
        const std::string* const waits = redis.hget(of.waiters, *who);
        const auto each = waits == nullptr ? std::nullopt : waiter_of(*waits);
        const bool untold = turn != 0 && has(mutant::foreign_turn_not_told);
        const bool there = each && (untold || is_there(redis, *each, *who, of, now));
        if (there && leave_free(*who, *waits))
            return six(5, 0, waits_next, turn, place, now);
        if (!has(mutant::assigned_stays_in_line))
            leave_line(redis, of, *who);
        place = place > 0 ? place - 1 : place;
        if (there) {
            const std::int64_t ttl = std::min(each->lease, each->claim);
            if (count)
                redis.del(of.lock);
            static_cast<void>(take(redis, of.lock, who->substr(3), ttl));
            return six(status == 1 ? 4 : status, 0, waits_next, ttl, place, now);
        }
        ++passed;
        who = redis.lindex(of.line, 0);
        if (passed == 100 && who)
            return six(status, free(), waits_next, 0, place, now);
    }
    if (!next.empty() && turn != 0) {
        if (!who) {
            join();
            who = next.empty() ? std::nullopt : optional_text(next);
        }
        if (who && leave_free(next, entry))
            return six(5, 0, 2, turn, 0, now);
    }
    if (!next.empty()) {
        std::optional<block> fences;
        try {
            fences = draw(redis, of.counter, arguments[7], arguments[9], now);
        }
        catch (const command_error&) {
        }
        if (fences) {
            if (who)
                leave_line(redis, of, next);
            redis.del(of.lock);
            if (take(redis, of.lock, arguments[5], number_of(arguments[6])))
                return six(1, free(), 0, 0, 0, now);
            return six(1, 0, 1, as_integer(fences->first), as_integer(fences->count), now);
        }
        if (who)
            place = 0;
    }
    return six(status, free(), !next.empty() && who ? 2 : 0, 0, place, now);
}

} // namespace
} // namespace redisson_scripts

message run_redisson(known_script called, script_calls& redis, words keys, words arguments)
{
    using namespace redisson_scripts;
    switch (called) {
    case known_script::acquire: return acquire(redis, keys, arguments);
    case known_script::renew: return renew(redis, keys, arguments);
    case known_script::release: return release(redis, keys, arguments);
    case known_script::line_acquire: return line_acquire(redis, keys, arguments);
    case known_script::line_leave: return line_leave(redis, keys, arguments);
    default: return check(redis);
    }
}

} // namespace leasehold::testing::impl
