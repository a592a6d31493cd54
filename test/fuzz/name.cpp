#include "fuzz/targets.hpp"

#include "memory/lock_table.hpp"
#include "redis/commands/native_keys.hpp"
#include "redis/commands/redisson_commands.hpp"
#include "redis/pipeline/batch.hpp"
#include "redis/protocol/key_names.hpp"
#include "support/resp.hpp"

#include <leasehold/client.hpp>
#include <leasehold/memory.hpp>
#include <leasehold/mutex.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace leasehold::fuzz {
namespace {

using namespace std::chrono_literals;
using acquired = acquire_reply::outcome;

void check_mutex(const std::string& name)
{
    static asio::io_context context;
    static const client locks(context, make_memory_store(std::make_shared<memory_space>()));
    const bool fits = !name.empty() && name.size() <= 4096;
    const bool allowed = fits && !name.starts_with("redisson_lock_token:") &&
                         !name.starts_with("leasehold:");
    try {
        const mutex m(locks, name);
        require(allowed, "a name that is not allowed is taken");
        require(m.name() == name, "the name of a mutex is another");
    }
    catch (const boost::system::system_error& refused) {
        require(!allowed && refused.code() == errc::invalid_name,
                "a name is refused, or for another reason");
        const std::string_view rule = fits ? "does not begin with " : "1 to 4096 bytes";
        require(std::string_view(refused.what()).find(rule) != std::string_view::npos,
                "does not say what is allowed");
    }
}

// The part of a key that a cluster hashes: between the first '{' and the next '}', unless that is
// empty.
std::string_view hashed(std::string_view key)
{
    const std::size_t open = key.find('{');
    const std::size_t close = open == std::string_view::npos ? open : key.find('}', open);
    return close == std::string_view::npos || close == open + 1
               ? key
               : key.substr(open + 1, close - open - 1);
}

void check_keys(const std::string& name)
{
    std::string fence = "what was there before";
    std::string channel = fence;
    redis_store::fence_key(name, fence);
    redis_store::release_channel(name, channel);
    const bool tagged = name.find('{') != std::string::npos;
    const std::string shared = tagged ? ':' + name : ":{" + name + '}';
    require(fence == "redisson_lock_token" + shared && channel == "redisson_lock__channel" + shared,
            "a key is not Redisson's");
    // Of the names with braces, only those that Redisson keeps in one slot too.
    const bool braced = name.find_first_of("{}") != std::string::npos;
    if (!braced || hashed(name).size() != name.size())
        require(hashed(fence) == hashed(name) && hashed(channel) == hashed(name),
                "the keys of a lock are in different slots");
}

std::vector<std::string> words(std::string_view command)
{
    const auto parsed = test::parse_resp(command);
    require(parsed && parsed->second == command.size() &&
                parsed->first.type == test::resp_value::kind::array,
            "a command is not one command");
    std::vector<std::string> result;
    for (const auto& each : parsed->first.items)
        result.push_back(each.text);
    return result;
}

// The server sees any name as one word of one command, also if the command is sent again with its
// script.
void check_commands(const std::string& name)
{
    using redis_store::batch;
    std::string fence, channel, line, waiters;
    redis_store::fence_key(name, fence);
    redis_store::release_channel(name, channel);
    redis_store::native_keys().queue(name, line);
    redis_store::native_keys().waiters(name, waiters);
    redis_store::redisson_commands keys(12ms);
    batch first;
    first.add(store::acquire_handler(), [&](boost::redis::request& to) {
        return keys.acquire({name, "owner", "entry", 10s, 7, 1s}, 11, to);
    });
    first.add(store::release_handler(), [&](boost::redis::request& to) {
        return keys.release({name, "owner", "entry"}, 0, to);
    });
    const renewal both[] = {{name, "a", 1s}, {"other", name, 2s}};
    first.add(redis_store::renew_part(),
              [&](boost::redis::request& to) { return keys.renew(both, to); });
    using text = std::vector<std::string>;
    const std::vector<text> wanted = {{"EVALSHA", redis_store::acquire_script().sha, "2", name,
                                       fence, "owner", "10000", "7", "11", "12", "entry"},
                                      {"EVALSHA", redis_store::of_queue().leave.sha, "4", name,
                                       fence, line, waiters, "owner", "entry", channel,
                                       "leasehold:turn:", "0"},
                                      {"EVALSHA", redis_store::renew_script().sha, "2", name,
                                       "other", "a", "1000", name, "2000"}};
    batch second;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        redis_store::command& sent = first.commands[i];
        const std::string_view bytes = first.request.payload();
        require(words(bytes.substr(sent.begin, sent.end - sent.begin)) == wanted[i],
                "a command does not hold the name as it is");
        second.repeat(first, sent);
        text again = wanted[i];
        again[0] = "EVAL";
        again[1] = sent.made.called->text;
        const redis_store::command& repeated = second.commands[i];
        const std::string_view bytes_again = second.request.payload();
        require(words(bytes_again.substr(repeated.begin, repeated.end - repeated.begin)) == again,
                "a repeated command is another");
    }
}

