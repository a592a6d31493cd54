#include "testing/redis_model.hpp"

#include "mutant.hpp"
#include "store/redis/protocol/script.hpp"

#include <leasehold/diagnostics.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>

namespace leasehold::testing::impl {
namespace {

using redis_store::script;

const script& source_of(known_script called)
{
    switch (called) {
    case known_script::acquire: return redis_store::acquire_script();
    case known_script::renew: return redis_store::renew_script();
    case known_script::release: return redis_store::release_script();
    default: return redis_store::check_script();
    }
}

std::optional<known_script> find_script(bool by_text, std::string_view named)
{
    for (std::size_t i = 0; i < static_cast<std::size_t>(known_script::count_); ++i) {
        const script& source = source_of(static_cast<known_script>(i));
        if (by_text ? source.text == named : source.sha == named)
            return static_cast<known_script>(i);
    }
    return std::nullopt;
}

std::optional<std::int64_t> to_integer(std::string_view text)
{
    std::int64_t value = 0;
    const auto [last, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    return failed == std::errc() && last == text.data() + text.size() ? std::optional(value)
                                                                      : std::nullopt;
}

/// As in Lua.
std::optional<double> to_number(const std::string& text)
{
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (end == text.c_str())
        return std::nullopt;
    while (*end == ' ')
        ++end;
    return *end == '\0' ? std::optional(value) : std::nullopt;
}

message count(bool was_there)
{
    return message::number(was_there ? 1 : 0);
}

bool is_wrong_type(const command_error& failed)
{
    return failed.text.starts_with("WRONGTYPE");
}

message wrong_arguments(std::string_view command)
{
    std::string name(command);
    std::transform(name.begin(), name.end(), name.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return message::error("ERR wrong number of arguments for '" + name + "' command");
}

} // namespace

std::optional<known_script> script_of(words command) noexcept
{
    // Without a lock it is a question of a new connection.
    if (command.size() < 4 || (command[0] != "EVALSHA" && command[0] != "EVAL") ||
        command[2] == "0")
        return std::nullopt;
    return find_script(command[0] == "EVAL", command[1]);
}

/// `redis.call` in a script: a command that the server refuses ends it.
class redis_model::calls
{
public:
    explicit calls(redis_model& of) noexcept : model_(of) {}

    std::int64_t pttl(std::string_view key) { return reading("pttl").pttl(key); }
    bool hexists(std::string_view key, std::string_view field)
    {
        return reading("hexists").hget(key, field) != nullptr;
    }
    const std::string* hget(std::string_view key, std::string_view field)
    {
        return reading("hget").hget(key, field);
    }
    std::size_t hlen(std::string_view key) { return reading("hlen").hlen(key); }
    /// Any: the first.
    std::string_view hrandfield(std::string_view key)
    {
        const keyspace::fields* const all = reading("hrandfield").hgetall(key);
        return all == nullptr ? std::string_view() : std::string_view(all->front().first);
    }
    const std::string* get(std::string_view key) { return reading("get").get(key); }
    bool pexpire(std::string_view key, std::int64_t how_long)
    {
        return writing("pexpire", false).pexpire(key, how_long);
    }
    bool hdel(std::string_view key, std::string_view field)
    {
        return writing("hdel", false).hdel(key, field);
    }
    bool del(std::string_view key) { return writing("del", false).del(key); }
    void set(std::string_view key, std::string_view text, std::int64_t how_long)
    {
        writing("set", true).set(key, text, how_long);
    }
    bool hset(std::string_view key, std::string_view field, std::string_view text)
    {
        return writing("hset", true).hset(key, field, text);
    }
    void hincrby(std::string_view key, std::string_view field, std::int64_t by)
    {
        writing("hincrby", true).hincrby(key, field, by);
    }

    std::int64_t publish(std::string_view channel, std::string_view text)
    {
        permit("publish");
        return model_.publish ? model_.publish(channel, text) : 0;
    }

    void permit(std::string_view command) const
    {
        if (model_.is_denied(command))
            throw command_error{
                "ERR The user executing the script can't run this command or subcommand"};
    }

private:
    keyspace& reading(const char* command)
    {
        permit(command);
        return model_.data;
    }

    // What a script may write is looked at before its first change, and not any more afterwards.
    keyspace& writing(const char* command, bool takes_memory)
    {
        permit(command);
        if (!changed_) {
            if (model_.read_only)
                throw command_error{"READONLY You can't write against a read only replica."};
            if (model_.cannot_save)
                throw command_error{"MISCONF Redis is configured to save RDB snapshots, but it's "
                                    "currently unable to persist to disk."};
            if (model_.out_of_memory && takes_memory)
                throw command_error{"OOM command not allowed when used memory > 'maxmemory'."};
        }
        changed_ = true;
        return model_.data;
    }

    redis_model& model_;
    bool changed_ = false;
};

message redis_model::execute(words command, std::int64_t now, clock::time_point when)
{
    now_ = now;
    data.at(now / 1000, when);
    try {
        return answer(command);
    }
    catch (const command_error& failed) {
        return message::error(failed.text);
    }
}

bool redis_model::is_denied(std::string_view command) const noexcept
{
    const auto same = [&](const std::string& each) {
        return std::equal(each.begin(), each.end(), command.begin(), command.end(),
                          [](char a, char b) { return (a | 0x20) == (b | 0x20); });
    };
    return !denied.empty() && std::any_of(denied.begin(), denied.end(), same);
}

message redis_model::answer(words command)
{
    const std::string_view verb = command[0];
    if (is_denied(verb))
        return message::error("NOPERM User default has no permissions to run the '" +
                              std::string(verb) + "' command");
    if (verb == "EVALSHA" || verb == "EVAL")
        return eval(command);
    if (verb == "PING")
        return command.size() > 1 ? message::blob(command[1]) : message::status("PONG");
    if (verb == "HELLO")
        return hello(command);
    if (verb == "TIME")
        return message::strings(message::type::array, {std::to_string(now_ / 1'000'000),
                                                       std::to_string(now_ % 1'000'000)});
    if (verb == "SCRIPT")
        return script(command);
    if (verb == "SELECT")
        return message::status("OK");
    if (verb == "PUBLISH" && command.size() == 3)
        return message::number(publish ? publish(command[1], command[2]) : 0);
    if (verb == "FLUSHALL") {
        data.flush_all();
        return message::status("OK");
    }
    if (command.size() < 2)
        return wrong_arguments(verb);
    const std::string_view key = command[1];
    if (verb == "DEL")
        return count(data.del(key));
    if (verb == "EXISTS")
        return count(data.exists(key));
    if (verb == "PTTL")
        return message::number(data.pttl(key));
    if (verb == "PERSIST")
        return count(data.persist(key));
    if (verb == "GET") {
        const std::string* const found = data.get(key);
        return found == nullptr ? message::null() : message::blob(*found);
    }
    if (verb == "HLEN")
        return message::number(static_cast<std::int64_t>(data.hlen(key)));
    if (verb == "HGETALL") {
        static const keyspace::fields none;
        const keyspace::fields* const found = data.hgetall(key);
        message all;
        all.begin(message::type::map, found == nullptr ? 0 : found->size());
        for (const auto& [field, value] : found == nullptr ? none : *found) {
            all.add(message::type::blob_string, field);
            all.add(message::type::blob_string, value);
        }
        return all;
    }
    if (verb == "SET" && command.size() == 3) {
        data.set(key, command[2], 0);
        return message::status("OK");
    }
    if (verb == "HSET" && command.size() == 4)
        return count(data.hset(key, command[2], command[3]));
    if (verb == "HDEL" && command.size() == 3)
        return count(data.hdel(key, command[2]));
    if (verb == "PEXPIRE" && command.size() == 3) {
        const auto how_long = to_integer(command[2]);
        return how_long ? count(data.pexpire(key, *how_long))
                        : message::error("ERR value is not an integer or out of range");
    }
    return message::error("ERR unknown command '" + std::string(verb) + "'");
}

message redis_model::hello(words command) const
{
    if (command.size() > 1 && command[1] != "3")
        return message::error("NOPROTO unsupported protocol version");
    message said;
    const std::pair<const char*, const char*> all[] = {
        {"server", "redis"},
        {"version", redis_6 ? "6.2.0" : "7.0.0"},
        {"proto", "3"},
        {"mode", cluster ? "cluster" : "standalone"},
        {"role", read_only ? "replica" : "master"},
    };
    said.begin(message::type::map, std::size(all));
    for (const auto& [name, value] : all) {
        said.add(message::type::blob_string, name);
        said.add(message::type::blob_string, value);
    }
    return said;
}

message redis_model::script(words command)
{
    if (command.size() == 3 && command[1] == "LOAD") {
        const auto called = find_script(true, command[2]);
        if (!called)
            return message::error("ERR the simulator has no model of this script");
        loaded_[static_cast<std::size_t>(*called)] = true;
        return message::blob(source_of(*called).sha);
    }
    if (command.size() == 2 && command[1] == "FLUSH") {
        forget_scripts();
        return message::status("OK");
    }
    return message::error("ERR unknown subcommand");
}

message redis_model::eval(words command)
{
    if (command.size() < 3)
        return wrong_arguments(command[0]);
    const auto count_of_keys = to_integer(command[2]);
    if (!count_of_keys || *count_of_keys < 0 ||
        static_cast<std::size_t>(*count_of_keys) > command.size() - 3)
        return message::error("ERR Number of keys can't be greater than number of args");
    const bool by_text = command[0] == "EVAL";
    const auto called = find_script(by_text, command[1]);
    if (by_text && !called)
        return message::error("ERR the simulator has no model of this script");
    if (!called || (!by_text && !has_script(*called)))
        return message::error("NOSCRIPT No matching script. Please use EVAL.");
    loaded_[static_cast<std::size_t>(*called)] = true;
    const auto keys = static_cast<std::size_t>(*count_of_keys);
    return run(*called, command.subspan(3, keys), command.subspan(3 + keys));
}

message redis_model::run(known_script called, words keys, words arguments)
{
    const std::string& sha = source_of(called).sha;
    try {
        calls redis(*this);
        switch (called) {
        case known_script::acquire: return acquire(redis, keys, arguments);
        case known_script::renew: return renew(redis, keys, arguments);
        case known_script::release: return release(redis, keys, arguments);
        default: return check(redis);
        }
    }
    catch (const command_error& failed) {
        if (redis_6)
            return message::error(
                "ERR Error running script (call to f_" + sha +
                "): @user_script:1: " + (failed.text.starts_with("ERR ") ? "" : "-") + failed.text);
        return message::error(failed.text + " script: " + sha + ", on @user_script:1.");
    }
}

// The names and the order of what follows are those of the .lua files.
std::int64_t redis_model::holder(calls& redis, std::string_view lock)
{
    try {
        const std::string name = holder_name(redis.hrandfield(lock));
        return name.empty() ? 0 : std::stoll(name, nullptr, 16);
    }
    catch (const command_error&) {
        return -1;
    }
}

message redis_model::acquire(calls& redis, words keys, words arguments)
{
    const std::string_view lock = keys[0];
    const std::string_view owner = arguments[0];
    const std::int64_t now = now_;
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
            return message::error(is_wrong_type(failed) ? "WRONGTYPE the key " + std::string(lock) +
                                                              " holds string, a lock is a hash"
                                                        : failed.text);
        }
    }

