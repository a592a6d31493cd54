#include "testing/server/redis_model.hpp"

#include "testing/server/known_script.hpp"
#include "testing/server/lua_interpreter.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace leasehold::testing::impl {
namespace {

using type = message::type;

constexpr std::string_view not_an_integer = "ERR value is not an integer or out of range";
constexpr std::string_view other_form = "ERR the simulator does not know this form of the command";

std::optional<std::int64_t> to_integer(std::string_view text)
{
    std::int64_t value = 0;
    const auto [last, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    return failed == std::errc() && last == text.data() + text.size() ? std::optional(value)
                                                                      : std::nullopt;
}

/// Calls `run` with the number in the text.
template <class F>
void with_integer(std::string_view text, reply_sink& out, F run)
{
    if (const auto number = to_integer(text))
        run(*number);
    else
        out.error(not_an_integer);
}

std::string wrong_arguments(std::string_view command)
{
    std::string name(command);
    std::transform(name.begin(), name.end(), name.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return "ERR wrong number of arguments for '" + name + "' command";
}

constexpr std::size_t any = static_cast<std::size_t>(-1); ///< Number of words.

/// A script that is not one of the library's.
struct other_script
{
    explicit other_script(std::string_view source) : text(source), called(text) {}

    std::string text;
    redis_store::script called;
};

} // namespace

struct redis_model::command_info
{
    /// The effect of the command on the data.
    enum class effect : std::uint8_t
    {
        reads,
        writes,
        takes_memory, ///< Writes, and is rejected without memory.
    };
    using function = void(redis_model& model, words command, reply_sink& out);

    [[nodiscard]] bool accepts(std::size_t count) const noexcept
    {
        return count >= least && count <= most;
    }

    [[nodiscard]] bool writes() const noexcept { return does != effect::reads; }
    /// Throws the error that prevents the write.
    void require_writable(const redis_model& model) const
    {
        model.require_writable(does == effect::takes_memory);
    }

    std::string_view verb;
    std::size_t least, most; ///< Words, the verb included.
    effect does;
    function* run;

    static const command_info all[];
};

const redis_model::command_info redis_model::command_info::all[] = {
    {"DEL", 2, any, effect::writes,
     [](redis_model& model, words command, reply_sink& out) {
         out.number(std::count_if(command.begin() + 1, command.end(),
                                  [&](std::string_view key) { return model.data.del(key); }));
     }},
    {"DELEX", 4, 4, effect::writes,
     [](redis_model& model, words command, reply_sink& out) {
         const std::string_view kind = model.data.type(command[1]);
         if (command[2] != "IFEQ")
             out.error(other_form);
         else if (kind != "none" && kind != "string")
             out.error("ERR Key should be of string type if conditions are specified");
         else
             model.delete_if_equal(command[1], command[3], out);
     }},
    {"DELIFEQ", 3, 3, effect::writes,
     [](redis_model& model, words command, reply_sink& out) {
         model.delete_if_equal(command[1], command[2], out);
     }},
    {"EXISTS", 2, any, effect::reads,
     [](redis_model& model, words command, reply_sink& out) {
         out.number(std::count_if(command.begin() + 1, command.end(),
                                  [&](std::string_view key) { return model.data.exists(key); }));
     }},
    {"FLUSHALL", 1, 1, effect::reads, // as far as the server can reject writes
     [](redis_model& model, words, reply_sink& out) {
         model.data.flush_all();
         out.status("OK");
     }},
    {"GET", 2, 2, effect::reads,
     [](redis_model& model, words command, reply_sink& out) {
         out.text_or_null(model.data.get(command[1]));
     }},
    {"HDEL", 3, 3, effect::writes,
     [](redis_model& model, words command, reply_sink& out) {
         out.number(model.data.hdel(command[1], command[2]) ? 1 : 0);
     }},
    {"HEXISTS", 3, 3, effect::reads,
     [](redis_model& model, words command, reply_sink& out) {
         out.number(model.data.hget(command[1], command[2]) != nullptr ? 1 : 0);
     }},
    {"HGET", 3, 3, effect::reads,
     [](redis_model& model, words command, reply_sink& out) {
         out.text_or_null(model.data.hget(command[1], command[2]));
     }},
    {"HGETALL", 2, 2, effect::reads,
     [](redis_model& model, words command, reply_sink& out) {
         static const keyspace::fields none;
         const keyspace::fields* const found = model.data.hgetall(command[1]);
         const keyspace::fields& all = found == nullptr ? none : *found;
         out.begin(type::map, all.size());
         for (const auto& [field, value] : all) {
             out.text(field);
             out.text(value);
         }
     }},
    {"HINCRBY", 4, 4, effect::takes_memory,
     [](redis_model& model, words command, reply_sink& out) {
         with_integer(command[3], out, [&](std::int64_t by) {
             out.number(model.data.hincrby(command[1], command[2], by));
         });
     }},
    {"HLEN", 2, 2, effect::reads,
     [](redis_model& model, words command, reply_sink& out) {
         out.number(static_cast<std::int64_t>(model.data.hlen(command[1])));
     }},
    {"HMGET", 3, any, effect::reads,
     [](redis_model& model, words command, reply_sink& out) {
         const keyspace::fields* const all = model.data.hgetall(command[1]);
         out.begin(type::array, command.size() - 2);
         for (const std::string_view field : command.subspan(2))
             out.text_or_null(keyspace::find_field(all, field));
     }},
    {"HRANDFIELD", 2, 2, effect::reads, // any: the first
     [](redis_model& model, words command, reply_sink& out) {
         const keyspace::fields* const all = model.data.hgetall(command[1]);
         out.text_or_null(all == nullptr ? nullptr : &all->front().first);
     }},
    {"HSET", 4, any, effect::takes_memory,
     [](redis_model& model, words command, reply_sink& out) {
         if (command.size() % 2 != 0)
             return out.error(wrong_arguments(command[0]));
         std::int64_t added = 0;
         for (std::size_t i = 2; i < command.size(); i += 2)
             added += model.data.hset(command[1], command[i], command[i + 1]) ? 1 : 0;
         out.number(added);
     }},
    {"INCRBY", 3, 3, effect::takes_memory,
     [](redis_model& model, words command, reply_sink& out) {
         with_integer(command[2], out, [&](std::int64_t by) {
             out.number(model.data.incrby(command[1], by));
         });
     }},
    {"INFO", 1, 2, effect::reads,
     [](redis_model& model, words, reply_sink& out) {
         out.text("# Server\r\nrun_id:" + model.run_id + "\r\n");
     }},
    {"LINDEX", 3, 3, effect::reads,
     [](redis_model& model, words command, reply_sink& out) {
         with_integer(command[2], out, [&](std::int64_t place) {
             if (place < 0)
                 out.error(other_form);
             else
                 out.text_or_null(model.data.lindex(command[1], static_cast<std::size_t>(place)));
         });
     }},
    {"LPOP", 2, 2, effect::writes,
     [](redis_model& model, words command, reply_sink& out) {
         out.text_or_null(model.data.lindex(command[1], 0));
         model.data.lpop(command[1]);
     }},
    {"LPOS", 5, 5, effect::reads,
     [](redis_model& model, words command, reply_sink& out) {
         if (command[3] != "MAXLEN")
             return out.error(other_form);
         with_integer(command[4], out, [&](std::int64_t longest) {
             const auto place = model.data.lpos(command[1], command[2],
                                                static_cast<std::size_t>(longest));
             if (place)
                 out.number(static_cast<std::int64_t>(*place));
             else
                 out.null();
         });
     }},
    {"LRANGE", 4, 4, effect::reads,
     [](redis_model& model, words command, reply_sink& out) {
         if (command[2] != "0" || command[3] != "-1")
             return out.error(other_form);
         static const keyspace::items none;
         const keyspace::items* const found = model.data.list(command[1]);
         const keyspace::items& all = found == nullptr ? none : *found;
         out.begin(type::array, all.size());
         for (const std::string& each : all)
             out.text(each);
     }},
    {"LREM", 4, 4, effect::writes,
     [](redis_model& model, words command, reply_sink& out) {
         if (command[2] != "1")
             return out.error(other_form);
         out.number(model.data.lrem(command[1], command[3]) ? 1 : 0);
     }},
    {"MGET", 2, any, effect::reads,
     [](redis_model& model, words command, reply_sink& out) {
         out.begin(type::array, command.size() - 1);
         for (const std::string_view key : command.subspan(1)) {
             const bool is_text = model.data.type(key) == std::string_view("string");
             out.text_or_null(is_text ? model.data.get(key) : nullptr);
         }
     }},
    {"PERSIST", 2, 2, effect::writes,
     [](redis_model& model, words command, reply_sink& out) {
         out.number(model.data.persist(command[1]) ? 1 : 0);
     }},
    {"PEXPIRE", 3, 3, effect::writes,
     [](redis_model& model, words command, reply_sink& out) {
         with_integer(command[2], out, [&](std::int64_t how_long) {
             out.number(model.data.pexpire(command[1], how_long) ? 1 : 0);
         });
     }},
    {"PING", 1, 2, effect::reads,
     [](redis_model&, words command, reply_sink& out) {
         if (command.size() > 1)
             out.text(command[1]);
         else
             out.status("PONG");
     }},
    {"PTTL", 2, 2, effect::reads,
     [](redis_model& model, words command, reply_sink& out) {
         out.number(model.data.pttl(command[1]));
     }},
    {"PUBLISH", 3, 3, effect::reads,
     [](redis_model& model, words command, reply_sink& out) {
         out.number(model.publish ? model.publish(command[1], command[2]) : 0);
     }},
    {"RPUSH", 3, 3, effect::takes_memory,
     [](redis_model& model, words command, reply_sink& out) {
         out.number(static_cast<std::int64_t>(model.data.rpush(command[1], command[2])));
     }},
    {"SELECT", 2, 2, effect::reads,
     [](redis_model&, words, reply_sink& out) { out.status("OK"); }},
    {"SET", 3, any, effect::takes_memory,
     [](redis_model& model, words command, reply_sink& out) { model.set(command, out); }},
    {"SPUBLISH", 3, 3, effect::reads,
     [](redis_model& model, words command, reply_sink& out) {
         out.number(model.publish ? model.publish(command[1], command[2]) : 0);
     }},
    {"TIME", 1, 1, effect::reads,
     [](redis_model& model, words, reply_sink& out) {
         out.begin(type::array, 2);
         for (const std::int64_t each : {model.now_ / 1'000'000, model.now_ % 1'000'000}) {
             std::array<char, 20> digits; // NOLINT(cppcoreguidelines-pro-type-member-init)
             const char* const end = std::to_chars(digits.begin(), digits.end(), each).ptr;
             out.text({digits.begin(), end});
         }
     }},
    {"TYPE", 2, 2, effect::reads,
     [](redis_model& model, words command, reply_sink& out) {
         out.status(model.data.type(command[1]));
     }},
};

/// The commands of one script.
class redis_model::script_commands final : public lua_interpreter::commands
{
public:
    /// @param renews Whether the script is one that renews locks.
    script_commands(redis_model& model, bool renews) noexcept : model_(model), renews_(renews) {}

    void run(words command, reply_sink& out) override
    {
        try {
            check_and_run(command, out);
        }
        catch (const command_error& failed) {
            out.error(failed.text);
        }
    }

private:
    void check_and_run(words command, reply_sink& out)
    {
        const std::string_view verb = command[0];
        const command_info* const known = model_.find_command(verb);
        if (known == nullptr)
            return out.error(
                is_one_of(verb, {"EVAL", "EVALSHA", "HELLO", "SCRIPT", "SUBSCRIBE", "UNSUBSCRIBE"})
                    ? "ERR This Redis command is not allowed from script"
                    : "ERR Unknown Redis command called from script");
        if (!known->accepts(command.size()))
            return out.error("ERR Wrong number of args calling Redis command from script");
        if (model_.is_denied(verb))
            return out.error(
                "ERR The user executing the script can't run this command or subcommand");
        const auto& fail = model_.unrenewable;
        if (renews_ && command.size() > 1 &&
            std::find(fail.begin(), fail.end(), command[1]) != fail.end())
            return out.error("MISCONF renewals of this name are made to fail");
        // A server checks whether it can be written to before the first write of a script only.
        if (known->writes() && !has_written_) {
            known->require_writable(model_);
            has_written_ = true;
        }
        known->run(model_, command, out);
    }

    redis_model& model_;
    const bool renews_;
    bool has_written_ = false;
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
    if (verb == "HELLO")
        return hello(command);
    if (verb == "SCRIPT")
        return script(command);
    const command_info* const known = find_command(verb);
    if (known == nullptr)
        return message::error("ERR unknown command '" + std::string(verb) + "'");
    if (!known->accepts(command.size()))
        return message::error(wrong_arguments(verb));
    if (known->writes())
        known->require_writable(*this);
    message_sink reply;
    known->run(*this, command, reply);
    return std::move(reply.built);
}

const redis_model::command_info* redis_model::find_command(std::string_view verb) const
{
    static const auto by_verb = [] {
        std::unordered_map<std::string_view, const command_info*> all;
        for (const command_info& each : command_info::all)
            all.emplace(each.verb, &each);
        return all;
    }();
    const auto found = by_verb.find(verb);
    if (found == by_verb.end() || (verb == "DELIFEQ" && product != server::product::valkey_9) ||
        (verb == "DELEX" && product != server::product::redis_8_4))
        return nullptr;
    return found->second;
}

void redis_model::set(words command, reply_sink& out)
{
    bool absent = false;
    bool present = false;
    bool gets = false;
    bool keeps = false;
    std::int64_t how_long = 0;
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
                return out.error(not_an_integer);
            if (*given <= 0)
                return out.error("ERR invalid expire time in 'set' command");
            how_long = *given;
        }
        else {
            return out.error("ERR syntax error");
        }
    }
    if ((absent && present) || (keeps && how_long != 0) ||
        (absent && gets && product == server::product::redis_6))
        return out.error("ERR syntax error");
    const std::string_view key = command[1];
    // Before the value is overwritten.
    if (gets)
        out.text_or_null(data.get(key));
    const bool writes = data.exists(key) ? !absent : !present;
    if (writes && keeps)
        data.set_text(key, command[2]);
    else if (writes)
        data.set(key, command[2], how_long);
    if (gets)
        return;
    if (writes)
        out.status("OK");
    else
        out.null();
}