// The same calls give the same results under these names and under plain names.
void check_table(std::string_view steps, const std::vector<std::string>& names)
{
    std::map<std::string, std::string> plain;
    for (const std::string& each : names)
        plain.try_emplace(each, std::to_string(plain.size()));
    memory::lock_table named, numbered;
    auto now = memory::instant::one_clock(1'000'000s);
    for (const char c : steps.substr(0, 64)) {
        const auto step = static_cast<unsigned char>(c);
        constexpr memory::microseconds pauses[] = {0us, 1ms, 40ms, 150ms};
        constexpr std::string_view owners[] = {"a:1", "a:2", "b:1", ""};
        now = memory::instant::one_clock(now.ticks + pauses[step >> 6]);
        const std::string& name = names[(step & 3u) % names.size()];
        const std::string& number = plain.at(name);
        const std::string_view owner = owners[(step >> 2 & 3u) % 3];
        const std::string_view entry = owners[(step >> 2 & 3u)].empty() ? "e" : "";
        switch (step >> 4 & 3u) {
        case 0:
        case 1: {
            const std::uint32_t fences = (step >> 4 & 3u) == 0 ? 1 : 9;
            const acquire_reply x = named.acquire({name, owner, entry, 100ms, fences, 1s}, {}, now);
            const acquire_reply y = numbered.acquire({number, owner, entry, 100ms, fences, 1s}, {},
                                                     now);
            require(x.result == y.result && x.fences == y.fences &&
                        x.first_fence == y.first_fence && x.remaining == y.remaining,
                    "a name changes the reply to an acquire");
            require(x.result != acquired::granted || named.owner(name, now) == owner,
                    "granted, and another has it");
            break;
        }
        case 2:
            require(named.renew({name, owner, 100ms}, now) ==
                        numbered.renew({number, owner, 100ms}, now),
                    "a name changes a renewal");
            break;
        default:
            require(named.release({name, owner, entry}, {}, now).result ==
                        numbered.release({number, owner, entry}, {}, now).result,
                    "a name changes a release");
        }
        require(named.size(now) == numbered.size(now) && named.names() == numbered.names(),
                "names get mixed up");
    }
}

} // namespace

void name(std::string_view input)
{
    const std::string_view steps = take_line(input);
    std::vector<std::string> names;
    do {
        std::string_view line = take_line(input);
        // A fuzzer avoids long inputs, so one character stands for a long name.
        const bool is_long = line.starts_with('\x01');
        line.remove_prefix(is_long ? 1 : 0);
        std::string& each = names.emplace_back(line);
        while (is_long && !each.empty() && each.size() <= 4096 - line.size() % 8)
            each += std::string(each);
    } while (!input.empty() && names.size() < 4);
    for (const std::string& each : names) {
        check_mutex(each);
        if (each.empty() || each.size() > 8192)
            return;
        check_keys(each);
        check_commands(each);
    }
    check_table(steps, names);
}

} // namespace leasehold::fuzz
