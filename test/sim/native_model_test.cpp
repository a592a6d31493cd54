// As redis_model_test.cpp, for the layout `native`.
#include "redis/commands/native_keys.hpp"
#include "redis/protocol/script.hpp"
#include "sim/model_comparison.hpp"
#include "support/with_a_clock.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;
using redis_store::of_native;
using std::chrono::microseconds;
using testing::impl::generator;

namespace {

// The first client has a subscriber. The last one has no UUID.
constexpr const char* clients[] = {"5e0f8c21-3ad6-4d1c-8f6b-5e7c1f2a3b4c",
                                   "0b1f8c21-3ad6-4d1c-8f6b-5e7c1f2a3b4c", "odd"};

const redis_store::native_keys keys;
const std::string fence(keys.fence());

std::string any_name(generator& random)
{
    return "name-" + std::to_string(random.below(2));
}

/// One is a prefix of another.
std::string any_value(generator& random)
{
    const auto client = random.below(3);
    const bool longer = client == 0 && random.below(2) == 0;
    return "lh:" + std::string(clients[client]) + (longer ? ":11" : ":1");
}

std::string any_entry(generator& random)
{
    return random.below(3) == 0 ? "owner:" + std::to_string(10 + random.below(2)) : "";
}

std::string ms(generator& random, std::int64_t most)
{
    return std::to_string(random.between<std::int64_t>(1, most));
}

std::string any_count(generator& random)
{
    constexpr const char* counts[] = {"1", "1", "2", "16", "1000"};
    return counts[random.below(5)];
}

std::string any_limit(generator& random, microseconds now)
{
    const auto limit = random.below(4);
    return std::to_string(limit == 0   ? now.count() - random.between(1, 2000)
                          : limit == 1 ? now.count() + random.between(0, 2000)
                                       : 0);
}

/// Mostly close to the value of a counter.
std::string any_floor(generator& random, microseconds now)
{
    const auto kind = random.below(5);
    const std::int64_t floor = 2 * now.count() - random.between(0, 1'000'000);
    return std::to_string(kind == 0   ? 0
                          : kind == 1 ? 2 * now.count() + random.between(0, 2000)
                          : kind == 2 ? -floor
                                      : floor);
}

std::string presence(generator& random)
{
    return random.below(4) == 0 ? "0" : ms(random, 60);
}

std::string flag(generator& random)
{
    return random.below(2) == 0 ? "1" : "0";
}

template <class Key>
std::string key(Key of, const std::string& name)
{
    std::string made;
    (keys.*of)(name, made);
    return made;
}

std::string line(const std::string& name)
{
    return key(&redis_store::native_keys::queue, name);
}

std::string waiters(const std::string& name)
{
    return key(&redis_store::native_keys::waiters, name);
}

std::string entries(const std::string& name)
{
    return key(&redis_store::native_keys::entries, name);
}

/// EVALSHA, or sometimes EVAL.
command call(generator& random, const redis_store::script& called, std::vector<std::string> words)
{
    command all = random.below(30) == 0 ? command{"EVAL", std::string(called.text)}
                                        : command{"EVALSHA", called.sha};
    all.insert(all.end(), words.begin(), words.end());
    return all;
}

std::string record_of(const std::string& client)
{
    return key(&redis_store::native_keys::alive, client);
}

std::string any_record(generator& random)
{
    return record_of(clients[random.below(std::size(clients))]);
}

command acquire(generator& random, microseconds now)
{
    const std::string name = any_name(random);
    const std::string value = any_value(random);
    std::vector<std::string> all{"4", name, fence, line(name), waiters(name)};
    const bool promises = random.below(3) == 0;
    if (promises) {
        all.front() = "5";
        all.push_back(record_of(value.substr(3, value.find(':', 3) - 3)));
    }
    for (const std::string& each :
         {value, ms(random, 40), any_count(random), any_limit(random, now), any_floor(random, now),
          presence(random), ms(random, 20), flag(random), flag(random)})
        all.push_back(each);
    if (promises)
        all.push_back(ms(random, 20));
    return call(random, of_native().acquire, all);
}

command leave(generator& random, microseconds now)
{
    const std::string name = any_name(random);
    const bool joins = random.below(2) == 0;
    return call(random, of_native().leave,
                {"5", name, fence, line(name), waiters(name), entries(name), any_value(random),
                 any_entry(random), joins ? any_value(random) : "", ms(random, 40),
                 any_count(random), any_limit(random, now), any_floor(random, now), ms(random, 60),
                 ms(random, 20), flag(random), random.below(2) == 0 ? "0" : ms(random, 20)});
}

command reenter(generator& random, microseconds now)
{
    const std::string name = any_name(random);
    return call(random, of_native().reenter,
                {"2", name, entries(name), any_value(random), ms(random, 40),
                 any_limit(random, now), "owner:" + std::to_string(10 + random.below(2))});
}

command renew(generator& random)
{
    const std::size_t count = 1 + static_cast<std::size_t>(random.below(3));
    std::vector<std::string> all{std::to_string(2 * count)};
    for (std::size_t i = 0; i < count; ++i) {
        const std::string name = any_name(random);
        all.insert(all.end(), {name, entries(name)});
    }
    for (std::size_t i = 0; i < count; ++i)
        for (const std::string& each : {any_value(random), ms(random, 40), any_entry(random)})
            all.push_back(each);
    return call(random, of_native().renew, all);
}

command renew_brief(generator& random)
{
    const std::size_t count = 1 + static_cast<std::size_t>(random.below(3));
    std::vector<std::string> all{std::to_string(count)};
    for (std::size_t i = 0; i < count; ++i)
        all.push_back(any_name(random));
    for (std::size_t i = 0; i < count; ++i)
        for (const std::string& each : {any_value(random), ms(random, 40)})
            all.push_back(each);
    return call(random, of_native().renew_brief, all);
}

command release_all(generator& random)
{
    const std::size_t count = 2 + static_cast<std::size_t>(random.below(2));
    std::vector<std::string> all{std::to_string(count)};
    for (std::size_t i = 0; i < count; ++i)
        all.push_back(any_name(random));
    for (std::size_t i = 0; i < count; ++i)
        all.push_back(any_value(random));
    return call(random, of_native().release_all, all);
}

/// The commands of a client that are not scripts.
command plain(generator& random)
{
    switch (random.below(6)) {
    case 0: return {"SET", any_name(random), any_value(random), "NX", "PX", ms(random, 40), "GET"};
    case 1: return {"SET", any_name(random), any_value(random), "NX", "PX", ms(random, 40)};
    case 2: return {"INCRBY", fence, any_count(random)};
    case 3: return {"DELIFEQ", any_name(random), any_value(random)};
    case 4: return {"DELEX", any_name(random), "IFEQ", any_value(random)};
    default: return {"DELIFEQ", fence, "-"};
    }
}

/// Changes of the keys by other programs.
command interfere(generator& random)
{
    const std::string name = any_name(random);
    constexpr const char* odd_fences[] = {
        "12", "-5",   "abc", "1.5", " 7", "1e3", "9007199254740990", "9223372036854775807",
        "",   "0x10",
    };
    switch (random.below(22)) {
    case 0: return {"DEL", name};
    case 1: return {"SET", name, "of another library"};
    case 2: return {"SET", name, "of another library", "XX", "KEEPTTL"};
    case 3: return {"SET", fence, odd_fences[random.below(std::size(odd_fences))]};
    case 4:
    case 15: return {"HSET", fence, "field", "1"};
    case 5: return {"HSET", name, "field", "1"};
    case 6: return {"PERSIST", name};
    case 7: return {"PEXPIRE", name, std::to_string(random.between(0, 50))};
    case 8: return {"HDEL", waiters(name), any_value(random)};
    case 9: {
        // The last one is left free until long after the clock has stepped back.
        constexpr const char* odd[] = {
            "not what is expected",      "9999999999999999 20 20 12 5",
            "9999999999999999 20 20 0 ", "9999999999999999 20 20 0 5 5",
            "9999999999999999 20 20 0x", "9999999999999999 20 20 0 9999999999999999"};
        return {"HSET", waiters(name), any_value(random), odd[random.below(std::size(odd))]};
    }
    case 10: return {"DEL", line(name)};
    case 11: return {"DEL", waiters(name)};
    case 12: return {"SET", line(name), "not a line"};
    case 13: return {"SET", entries(name), "no entries"};
    case 14: return {"DEL", entries(name)};
    case 16: return {"DEL", any_record(random)};
    case 17: return {"SET", any_record(random), "0123", "PX", "100000"};
    case 18: return {"PERSIST", any_record(random)};
    case 19:
    case 20: return {"HSET", any_record(random), "field", "1"};
    default: return {"DEL", fence};
    }
}

/// Reads the visible state.
command look(generator& random)
{
    const std::string name = any_name(random);
    switch (random.below(12)) {
    case 0: return {"PTTL", name};
    case 10: return {"PTTL", any_record(random)};
    case 1: return {"GET", fence};
    case 2: return {"PTTL", fence};
    case 3: return {"LRANGE", line(name), "0", "-1"};
    case 4: return {"HGETALL", waiters(name)};
    case 5: return {"HGETALL", entries(name)};
    case 6: return {"PTTL", entries(name)};
    case 7: return {"PTTL", line(name)};
    case 8: return {"PTTL", waiters(name)};
    case 9: return {"TYPE", name};
    default: return {"GET", name};
    }
}

command any_command(generator& random, microseconds now)
{
    const auto kind = random.below(1000);
    if (kind < 320)
        return acquire(random, now);
    if (kind < 560)
        return leave(random, now);
    if (kind < 610)
        return call(random, of_native().release, {"1", any_name(random), any_value(random)});
    if (kind < 690)
        return reenter(random, now);
    if (kind < 760)
        return renew(random);
    if (kind < 800)
        return plain(random);
    if (kind < 830)
        return call(random, of_native().raise, {"1", fence, any_floor(random, now)});
    if (kind < 855)
        return interfere(random);
    if (kind < 880)
        return call(random, of_native().alive, {"1", any_record(random)});
    if (kind < 882) // like a new connection
        return {"EVAL", std::string(of_native().check.text), "0"};
    if (kind < 883)
        return {"EVALSHA", of_native().renew.sha, "0"};
    if (kind < 938)
        return renew_brief(random);
    if (kind < 970)
        return release_all(random);
    if (kind < 998)
        return look(random);
    if (kind < 999)
        return {"FLUSHALL"};
    return {"SCRIPT", "FLUSH"};
}

std::string script_of(const command& asked)
{
    return calls(asked, of_native().acquire)       ? "acquire"
           : calls(asked, of_native().leave)       ? "leave"
           : calls(asked, of_native().release)     ? "release"
           : calls(asked, of_native().release_all) ? "release_all"
           : calls(asked, of_native().reenter)     ? "enter"
           : calls(asked, of_native().renew)       ? "renew"
           : calls(asked, of_native().renew_brief) ? "renew_brief"
           : calls(asked, of_native().alive)       ? "alive"
                                                   : "raise";
}

std::string beginning(const std::string& kind, const command&, const std::string& told)
{
    if (kind == "renew" || kind == "renew_brief" || kind == "release" || kind == "alive")
        return told;
    const auto comma = told.find(',');
    return told.substr(0, kind == "leave" ? told.find(',', comma + 1) : comma);
}

} // namespace