void redis_model::delete_if_equal(std::string_view key, std::string_view value, reply_sink& out)
{
    const std::string* const found = data.get(key);
    out.number(found != nullptr && *found == value && data.del(key) ? 1 : 0);
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
    message reply;
    const bool is_valkey = product == server::product::valkey_8 ||
                           product == server::product::valkey_9;
    const std::pair<const char*, const char*> all[] = {
        {"server", is_valkey ? "valkey" : "redis"},
        {"version", version()},
        {"proto", "3"},
        {"mode", cluster ? "cluster" : "standalone"},
        {"role", read_only ? "replica" : "master"},
    };
    reply.begin(message::type::map, std::size(all));
    for (const auto& [name, value] : all) {
        reply.add(message::type::blob_string, name);
        reply.add(message::type::blob_string, value);
    }
    return reply;
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
    if (command.size() == 3 && command[1] == "LOAD")
        return message::blob(load_script(command[2])->sha);
    if (command.size() == 2 && command[1] == "FLUSH") {
        forget_scripts();
        return message::status("OK");
    }
    return message::error("ERR unknown subcommand");
}

message redis_model::eval(words command)
{
    if (command.size() < 3)
        return message::error(wrong_arguments(command[0]));
    const auto count_of_keys = to_integer(command[2]);
    if (!count_of_keys)
        return message::error(not_an_integer);
    if (*count_of_keys < 0)
        return message::error("ERR Number of keys can't be negative");
    const auto keys = static_cast<std::size_t>(*count_of_keys);
    if (keys > command.size() - 3)
        return message::error("ERR Number of keys can't be greater than number of args");
    const script_ptr called = command[0] == "EVAL" ? load_script(command[1])
                                                   : find_script(command[1]);
    if (called == nullptr)
        return message::error("NOSCRIPT No matching script. Please use EVAL.");
    const auto known = unrenewable.empty() ? std::nullopt : find_by_sha(called->sha);
    script_commands commands(*this, known && is_renewal(*known));
    lua_interpreter::result result = lua_interpreter::of_this_thread().run(
        *called, command.subspan(3, keys), command.subspan(3 + keys), commands);
    if (result.error.empty())
        return std::move(result.reply);
    return script_error(called->sha, result.error, result.line);
}

