#ifndef LEASEHOLD_SRC_TESTING_SCRIPT_CALLS_HPP
#define LEASEHOLD_SRC_TESTING_SCRIPT_CALLS_HPP

#include "testing/redis_model.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::testing::impl {

/// `redis.call` in a script: a command that the server refuses throws `command_error`, which ends
/// the script unless it catches it, as `redis.pcall` does.
class script_calls
{
public:
    /// @param now Microseconds since 1970.
    script_calls(redis_model& of, std::int64_t now) noexcept : model_(of), now_(now) {}

    std::int64_t time()
    {
        permit("time");
        return now_;
    }
    std::int64_t pttl(std::string_view key) { return reading("pttl").pttl(key); }
    bool exists(std::string_view key) { return reading("exists").exists(key); }
    /// As `redis.pcall`, for an error message.
    std::string type(std::string_view key)
    {
        try {
            return reading("type").type(key);
        }
        catch (const command_error&) {
            return "another type";
        }
    }
    bool hexists(std::string_view key, std::string_view field)
    {
        return reading("hexists").hget(key, field) != nullptr;
    }
    const std::string* hget(std::string_view key, std::string_view field)
    {
        return reading("hget").hget(key, field);
    }
    std::vector<std::optional<std::string>> hmget(std::string_view key,
                                                  std::initializer_list<std::string_view> fields)
    {
        keyspace& data = reading("hmget");
        std::vector<std::optional<std::string>> all;
        for (const std::string_view each : fields) {
            const std::string* const found = data.hget(key, each);
            all.push_back(found == nullptr ? std::nullopt : std::optional(*found));
        }
        return all;
    }
    /// As INFO says it.
    const std::string& run_id()
    {
        permit("info");
        return model_.run_id;
    }
    std::size_t hlen(std::string_view key) { return reading("hlen").hlen(key); }
    /// Any: the first.
    std::string_view hrandfield(std::string_view key)
    {
        const keyspace::fields* const all = reading("hrandfield").hgetall(key);
        return all == nullptr ? std::string_view() : std::string_view(all->front().first);
    }
    const std::string* get(std::string_view key) { return reading("get").get(key); }
    /// A copy, which stays when the list changes.
    std::optional<std::string> lindex(std::string_view key, std::size_t place)
    {
        const std::string* const found = reading("lindex").lindex(key, place);
        return found == nullptr ? std::nullopt : std::optional(*found);
    }
    std::optional<std::size_t> lpos(std::string_view key, std::string_view text, std::size_t most)
    {
        return reading("lpos").lpos(key, text, most);
    }
    bool pexpire(std::string_view key, std::int64_t how_long)
    {
        return writing("pexpire", false).pexpire(key, how_long);
    }
    bool hdel(std::string_view key, std::string_view field)
    {
        return writing("hdel", false).hdel(key, field);
    }
    bool del(std::string_view key) { return writing("del", false).del(key); }
    bool lpop(std::string_view key) { return writing("lpop", false).lpop(key); }
    bool lrem(std::string_view key, std::string_view text)
    {
        return writing("lrem", false).lrem(key, text);
    }
    /// @param how_long 0: for ever.
    void set(std::string_view key, std::string_view text, std::int64_t how_long)
    {
        writing("set", true).set(key, text, how_long);
    }
    /// With GET: what was there before.
    std::optional<std::string> set_get(std::string_view key, std::string_view text,
                                       std::int64_t how_long)
    {
        keyspace& data = writing("set", true);
        const std::string* const found = data.get(key);
        const auto before = found == nullptr ? std::nullopt : std::optional(*found);
        data.set(key, text, how_long);
        return before;
    }
    void set_keepttl(std::string_view key, std::string_view text)
    {
        writing("set", true).set_text(key, text);
    }
    std::int64_t incrby(std::string_view key, std::int64_t by)
    {
        return writing("incrby", true).incrby(key, by);
    }
    bool hset(std::string_view key, std::string_view field, std::string_view text)
    {
        return writing("hset", true).hset(key, field, text);
    }
    void hincrby(std::string_view key, std::string_view field, std::int64_t by)
    {
        writing("hincrby", true).hincrby(key, field, by);
    }
    std::size_t rpush(std::string_view key, std::string_view text)
    {
        return writing("rpush", true).rpush(key, text);
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

    /// Fails where renewals of the name are made to.
    void renews(std::string_view name) const
    {
        const auto& all = model_.unrenewable;
        if (std::find(all.begin(), all.end(), name) != all.end())
            throw command_error{"MISCONF renewals of this name are made to fail"};
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
        if (!changed_)
            model_.require_writable(takes_memory);
        changed_ = true;
        return model_.data;
    }

    redis_model& model_;
    const std::int64_t now_;
    bool changed_ = false;
};

} // namespace leasehold::testing::impl

#endif
