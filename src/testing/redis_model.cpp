#include "testing/redis_model.hpp"

#include "redis/protocol/script.hpp"
#include "testing/script_calls.hpp"
#include "testing/script_models.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace leasehold::testing::impl {
namespace {

using redis_store::script;

const script& source_of(known_script called)
{
    const redis_store::native_scripts& native = redis_store::of_native();
    const redis_store::quorum_scripts& quorum = redis_store::of_quorum();
    switch (called) {
    case known_script::acquire: return redis_store::acquire_script();
    case known_script::renew: return redis_store::renew_script();
    case known_script::release: return redis_store::release_script();
    case known_script::line_acquire: return redis_store::of_line().acquire;
    case known_script::line_leave: return redis_store::of_line().leave;
    case known_script::native_acquire: return native.acquire;
    case known_script::native_release: return native.release;
    case known_script::native_leave: return native.leave;
    case known_script::native_enter: return native.enter;
    case known_script::native_renew: return native.renew;
    case known_script::native_renew_brief: return native.renew_brief;
    case known_script::native_alive: return native.alive;
    case known_script::native_raise: return native.raise;
    case known_script::native_check: return native.check;
    case known_script::quorum_acquire: return quorum.acquire;
    case known_script::quorum_enter: return quorum.enter;
    case known_script::quorum_renew: return quorum.renew;
    case known_script::quorum_release: return quorum.release;
    case known_script::quorum_look: return quorum.look;
    case known_script::quorum_adopt: return quorum.adopt;
    case known_script::quorum_seed: return quorum.seed;
    case known_script::quorum_check: return quorum.check;
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

message count(bool was_there)
{
    return message::number(was_there ? 1 : 0);
}

message text_or_nil(const std::string* text)
{
    return text == nullptr ? message::null() : message::blob(*text);
}

message not_an_integer()
{
    return message::error("ERR value is not an integer or out of range");
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
    if (auto said = read(verb, command))
        return *std::move(said);
    if (auto said = write(verb, command))
        return *std::move(said);
    return message::error("ERR unknown command '" + std::string(verb) + "'");
}

/// Nothing: no command that reads.
std::optional<message> redis_model::read(std::string_view verb, words command)
{
    const std::string_view key = command[1];
    if (verb == "EXISTS")
        return count(data.exists(key));
    if (verb == "TYPE")
        return message::status(data.type(key));
    if (verb == "PTTL")
        return message::number(data.pttl(key));
    if (verb == "GET")
        return text_or_nil(data.get(key));
    if (verb == "HEXISTS" && command.size() == 3)
        return count(data.hget(key, command[2]) != nullptr);
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
    if (verb == "LRANGE" && command.size() == 4 && command[2] == "0" && command[3] == "-1") {
        const keyspace::items* const found = data.list(key);
        message all;
        all.begin(message::type::array, found == nullptr ? 0 : found->size());
        if (found != nullptr)
            for (const std::string& each : *found)
                all.add(message::type::blob_string, each);
        return all;
    }
    return std::nullopt;
}

/// Nothing: no command that writes.
std::optional<message> redis_model::write(std::string_view verb, words command)
{
    const std::string_view key = command[1];
    if (verb == "DEL" || verb == "PERSIST" || verb == "HDEL" || verb == "PEXPIRE" ||
        verb == "DELIFEQ" || verb == "DELEX")
        require_writable(false);
    else if (verb == "SET" || verb == "INCRBY" || verb == "HSET" || verb == "RPUSH")
        require_writable(true);
    else
        return std::nullopt;
    if (verb == "DEL")
        return count(data.del(key));
    if (verb == "PERSIST")
        return count(data.persist(key));
    if (verb == "SET")
        return set(command);
    if (verb == "INCRBY" && command.size() == 3) {
        const auto by = to_integer(command[2]);
        return by ? message::number(data.incrby(key, *by)) : not_an_integer();
    }
    if (verb == "HSET" && command.size() == 4)
        return count(data.hset(key, command[2], command[3]));
    if (verb == "HDEL" && command.size() == 3)
        return count(data.hdel(key, command[2]));
    if (verb == "RPUSH" && command.size() == 3)
        return message::number(static_cast<std::int64_t>(data.rpush(key, command[2])));
    if (verb == "PEXPIRE" && command.size() == 3) {
        const auto how_long = to_integer(command[2]);
        return how_long ? count(data.pexpire(key, *how_long)) : not_an_integer();
    }
    if (verb == "DELIFEQ" && product == server::product::valkey_9 && command.size() == 3)
        return delete_if_equal(key, command[2]);
    if (verb == "DELEX" && product == server::product::redis_8_4 && command.size() == 4 &&
        command[2] == "IFEQ") {
        const std::string_view type = data.type(key);
        if (type != "none" && type != "string")
            return message::error("ERR Key should be of string type if conditions are specified");
        return delete_if_equal(key, command[3]);
    }
    return std::nullopt;
}

message redis_model::set(words command)
{
    bool absent = false;
    bool present = false;
    bool gets = false;
    bool keeps = false;
    std::int64_t how_long = 0;
    if (command.size() < 3)
        return wrong_arguments(command[0]);
    for (std::size_t i = 3; i < command.size(); ++i) {
        if (command[i] == "NX") {
            absent = true;
        }
        else if (command[i] == "XX") {
            present = true;
        }
        else if (command[i] == "GET") {
            gets = true;
        }
        else if (command[i] == "KEEPTTL") {
            keeps = true;
        }
        else if (command[i] == "PX" && i + 1 < command.size()) {
            const auto given = to_integer(command[++i]);
            if (!given)
                return not_an_integer();
            if (*given <= 0)
                return message::error("ERR invalid expire time in 'set' command");
            how_long = *given;
        }
        else {
            return message::error("ERR syntax error");
        }
    }
    if ((absent && present) || (keeps && how_long != 0) ||
        (absent && gets && product == server::product::redis_6))
        return message::error("ERR syntax error");
    const std::string_view key = command[1];
    const message before = gets ? text_or_nil(data.get(key)) : message::null();
    if (data.exists(key) ? absent : present)
        return before;
    if (keeps)
        data.set_text(key, command[2]);
    else
        data.set(key, command[2], how_long);
    return gets ? before : message::status("OK");
}

message redis_model::delete_if_equal(std::string_view key, std::string_view value)
{
    const std::string* const found = data.get(key);
    return count(found != nullptr && *found == value && data.del(key));
}

void redis_model::require_writable(bool takes_memory) const
{
    if (read_only)
        throw command_error{"READONLY You can't write against a read only replica."};
    if (cannot_save)
        throw command_error{"MISCONF Redis is configured to save RDB snapshots, but it's "
                            "currently unable to persist to disk."};
    if (out_of_memory && takes_memory)
        throw command_error{"OOM command not allowed when used memory > 'maxmemory'."};
}

message redis_model::hello(words command) const
{
    if (command.size() > 1 && command[1] != "3")
        return message::error("NOPROTO unsupported protocol version");
    message said;
    const bool is_valkey = product == server::product::valkey_8 ||
                           product == server::product::valkey_9;
    const std::pair<const char*, const char*> all[] = {
        {"server", is_valkey ? "valkey" : "redis"},
        {"version", version()},
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

const char* redis_model::version() const noexcept
{
    switch (product) {
    case server::product::redis_6: return "6.2.0";
    case server::product::redis_8_4: return "8.4.0";
    case server::product::valkey_8: return "8.0.0";
    case server::product::valkey_9: return "9.0.0";
    default: return "7.0.0";
    }
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
        script_calls redis(*this, now_);
        if (is_of_quorum(called))
            return run_quorum(called, redis, keys, arguments);
        return is_native(called) ? run_native(called, redis, keys, arguments)
                                 : run_redisson(called, redis, keys, arguments);
    }
    catch (const command_error& failed) {
        if (product == server::product::redis_6)
            return message::error(
                "ERR Error running script (call to f_" + sha +
                "): @user_script:1: " + (failed.text.starts_with("ERR ") ? "" : "-") + failed.text);
        return message::error(failed.text + " script: " + sha + ", on @user_script:1.");
    }
}

} // namespace leasehold::testing::impl
