#include "support/tested_layout.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string_view>

namespace leasehold::test {
namespace {

bool is_native()
{
    return tested_layout() == redis_config::key_layout::native;
}

std::string entries_key_of(const std::string& name)
{
    return "leasehold:entries:{" + name + "}";
}

/// The value of a lock of the layout `native`.
std::string value_of(resp_client& server, const std::string& name)
{
    return server.maybe_string({"GET", name}).value_or("");
}

} // namespace

redis_config::key_layout tested_layout()
{
    static const redis_config::key_layout asked = [] {
        const char* const text = std::getenv("LEASEHOLD_TEST_LAYOUT");
        if (text == nullptr)
            return redis_config().layout;
        if (text == std::string_view("native"))
            return redis_config::key_layout::native;
        if (text == std::string_view("redisson"))
            return redis_config::key_layout::redisson;
        throw std::invalid_argument("LEASEHOLD_TEST_LAYOUT is '" + std::string(text) +
                                    "', must be native or redisson");
    }();
    return asked;
}

std::string fence_key_of(const std::string& name)
{
    return is_native() ? "leasehold:fence" : "redisson_lock_token:{" + name + "}";
}

std::vector<std::string> record_of(resp_client& server, const std::string& name)
{
    if (!is_native())
        return server.strings({"HGETALL", name});
    std::vector<std::string> all;
    // The mark of a waiter does not concern the holder.
    if (std::string value = value_of(server, name); !value.empty()) {
        if (const auto flags = value.find('|'); flags != value.npos)
            std::erase(value, 'w');
        if (value.ends_with('|'))
            value.pop_back();
        all.push_back(value);
        for (std::string& each : server.strings({"HKEYS", entries_key_of(name)}))
            all.push_back(std::move(each));
    }
    return all;
}

std::string holder_of(resp_client& server, const std::string& name)
{
    if (is_native()) {
        const std::string value = value_of(server, name);
        return value.starts_with("lh:") ? value.substr(3, value.find('|') - 3) : value;
    }
    for (const std::string& each : server.strings({"HKEYS", name})) {
        if (each.find('/') == each.npos) // the others are entries
            return each;
    }
    return {};
}

std::int64_t holds_of(resp_client& server, const std::string& name)
{
    const std::string owner = holder_of(server, name);
    if (owner.empty())
        return 0;
    if (!is_native())
        return server.integer({"HGET", name, owner});
    const std::string value = value_of(server, name);
    const bool reentered = value.find('e', value.find('|')) != value.npos &&
                           value.find('|') != value.npos;
    return reentered ? server.integer({"HLEN", entries_key_of(name)}) : 1;
}

std::int64_t waiters_of(resp_client& server, const std::string& name)
{
    return server.integer({"HLEN", "leasehold:waiters:{" + name + "}"});
}

void take_for(resp_client& server, const std::string& name, const std::string& owner,
              std::chrono::milliseconds time)
{
    if (is_native()) {
        server.done({"SET", name, owner, "PX", std::to_string(time.count())});
        return;
    }
    server.done({"MULTI"});
    server.done({"HSET", name, owner, "1"});
    server.done({"PEXPIRE", name, std::to_string(time.count())});
    server.done({"EXEC"});
}

} // namespace leasehold::test
