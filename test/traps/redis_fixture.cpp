#include "traps/redis_fixture.hpp"

#include <utility>

namespace leasehold::test {

redis_fixture::redis_fixture(std::vector<std::string> options, redis_setup setup)
    : server(std::move(options), std::move(setup)),
      connection(std::in_place, server.endpoint()),
      raw(*connection)
{}

config redis_fixture::direct() const
{
    config settings(server.unix_url());
    settings.reconnect = 10ms;
    return settings;
}

config redis_fixture::through(const fault_proxy& proxy)
{
    config settings(proxy.url());
    settings.reconnect = 10ms;
    return settings;
}

bool redis_fixture::exists(const std::string& name)
{
    return raw.integer({"EXISTS", name}) == 1;
}

std::int64_t redis_fixture::left(const std::string& name)
{
    return raw.integer({"PTTL", name});
}

std::map<std::string, std::string> redis_fixture::fields(const std::string& name)
{
    const auto words = raw.strings({"HGETALL", name});
    std::map<std::string, std::string> all;
    for (std::size_t i = 0; i + 1 < words.size(); i += 2)
        all[words[i]] = words[i + 1];
    return all;
}

std::int64_t redis_fixture::watchers(const std::string& name)
{
    return raw.subscribers(channel_of(name));
}

std::uint64_t redis_fixture::scripts_run()
{
    return raw.calls("evalsha") + raw.calls("eval");
}

void redis_fixture::foreign_lock(const std::string& name, milliseconds time,
                                 const std::string& owner)
{
    raw.done({"MULTI"});
    raw.done({"HSET", name, owner, "1"});
    raw.done({"PEXPIRE", name, std::to_string(time.count())});
    raw.done({"EXEC"});
}

void redis_fixture::make_busy(resp_client& by)
{
    raw.done({"CONFIG", "SET", "busy-reply-threshold", "20"});
    by.send({"EVAL", "while true do end", "0"});
    // It may have begun or not: only then the answer is an error.
    while (!raw.command({"PING"}).is_error()) {
    }
}

void redis_fixture::await_gone(const std::string& name)
{
    eventually([&] { return !exists(name); });
}

void redis_fixture::await_watchers(const std::string& name, std::int64_t count)
{
    eventually([&] { return watchers(name) == count; });
}

std::string channel_of(const std::string& name)
{
    return "redisson_lock__channel:{" + name + "}";
}

std::string fence_key_of(const std::string& name)
{
    return "redisson_lock_token:{" + name + "}";
}

} // namespace leasehold::test