    if (!arguments[5].empty()) {
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

    double last = 0;
    const std::string* stored = nullptr;
    try {
        stored = redis.get(keys[1]);
    }
    catch (const command_error& failed) {
        return message::error(is_wrong_type(failed) ? "WRONGTYPE the key " + std::string(keys[1]) +
                                                          " holds hash, a fence counter is a string"
                                                    : failed.text);
    }
    const bool is_stored = stored != nullptr;
    if (is_stored) {
        const auto number = to_number(*stored);
        if (!number || number != std::floor(*number) || std::isinf(*number) ||
            *number >= 9007199254740991)
            return message::error("WRONGTYPE the key " + std::string(keys[1]) + " holds no fence");
        last = *number;
    }

    if (ours && is_stored) {
        if (left >= 0 && left < lease)
            redis.pexpire(lock, lease);
        if (has(mutant::repeated_acquire_adds))
            redis.hincrby(lock, owner, 1);
        return message::numbers({1, static_cast<std::int64_t>(last), 1, now});
    }

    const double floor = static_cast<double>(now) * 2;
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

    // As "%.0f" writes a whole number.
    const std::string top = std::to_string(static_cast<std::int64_t>(first + block - 1));
    redis.set(keys[1], top, to_integer(arguments[4]).value_or(0));
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
    return message::numbers(
        {1, static_cast<std::int64_t>(first), static_cast<std::int64_t>(block), now});
}

message redis_model::renew(calls& redis, words keys, words arguments)
{
    std::vector<std::int64_t> result(keys.size(), 0);
    std::size_t failed = 0;
    std::string first;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const std::string_view field = arguments[2 * i];
        const std::int64_t lease = to_integer(arguments[2 * i + 1]).value_or(0);
        try {
            if (std::find(unrenewable.begin(), unrenewable.end(), keys[i]) != unrenewable.end())
                throw command_error{"MISCONF renewals of this name are made to fail"};
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

message redis_model::check(calls& redis)
{
    for (const char* const each : {"TIME", "PTTL", "HEXISTS", "GET", "HGET", "HLEN", "PEXPIRE",
                                   "HDEL", "DEL", "SET", "HSET", "HINCRBY"}) {
        try {
            redis.permit(each);
        }
        catch (const command_error& refused) {
            return message::error("NOPERM " + std::string(each) +
                                  ", which locks need: " + refused.text);
        }
    }
    return message::number(1);
}

message redis_model::release(calls& redis, words keys, words arguments)
{
    const std::string_view lock = keys[0];
    std::string_view owner = arguments[0];
    const std::string_view entry = arguments[1];
    const std::string* held = redis.hget(lock, owner);
    if (has(mutant::release_of_another) && held == nullptr && redis.hlen(lock) != 0) {
        redis.del(lock);
        return message::numbers({1, 0});
    }
    const auto number = held == nullptr ? std::nullopt : to_number(*held);
    if (!number)
        return message::numbers({0, 0});
    if (!entry.empty()) {
        if (!redis.hdel(lock, std::string(owner) + '/' + std::string(entry)))
            return message::numbers({0, 0});
    }
    else if (*number <= static_cast<double>(redis.hlen(lock)) - 1) {
        return message::numbers({0, 0});
    }
    if (*number > 1) {
        redis.hincrby(lock, owner, -1);
        return message::numbers({2, 0});
    }
    redis.del(lock);
    std::int64_t receivers = -1;
    try {
        receivers = redis.publish(arguments[2], "0");
    }
    catch (const command_error&) {
    }
    return message::numbers({1, receivers});
}

} // namespace leasehold::testing::impl
