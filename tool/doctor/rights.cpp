#include "rights.hpp"

#include "redis/commands/native_keys.hpp"
#include "redis/protocol/key_names.hpp"
#include "redis/protocol/slot.hpp"
#include "redis/redlock/member_names.hpp"

#include <utility>
#include <vector>

namespace leasehold::tool::doctor {
namespace {

/// An example of a command that the library sends.
struct use
{
    command_words words;
    const char* without = nullptr; ///< The effect of its absence. Null: locks do not work.
};

constexpr char no_listening[] = "a release does not notify the waiters, and they poll";
constexpr char no_kill[] =
    "commands of a lost connection may leave an orphaned lock for its lease time";
constexpr char no_grace[] = "dead_holder_grace has no effect: the locks of a dead holder stay held "
                            "for their lease time";
constexpr char no_state[] = "a client may use the outdated map of a disconnected node";
constexpr char no_fast_release[] = "each release needs a script";

/// The commands of both layouts and of the members of a quorum.
void add_common(const std::string& key, std::vector<use>& to)
{
    const std::string sha(40, '0');
    for (command_words words : {
             command_words{"evalsha", sha, "1", key},
             {"eval", "return 1", "1", key},
             {"script", "load", "return 1"},
             {"time"},
             {"ping"},
             {"get", key},
             {"del", key},
             {"pttl", key},
             {"pexpire", key, "1000"},
             {"hset", key, "field", "1"},
             {"hget", key, "field"},
             {"hdel", key, "field"},
             {"hexists", key, "field"},
         })
        to.push_back({std::move(words)});
}

/// The commands of the queue.
void add_line(const redis_store::native_keys& keys, const std::string& key, std::vector<use>& to)
{
    std::string line, waiters, grants;
    keys.queue(key, line);
    keys.waiters(key, waiters);
    keys.grants("client", grants);
    for (command_words words : {
             command_words{"exists", line},
             {"hset", waiters, "field", "1"},
             {"rpush", line, "owner"},
             {"lindex", line, "0"},
             {"lpos", line, "owner"},
             {"lpop", line},
             {"lrem", line, "0", "owner"},
         })
        to.push_back({std::move(words)});
    to.push_back({{"publish", grants, "owner"}, no_listening});
    to.push_back({{"subscribe", grants}, no_listening});
}

/// CLIENT INFO returns the id of the connection that may be ended later.
void add_kill(std::vector<use>& to)
{
    to.push_back({{"client", "info"}, no_kill});
    to.push_back({{"client", "kill", "ID", "1"}, no_kill});
}

void add_native(const redis_store::native_keys& keys, const std::string& key, std::vector<use>& to)
{
    add_line(keys, key, to);
    for (command_words words : {
             command_words{"set", key, "value", "NX", "PX", "1000"},
             {"incrby", std::string(keys.fence()), "1"},
             {"mget", key},
         })
        to.push_back({std::move(words)});
    add_kill(to);
    to.push_back({{"info", "server"}, no_grace});
    to.push_back({{"delifeq", key, "value"}, no_fast_release});
    to.push_back({{"delex", key, "IFEQ", "value"}, no_fast_release});
}

void add_redisson(const std::string& key, std::vector<use>& to)
{
    std::string fence, channel;
    redis_store::fence_key(key, fence);
    redis_store::release_channel(key, channel);
    add_line(redis_store::native_keys(), key, to);
    for (command_words words : {
             command_words{"hincrby", key, "field", "1"},
             {"hlen", key},
             {"get", fence},
             {"set", fence, "1"},
             {"get", "redisson_lock_token:{leasehold}:check"},
         })
        to.push_back({std::move(words)});
    to.push_back({{"hrandfield", key}, "errors do not name the holder of a lock"});
    for (const char* const each : {"subscribe", "unsubscribe"})
        to.push_back({{each, channel}, no_listening});
    to.push_back({{"publish", channel, "0"}, no_listening});
}

void add_quorum(const quorum::member_keys& keys, const std::string& key, std::vector<use>& to)
{
    const std::string channel = keys.releases(key);
    for (command_words words : {
             command_words{"info", "server"},
             {"set", key, "value", "NX", "PX", "1000"},
             {"hmget", key, "field"},
             {"hlen", key},
             {"hget", keys.record(), "field"},
         })
        to.push_back({std::move(words)});
    add_kill(to);
    for (const char* const each : {"subscribe", "unsubscribe"})
        to.push_back({{each, channel}, no_listening});
    to.push_back({{"publish", channel, "0"}, no_listening});
}

/// @param key The key of a lock.
std::vector<use> uses_of(const redis_config& where, const std::string& key)
{
    const redis_store::native_keys keys(where.prefix);
    std::vector<use> all;
    add_common(key, all);
    if (where.kind == redis_config::deployment::quorum) {
        add_quorum(quorum::member_keys(where.prefix), key, all);
        return all;
    }
    if (where.layout == redis_config::key_layout::native)
        add_native(keys, key, all);
    else
        add_redisson(key, all);
    if (where.kind == redis_config::deployment::cluster) {
        all.push_back({{"cluster", "info"}, no_state});
        all.push_back({{"cluster", "shards"}});
        all.push_back({{"cluster", "slots"}});
        all.push_back({{"asking"}});
        std::string channel;
        if (where.layout == redis_config::key_layout::native)
            keys.grants_in(redis_store::slot_of(key), "client", channel);
        else
            redis_store::release_channel(key, channel);
        for (const char* const each : {"ssubscribe", "sunsubscribe", "unsubscribe"})
            all.push_back({{each, channel}, no_listening});
        all.push_back({{"spublish", channel, "0"}, no_listening});
    }
    if (where.database != 0)
        all.push_back({{"select", std::to_string(where.database)}});
    return all;
}

std::string name_of(const command_words& words)
{
    const bool has_subcommand = words[0] == "client" || words[0] == "script" ||
                                words[0] == "cluster";
    return has_subcommand ? words[0] + '|' + words[1] : words[0];
}

/// If a command is tried with several keys, the first rejection counts.
void add(right found, std::vector<right>& to)
{
    for (right& known : to) {
        if (known.command != found.command)
            continue;
        if (known.refusal.empty())
            known = std::move(found);
        return;
    }
    to.push_back(std::move(found));
}

} // namespace

void ask_rights(server_connection& server, const redis_config& where, const std::string& key,
                server_facts& facts)
{
    const std::vector<use> uses = uses_of(where, where.prefix + key);
    std::vector<command_words> questions;
    for (const use& each : uses) {
        command_words words{"ACL", "DRYRUN", facts.user};
        words.insert(words.end(), each.words.begin(), each.words.end());
        questions.push_back(std::move(words));
    }
    const std::vector<resp_value> answers = server.ask_all(questions);
    std::vector<right> all;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        if (answers[i].is_error()) {
            // The server does not have this command, so there is no right to grant.
            if (answers[i].text.find("Command '") != std::string::npos)
                continue;
            facts.refused.emplace("ACL DRYRUN", answers[i].text);
            return;
        }
        right found;
        found.command = name_of(uses[i].words);
        found.is_needed = uses[i].without == nullptr;
        found.without = found.is_needed ? "" : uses[i].without;
        if (answers[i].text != "OK")
            found.refusal = answers[i].text;
        add(std::move(found), all);
    }
    facts.rights = std::move(all);
}

} // namespace leasehold::tool::doctor