message redis_model::script_error(const std::string& sha, const std::string& error, int line) const
{
    if (line == 0)
        return message::error(error);
    const std::string place = "@user_script:" + std::to_string(line);
    if (product == server::product::redis_6)
        return message::error("ERR Error running script (call to f_" + sha + "): " + place + ": " +
                              (error.starts_with("ERR ") ? "" : "-") + error);
    return message::error(error + " script: " + sha + ", on " + place + ".");
}

redis_model::script_ptr redis_model::load_script(std::string_view text)
{
    const auto loaded = std::find_if(scripts_.begin(), scripts_.end(),
                                     [&](const script_ptr& each) { return each->text == text; });
    if (loaded != scripts_.end())
        return *loaded;
    if (const auto known = find_by_text(text))
        return scripts_.emplace_back(script_ptr(), &source_of(*known));
    const auto other = std::make_shared<const other_script>(text);
    return scripts_.emplace_back(other, &other->called);
}

redis_model::script_ptr redis_model::find_script(std::string_view sha) const
{
    const auto loaded = std::find_if(scripts_.begin(), scripts_.end(),
                                     [&](const script_ptr& each) { return each->sha == sha; });
    return loaded == scripts_.end() ? nullptr : *loaded;
}

} // namespace leasehold::testing::impl
