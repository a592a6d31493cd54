// Models of the scripts of a quorum's members. The names and the order of what follows are those of
// the .lua files.
#include "base/mutant.hpp"
#include "redis/protocol/script.hpp"
#include "testing/script_models.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leasehold::testing::impl {
namespace quorum_scripts {
namespace {

using optional_text = std::optional<std::string>;

/// What a script returns as it is.
struct returned
{
    message said;
};

/// `text + 0`
double number_of(const optional_text& text)
{
    const auto number = text ? to_number(*text) : std::nullopt;
    if (!number)
        throw command_error{"ERR attempt to perform arithmetic on a nil value"};
    return *number;
}

double number_of(std::string_view text)
{
    return number_of(optional_text(text));
}

/// `(text or 0) + 0`
double number_or_0(const optional_text& text)
{
    return text ? number_of(text) : 0;
}

message answer(std::initializer_list<double> numbers)
{
    std::vector<std::int64_t> all;
    all.reserve(numbers.size());
    for (const double each : numbers)
        all.push_back(as_integer(each));
    return message::numbers(all);
}

double milliseconds(double now)
{
    return std::floor(now / 1000);
}

optional_text copy(const std::string* text)
{
    return text == nullptr ? std::nullopt : std::optional(*text);
}

optional_text hget(script_calls& redis, std::string_view key, std::string_view field)
{
    return copy(redis.hget(key, field));
}

/// A key of another type is no lock, and no fence.
optional_text typed(script_calls& redis, std::string_view key, const char* kind)
{
    try {
        return copy(redis.get(key));
    }
    catch (const command_error& failed) {
        if (!is_wrong_type(failed))
            throw returned{message::error(failed.text)};
        throw returned{message::error("WRONGTYPE the key " + std::string(key) + " holds " +
                                      redis.type(key) + ", " + kind + " is a string")};
    }
}

bool is_natural(const std::string& text)
{
    return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

/// '^lhq:(%x%x%x%x%x%x%x%x)%-'
double holder_of(const std::string& value)
{
    constexpr std::size_t first = 4;
    constexpr std::size_t digits = 8;
    if (!value.starts_with("lhq:") || value.size() <= first + digits ||
        value[first + digits] != '-')
        return 0;
    const std::string name = value.substr(first, digits);
    const bool hex = name.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
    return hex ? static_cast<double>(std::stoll(name, nullptr, 16)) : 0;
}

message acquire(script_calls& redis, words keys, words arguments)
{
    const std::string_view lock = keys[0];
    const std::string_view owner = arguments[0];
    const std::string_view member = keys[2];
    const auto now = static_cast<double>(redis.time());
    if (arguments[4] != "0" && now > number_of(arguments[4]))
        return answer({-1, 0, 0, 0, now});
    const auto known = redis.hmget(
        member, {"until", "epoch", "floor", "top", "lease", "keep", "mark", "turned"});
    const bool is_member = known[0].has_value();
    if (!is_member)
        return answer({-3, 0, 0, 0, now});
    const double ms = milliseconds(now);
    if (ms < number_of(known[0]))
        return answer({-4, 0, number_of(known[0]) - ms, 0, now});
    const double epoch = number_of(known[1]);
    const double asked = number_of(arguments[5]);
    if (asked < epoch)
        return answer({-5, 0, epoch, 0, now});
    const double first = number_of(arguments[2]);
    const double count = number_of(arguments[3]);
    if (first + count - 1 > now + 86'400'000'000)
        return answer({-6, 0, 0, 0, now});

    const optional_text value = typed(redis, lock, "a lock");
    const optional_text stored = typed(redis, keys[1], "a fence");
    if (stored && !is_natural(*stored))
        return message::error("WRONGTYPE the key " + std::string(keys[1]) + " holds no fence");

    double floor = number_of(known[2]);
    const double top = number_of(known[3]);
    double keep = number_or_0(known[5]);
    const double retention = number_of(arguments[6]);
    std::vector<std::pair<std::string_view, std::string>> notes;
    if (retention != 0 && (keep == 0 || retention < keep)) {
        keep = retention;
        notes.emplace_back("keep", arguments[6]);
    }
    if (keep != 0) {
        const double age = ms - number_or_0(known[7]);
        bool turns = true;
        if (age < 0 || 3 * age >= 2 * keep || !known[6])
            floor = top;
        else if (3 * age >= keep)
            floor = std::max(floor, number_of(known[6]));
        else
            turns = false;
        if (turns) {
            notes.emplace_back("floor", whole(floor));
            notes.emplace_back("mark", *known[3]);
            notes.emplace_back("turned", whole(ms));
        }
    }
    double last = floor;
    if (stored && number_of(stored) > floor)
        last = number_of(stored);

    if (value != owner && (value || arguments[7] == "1")) {
        double holder = 0;
        double left = -2;
        if (value) {
            left = static_cast<double>(redis.pttl(lock));
            if (arguments[8] == "1")
                holder = holder_of(*value);
        }
        return answer({0, last, left, holder, now});
    }

    if (asked > epoch)
        notes.emplace_back("epoch", arguments[5]);
    if (number_of(arguments[1]) > number_of(known[4]))
        notes.emplace_back("lease", arguments[1]);
    double status = 2;
    if (first > last || (first == last && has(mutant::equal_fence_accepted))) {
        status = 1;
        last = first + count - 1;
        const std::string text = whole(last);
        if (last > top)
            notes.emplace_back("top", text);
        redis.set(keys[1], text, arguments[6] != "0" ? to_integer(arguments[6]).value_or(0) : 0);
    }
    for (const auto& [field, text] : notes)
        redis.hset(member, field, text);
    const std::int64_t lease = to_integer(arguments[1]).value_or(0);
    if (value) {
        const std::int64_t left = redis.pttl(lock);
        if (left >= 0 && left < lease)
            redis.pexpire(lock, lease);
    }
    else {
        redis.set(lock, owner, lease);
    }
    return answer({status, last, 0, 0, now});
}

message enter(script_calls& redis, words keys, words arguments)
{
    const std::string_view lock = keys[0];
    const std::string_view owner = arguments[0];
    const auto now = static_cast<double>(redis.time());
    if (arguments[2] != "0" && now > number_of(arguments[2]))
        return answer({-1, now});
    if (copy(redis.get(lock)) != owner)
        return answer({-2, now});
    const optional_text longest = hget(redis, keys[2], "lease");
    if (longest && number_of(arguments[1]) > number_of(longest))
        redis.hset(keys[2], "lease", arguments[1]);
    if (hget(redis, keys[1], "owner") != owner) {
        redis.del(keys[1]);
        redis.hset(keys[1], "owner", owner);
        redis.hset(keys[1], "e:", "1");
    }
    redis.hset(keys[1], "e:" + std::string(arguments[3]), "1");
    const std::int64_t left = redis.pttl(lock);
    if (left >= 0)
        redis.pexpire(keys[1], left);
    return answer({1, now});
}

/// `redis.pcall`: nothing when the server refused it, and what it said is kept.
template <class F>
auto attempt(F command, optional_text& refused) -> std::optional<decltype(command())>
{
    try {
        return command();
    }
    catch (const command_error& failed) {
        refused = failed.text;
        return std::nullopt;
    }
}

std::int64_t renew_one(script_calls& redis, words keys, words arguments, bool late,
                       optional_text& failed)
{
    const std::string_view lock = keys[0];
    const std::string_view entries = keys[1];
    const std::string_view owner = arguments[0];
    const std::int64_t lease = to_integer(arguments[1]).value_or(0);
    const std::string entry = "e:" + std::string(arguments[2]);
    const bool create = arguments[3] == "1" && !late;
    optional_text ignored;
    const auto said = attempt(
        [&] {
            redis.renews(lock);
            return copy(redis.get(lock));
        },
        failed);
    if (!said)
        return 0;
    const bool free = !*said;
    if (*said != owner && !(free && create))
        return free ? 2 : 0;
    if (free) {
        if (!attempt([&] { return redis.set(lock, owner, lease), 0; }, failed))
            return -1;
        attempt([&] { return redis.del(entries); }, ignored);
    }
    const auto listed_owner = attempt([&] { return hget(redis, entries, "owner"); }, ignored);
    bool listed = listed_owner && *listed_owner == owner;
    const bool entered =
        listed && attempt([&] { return redis.hexists(entries, entry); }, ignored).value_or(false);
    if (!entered && (listed || entry != "e:")) {
        if (!create)
            return has(mutant::entry_not_written_back) ? 0 : 2;
        if (!free && !listed) {
            attempt([&] { return redis.del(entries); }, ignored);
            attempt([&] { return redis.hset(entries, "e:", "1"); }, ignored);
        }
        const auto written = attempt(
            [&] {
                redis.hset(entries, "owner", owner);
                return redis.hset(entries, entry, "1");
            },
            failed);
        if (!written)
            return -1;
        listed = true;
    }
    auto left = attempt([&] { return redis.pttl(lock); }, failed);
    if (left && *left != -1 && *left < lease)
        left = attempt([&] { return std::int64_t(redis.pexpire(lock, lease) ? 1 : 0); }, failed);
    if (listed && left)
        attempt(
            [&] {
                const std::int64_t until = *left == -1 ? lease : redis.pttl(lock);
                return redis.pexpire(entries, std::max(until, lease));
            },
            failed);
    return 1;
}

message renew(script_calls& redis, words keys, words arguments)
{
    std::vector<std::int64_t> result(keys.size() / 2, 0);
    std::size_t failures = 0;
    std::string first;
    const auto now = static_cast<double>(redis.time());
    const bool late = !arguments.empty() && arguments[0] != "0" && now > number_of(arguments[0]);
    for (std::size_t i = 0; i < result.size(); ++i) {
        optional_text failed;
        result[i] = renew_one(redis, keys.subspan(2 * i, 2), arguments.subspan(4 * i + 1, 4), late,
                              failed);
        if (!failed || failed->find("WRONGTYPE") != std::string::npos)
            continue;
        result[i] = -1;
        if (failures++ == 0)
            first = *failed;
    }
    return failures > 0 && failures == result.size() ? message::error(first)
                                                     : message::numbers(result);
}

message release(script_calls& redis, words keys, words arguments)
{
    const std::string_view lock = keys[0];
    const std::string_view entries = keys[1];
    const std::string_view owner = arguments[0];
    optional_text refused;
    const auto said = attempt([&] { return copy(redis.get(lock)); }, refused);
    if (!said || *said != owner)
        return answer({0, 0, 0});
    if (hget(redis, entries, "owner") == owner) {
        if (!redis.hdel(entries, "e:" + std::string(arguments[1])))
            return answer({0, 0, 0});
        if (redis.hlen(entries) > 1)
            return answer({2, 0, 0});
        redis.del(entries);
    }
    else if (!arguments[1].empty()) {
        return answer({0, 0, 0});
    }
    redis.del(lock);
    const auto stored = attempt([&] { return copy(redis.get(keys[2])); }, refused);
    const std::string fence = stored && *stored && is_natural(**stored) ? **stored : "0";
    double receivers = 0;
    if (!arguments[2].empty()) {
        const std::string sign = redis_store::script(owner).sha.substr(0, 16);
        const auto told = attempt([&] { return redis.publish(arguments[2], fence + " " + sign); },
                                  refused);
        receivers = told ? static_cast<double>(*told) : -1;
    }
    return answer({1, receivers, number_of(std::string_view(fence))});
}

message look(script_calls& redis, words keys, words arguments)
{
    const std::string_view member = keys[0];
    const auto now = static_cast<double>(redis.time());
    const std::string run = redis.run_id();
    auto known = redis.hmget(member, {"run", "nonce", "until", "epoch", "top", "lease", "began"});
    const double ms = milliseconds(now);
    if (!known[0] || *known[0] != run) {
        redis.hdel(member, "until");
        redis.hset(member, "run", run);
        redis.hset(member, "nonce", arguments[0]);
        redis.hset(member, "since", whole(ms));
        known[1] = arguments[0];
        known[2].reset();
    }
    const double left = known[2] ? std::max(number_of(known[2]) - ms, 0.0) : 0;
    return answer({known[2] ? 1.0 : 0.0, number_or_0(known[3]), number_or_0(known[4]),
                   number_or_0(known[5]), number_of(known[1]), left, number_or_0(known[6]), now});
}

message adopt(script_calls& redis, words keys, words arguments)
{
    const std::string_view member = keys[0];
    const auto now = static_cast<double>(redis.time());
    const auto known = redis.hmget(member, {"until", "epoch", "top", "lease"});
    if (!known[0])
        return answer({0, 0, 0, 0, now});
    double epoch = number_of(known[1]);
    if (number_of(arguments[0]) > epoch) {
        epoch = number_of(arguments[0]);
        redis.hset(member, "epoch", arguments[0]);
    }
    return answer({1, epoch, number_of(known[2]), number_of(known[3]), now});
}

message seed(script_calls& redis, words keys, words arguments)
{
    const std::string_view member = keys[0];
    const auto now = static_cast<double>(redis.time());
    const double ms = milliseconds(now);
    const auto known = redis.hmget(member, {"nonce", "until", "since", "epoch", "top", "lease"});
    if (known[1])
        return answer({2, std::max(number_of(known[1]) - ms, 0.0), now});
    if (known[0] != arguments[0])
        return answer({0, 0, now});
    const std::string top = whole(std::max(number_or_0(known[4]), number_of(arguments[2])));
    const std::string epoch = whole(std::max(number_or_0(known[3]), number_of(arguments[1])));
    const double longest = has(mutant::longest_lease_forgotten) ? 0 : number_of(arguments[4]);
    const std::string lease = whole(std::max(number_or_0(known[5]), longest));
    double over = number_of(known[2]) + number_of(arguments[3]);
    over = has(mutant::silence_ignored) ? ms : std::min(over, ms + number_of(arguments[3]));
    const std::pair<const char*, std::string> fields[] = {
        {"until", whole(over)}, {"epoch", epoch},
        {"floor", top},         {"top", top},
        {"mark", top},          {"turned", whole(ms)},
        {"lease", lease},       {"began", std::string(arguments[5])},
    };
    for (const auto& [field, text] : fields)
        redis.hset(member, field, text);
    return answer({1, std::max(over - ms, 0.0), now});
}

message check(script_calls& redis)
{
    return check_rights(redis, {"TIME", "GET", "PTTL", "HMGET", "HGET", "HEXISTS", "HLEN", "INFO",
                                "SET", "PEXPIRE", "HDEL", "HSET", "DEL"});
}

} // namespace
} // namespace quorum_scripts

message run_quorum(known_script called, script_calls& redis, words keys, words arguments)
{
    using namespace quorum_scripts;
    try {
        switch (called) {
        case known_script::quorum_acquire: return acquire(redis, keys, arguments);
        case known_script::quorum_enter: return enter(redis, keys, arguments);
        case known_script::quorum_renew: return renew(redis, keys, arguments);
        case known_script::quorum_release: return release(redis, keys, arguments);
        case known_script::quorum_look: return look(redis, keys, arguments);
        case known_script::quorum_adopt: return adopt(redis, keys, arguments);
        case known_script::quorum_seed: return seed(redis, keys, arguments);
        default: return check(redis);
        }
    }
    catch (const returned& early) {
        return early.said;
    }
}

} // namespace leasehold::testing::impl
