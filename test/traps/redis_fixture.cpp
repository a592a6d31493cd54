#include "traps/redis_fixture.hpp"

#include <utility>

namespace leasehold::test {

redis_fixture::redis_fixture(std::vector<std::string> options, redis_setup setup)
    : server(std::move(options), std::move(setup)),
      connection(std::in_place, server.endpoint()),
      raw(*connection)
{}

redis_config redis_fixture::direct() const
{
    redis_config settings(server.unix_url());
    settings.layout = tested_layout();
    settings.reconnect = 10ms;
    settings.client_info = false; // tests read the keys of locks
    return settings;
}

redis_config redis_fixture::through(const fault_proxy& proxy)
{
    redis_config settings(proxy.url());
    settings.layout = tested_layout();
    settings.reconnect = 10ms;
    settings.client_info = false; // tests read the keys of locks
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
    std::map<std::string, std::string> all;
    if (tested_layout() == redis_config::key_layout::native) {
        if (const std::string owner = holder_of(raw, name); !owner.empty())
            all[owner] = std::to_string(holds_of(raw, name));
        return all;
    }
    const auto words = raw.strings({"HGETALL", name});
    for (std::size_t i = 0; i + 1 < words.size(); i += 2)
        all[words[i]] = words[i + 1];
    return all;
}

std::int64_t redis_fixture::watchers(const std::string& name)
{
    return waiters_of(raw, name);
}

std::uint64_t redis_fixture::scripts_run()
{
    return raw.calls("evalsha") + raw.calls("eval");
}

void redis_fixture::external_lock(const std::string& name, milliseconds time,
                                  const std::string& owner)
{
    take_for(raw, name, owner, time);
}

void redis_fixture::make_busy(resp_client& by)
{
    raw.done({"CONFIG", "SET", "busy-reply-threshold", "20"});
    by.send({"EVAL", "while true do end", "0"});
    // The script may not have started yet: the reply is an error only after it has.
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

} // namespace leasehold::test