BOOST_AUTO_TEST_SUITE(native_model_test, *with_a_clock())

BOOST_AUTO_TEST_CASE(model_of_the_native_layout_gives_the_replies_of_a_server)
{
    compare({.any_command = any_command,
             .script_of = script_of,
             .beginning = beginning,
             .prepare = name_run,
             .rights = {"publish", "publish", "pexpire", "hdel",  "del",    "set",    "hset",
                        "get",     "mget",    "hexists", "pttl",  "hget",   "exists", "lindex",
                        "lpos",    "lpop",    "lrem",    "rpush", "incrby", "type",   "info"},
             .channels = {"leasehold:turn:" + std::string(clients[0])},
             .expected = {"acquire [1",
                          "acquire [0",
                          "acquire [2",
                          "acquire [3",
                          "alive [1]",
                          "alive [2]",
                          "alive [0]",
                          "alive error: WRONGTYPE",
                          "acquire [-1",
                          "acquire error: WRONGTYPE",
                          "acquire error: ERR",
                          "acquire error: NOSCRIPT",
                          "leave [1, 0",
                          "leave [1, 1",
                          "leave [2, 0",
                          "leave [2, 2",
                          "leave [3, 0",
                          "leave [4, 0",
                          "leave [4, 2",
                          "leave [5, 0",
                          "leave [5, 2",
                          "leave [0, 0",
                          "leave error: WRONGTYPE",
                          "leave error: ERR",
                          "enter [1",
                          "enter [-2",
                          "enter [-1",
                          "enter error: WRONGTYPE",
                          "enter error: ERR",
                          "renew [1]",
                          "renew [0]",
                          "renew [1, 0]",
                          "renew [0, 1]",
                          "renew error: ERR",
                          "renew_brief [1]",
                          "renew_brief [0]",
                          "renew_brief [2]",
                          "renew_brief [1, 0]",
                          "renew_brief [0, 1]",
                          "renew_brief error: ERR",
                          "release 1",
                          "release 0",
                          "release error: WRONGTYPE",
                          "release_all [1",
                          "release_all [0",
                          "raise error: WRONGTYPE",
                          "SET OK",
                          "SET nil",
                          "check 1",
                          "check error: NOPERM"}},
            {1, 2, 3, 4, 5});
}

BOOST_AUTO_TEST_SUITE_END()
