// Models of the scripts of the layout `redisson`. The names and the order of what follows are those
// of the .lua files.
#include "base/mutant.hpp"
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

    const std::int64_t left = redis.pttl(lock);
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
    return check_rights(redis, {"TIME", "PTTL", "HEXISTS", "GET", "HGET", "HLEN", "PEXPIRE", "HDEL",
                                "DEL", "SET", "HSET", "HINCRBY"});
}

message release(script_calls& redis, words keys, words arguments)
{
    const std::string_view lock = keys[0];
    std::string_view owner = arguments[0];
    const std::string_view entry = arguments.size() > 2 ? arguments[2] : std::string_view();
    const std::string* held = redis.hget(lock, owner);
    if (has(mutant::release_of_another) && held == nullptr && redis.hlen(lock) != 0) {
        redis.del(lock);
        return message::number(0);
    }
    const auto number = held == nullptr ? std::nullopt : to_number(*held);
    if (!number)
        return message::number(-3);
    if (!entry.empty()) {
        if (!redis.hdel(lock, std::string(owner) + '/' + std::string(entry)))
            return message::number(-3);
    }
    else if (*number <= static_cast<double>(redis.hlen(lock)) - 1) {
        return message::number(-3);
    }
    if (*number > 1) {
        redis.hincrby(lock, owner, -1);
        return message::number(-2);
    }
    redis.del(lock);
    std::int64_t receivers = -1;
    try {
        receivers = redis.publish(arguments[1], "0");
    }
    catch (const command_error&) {
    }
    return message::number(receivers);
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
    default: return check(redis);
    }
}

} // namespace leasehold::testing::impl
