// The simulated server is only useful if it resembles a real one: random commands, those of the
// library and others, get the same replies from both.
#include "redis/commands/native_keys.hpp"
#include "redis/protocol/key_names.hpp"
#include "redis/protocol/script.hpp"
#include "sim/model_comparison.hpp"
#include "support/resp_client.hpp"
#include "support/with_a_clock.hpp"
#include "testing/server/redis_model.hpp"
#include "testing/server/segment.hpp"
#include "testing/server/server_state.hpp"
#include "testing/time/random.hpp"
#include "testing/time/scheduler.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;
using std::chrono::microseconds;
using testing::impl::generator;
using testing::impl::message;
using testing::impl::redis_model;

namespace {

std::string any_name(generator& random)
{
    return "name-" + std::to_string(random.below(4));
}

/// The reply to a request for any field of a lock must not be random: all owners of one lock begin
/// with the same word, and all or none of them use the queue.
std::string client(const std::string& name, const char* rest)
{
    return "5e0f8c21-" + std::string(rest) + (name == "name-3" ? "4" : "8") +
           "d1c-8f6b-5e7c1f2a3b4c:";
}

std::string any_owner(generator& random, const std::string& name)
{
    return client(name, "3ad6-") + std::to_string(random.below(3));
}

std::string any_entry(generator& random)
{
    return "owner:" + std::to_string(10 + random.below(3));
}

std::string any_lease(generator& random)
{
    return std::to_string(random.between(1, 40));
}

/// A waiter of one of two clients, of which the first has a subscriber.
std::string any_waiter(generator& random, const std::string& name)
{
    return random.below(2) == 0 ? any_owner(random, name)
                                : client(name, "0b1f-") + std::to_string(random.below(3));
}

std::string fence_key(const std::string& name)
{
    std::string key;
    redis_store::fence_key(name, key);
    return key;
}

std::string queue_key(const std::string& name)
{
    std::string key;
    redis_store::native_keys().queue(name, key);
    return key;
}

std::string waiters_key(const std::string& name)
{
    std::string key;
    redis_store::native_keys().waiters(name, key);
    return key;
}

std::string any_limit(generator& random, microseconds now)
{
    const auto limit = random.below(4);
    return std::to_string(limit == 0   ? now.count() - random.between(1, 2000)
                          : limit == 1 ? now.count() + random.between(0, 2000)
                                       : 0);
}

std::string any_block(generator& random)
{
    constexpr std::uint32_t blocks[] = {1, 1, 2, 10, 1001, 100'000};
    return std::to_string(blocks[random.below(6)]);
}

std::string any_ms(generator& random, std::int64_t most)
{
    return std::to_string(random.between<std::int64_t>(1, most));
}

std::string any_flag(generator& random)
{
    return random.below(2) == 0 ? "1" : "0";
}

constexpr const char* turns = "leasehold:turn:";

/// EVALSHA, or sometimes EVAL.
command call(generator& random, const redis_store::script& called)
{
    if (random.below(30) == 0)
        return {"EVAL", std::string(called.text)};
    return {"EVALSHA", called.sha};
}

command acquire(generator& random, microseconds now, const std::string& retention)
{
    const std::string name = any_name(random);
    const bool reenters = random.below(3) == 0;
    command all = call(random, redis_store::acquire_script());
    for (std::string each : {std::string(reenters ? "2" : "3"), name, fence_key(name)})
        all.push_back(std::move(each));
    if (!reenters)
        all.push_back(queue_key(name));
    for (std::string each : {any_owner(random, name), any_lease(random), any_block(random),
                             any_limit(random, now), retention})
        all.push_back(std::move(each));
    const auto more = reenters ? 1 + random.below(2) : random.below(3);
    if (more > 0)
        all.push_back(reenters ? any_entry(random) : "");
    if (more > 1)
        all.push_back(random.below(2) == 0 ? "1" : "0");
    return all;
}

command renew(generator& random)
{
    const std::size_t count = 1 + static_cast<std::size_t>(random.below(4));
    command all = call(random, redis_store::renew_script());
    all.push_back(std::to_string(count));
    for (std::size_t i = 0; i < count; ++i)
        all.push_back(any_name(random));
    for (std::size_t i = 0; i < count; ++i) {
        const std::string owner = any_owner(random, all[3 + i]);
        all.push_back(random.below(2) == 0 ? owner
                                           : redis_store::entry_field(owner, any_entry(random)));
        all.push_back(any_lease(random));
    }
    return all;
}

command queue_acquire(generator& random, microseconds now, const std::string& retention)
{
    constexpr const char* holders[] = {"0", "1", "-"};
    const std::string name = any_name(random);
    command all = call(random, redis_store::of_queue().acquire);
    for (std::string each :
         {std::string("4"), name, fence_key(name), queue_key(name), waiters_key(name),
          any_waiter(random, name), any_lease(random), any_block(random), any_limit(random, now),
          retention, random.below(4) == 0 ? std::string("0") : any_ms(random, 60),
          any_ms(random, 20), any_flag(random), std::string(turns),
          std::string(holders[random.below(3)])})
        all.push_back(std::move(each));
    return all;
}

command release(generator& random)
{
    const std::string name = any_name(random);
    command all = call(random, redis_store::release_script());
    const bool reads_queue = random.below(4) != 0; // for the queue
    for (std::string each : {std::string(reads_queue ? "2" : "1"), name})
        all.push_back(std::move(each));
    if (reads_queue)
        all.push_back(queue_key(name));
    for (std::string each : {any_owner(random, name), std::string("channel")})
        all.push_back(std::move(each));
    return all;
}

command queue_leave(generator& random, microseconds now, const std::string& retention)
{
    const std::string name = any_name(random);
    command all = call(random, redis_store::of_queue().leave);
    for (std::string each :
         {std::string("4"), name, fence_key(name), queue_key(name), waiters_key(name),
          random.below(4) == 0 ? any_waiter(random, name) : any_owner(random, name),
          random.below(3) == 0 ? any_entry(random) : std::string(), std::string("channel"),
          std::string(turns), random.below(2) == 0 ? std::string("0") : any_ms(random, 20)})
        all.push_back(std::move(each));
    if (random.below(2) == 0)
        return all;
    for (std::string each :
         {any_waiter(random, name), any_lease(random), any_block(random), any_limit(random, now),
          retention, any_ms(random, 60), any_ms(random, 20), any_flag(random)})
        all.push_back(std::move(each));
    return all;
}

/// Changes of the keys by other programs.
command interfere(generator& random)
{
    const std::string name = any_name(random);
    constexpr const char* odd_fences[] = {
        "12",  "-5", "abc", "1.5",  " 7", "1e3", "9007199254740990", "9007199254740991",
        "inf", "",   "nan", "0x10",
    };
    switch (random.below(14)) {
    case 9: return {"HDEL", waiters_key(name), "lh:" + any_waiter(random, name)};
    case 10: {
        constexpr const char* odd[] = {"not what is expected", "9999999999999999 20 20 12 5",
                                       "9999999999999999 20 20 0 ", "9999999999999999 20 20 0x"};
        return {"HSET", waiters_key(name), "lh:" + any_waiter(random, name),
                odd[random.below(std::size(odd))]};
    }
    case 11: return {"DEL", queue_key(name)};
    case 12: return {"DEL", waiters_key(name)};
    case 13: return {"SET", queue_key(name), "not a line"};
    case 0: return {"DEL", name};
    case 1: return {"SET", name, "not a lock"};
    case 2: return {"SET", fence_key(name), odd_fences[random.below(std::size(odd_fences))]};
    case 3: return {"HSET", fence_key(name), "field", "1"};
    case 4: return {"HSET", name, client(name, "0000-") + "1", "1"};
    case 5: return {"PERSIST", name};
    case 6: return {"PEXPIRE", name, std::to_string(random.between(0, 50))};
    case 7: return {"HDEL", name, any_owner(random, name)};
    default: return {"DEL", fence_key(name)};
    }
}

/// Reads the visible state.
command look(generator& random)
{
    const std::string name = any_name(random);
    switch (random.below(11)) {
    case 7: return {"LRANGE", queue_key(name), "0", "-1"};
    case 8: return {"HGETALL", waiters_key(name)};
    case 9: return {"PTTL", queue_key(name)};
    case 10: return {"PTTL", waiters_key(name)};
    case 0: return {"PTTL", name};
    case 1: return {"PTTL", fence_key(name)};
    case 2: return {"GET", fence_key(name)};
    case 3: return {"HLEN", name};
    case 4: return {"EXISTS", name};
    case 5: return {"GET", name};
    default: return {"HGETALL", name};
    }
}

command any_command(generator& random, microseconds now, const std::string& retention)
{
    const auto kind = random.below(1000);
    if (kind < 180)
        return acquire(random, now, retention);
    if (kind < 410)
        return queue_acquire(random, now, retention);
    if (kind < 480)
        return renew(random);
    if (kind < 560)
        return release(random);
    if (kind < 850)
        return queue_leave(random, now, retention);
    if (kind < 880)
        return interfere(random);
    if (kind < 882) // like a new connection
        return {"EVAL", std::string(redis_store::check_script().text), "0"};
    if (kind < 883)
        return {"EVALSHA", redis_store::renew_script().sha, "0"};
    if (kind < 995)
        return look(random);
    if (kind < 997)
        return {"FLUSHALL"};
    if (kind < 998)
        return {"SCRIPT", "FLUSH"};
    if (kind < 999)
        return {"TIME"};
    const redis_store::script& loaded = random.below(2) == 0   ? redis_store::acquire_script()
                                        : random.below(2) == 0 ? redis_store::renew_script()
                                                               : redis_store::release_script();
    return {"SCRIPT", "LOAD", std::string(loaded.text)};
}

std::string script_of(const command& asked)
{
    return calls(asked, redis_store::acquire_script())     ? asked[2] == "3" ? "acquire" : "enter"
           : calls(asked, redis_store::of_queue().acquire) ? "queue_acquire"
           : calls(asked, redis_store::of_queue().leave)   ? "queue_leave"
           : calls(asked, redis_store::renew_script())     ? "renew"
                                                           : "release";
}

std::string beginning(const std::string& kind, const command& asked, const std::string& told)
{
    if (kind == "renew" && told.starts_with('['))
        return (asked[2] == "1" ? "one " : "many ") + told;
    if (kind == "acquire" && !told.starts_with('['))
        return "all"; // the last of all requested fences
    if (kind == "queue_leave" && told.starts_with('[')) {
        // The status and the state of the next owner.
        const auto first = told.find(',');
        const auto second = told.find(',', first + 1);
        return told.substr(0, first) + told.substr(second, told.find(',', second + 1) - second);
    }
    return told.substr(0, told.find(','));
}

void compare_redisson(const std::string& retention, std::initializer_list<std::uint64_t> seeds)
{
    compare({.any_command = [&](generator& random,
                                microseconds now) { return any_command(random, now, retention); },
             .script_of = script_of,
             .beginning = beginning,
             .rights = {"publish",    "publish", "publish", "hincrby", "pexpire", "hdel", "del",
                        "set",        "hset",    "get",     "hexists", "pttl",    "hget", "hlen",
                        "hrandfield", "exists",  "lindex",  "lpos",    "lpop",    "lrem", "rpush"},
             .channels = {turns + std::string("5e0f8c21-3ad6-8d1c-8f6b-5e7c1f2a3b4c")},
             .expected = {"acquire all",
                          "acquire [1",
                          "acquire [0",
                          "acquire [-1",
                          "acquire error: WRONGTYPE",
                          "enter [1",
                          "enter [-2",
                          "enter error: WRONGTYPE",
                          "renew one [1]",
                          "renew one [0]",
                          "renew many [1, 0]",
                          "renew many [0, 1]",
                          "release 0",
                          "release -2",
                          "acquire [-3",
                          "queue_acquire [1",
                          "queue_acquire [0",
                          "queue_acquire [2",
                          "queue_acquire [-1",
                          "queue_acquire error: WRONGTYPE",
                          "queue_acquire error: ERR",
                          "queue_leave [1, 0",
                          "queue_leave [1, 1",
                          "queue_leave [2, 0",
                          "queue_leave [2, 2",
                          "queue_leave [3, 0",
                          "queue_leave [4, 0",
                          "queue_leave [4, 2",
                          "queue_leave [5, 0",
                          "queue_leave [5, 2",
                          "queue_leave [0, 0",
                          "queue_leave error: WRONGTYPE",
                          "queue_leave error: ERR",
                          "release error: WRONGTYPE",
                          "acquire error: NOSCRIPT",
                          "acquire error: ERR",
                          "enter error: ERR",
                          "renew error: ERR",
                          "release error: ERR",
                          "release -1",
                          "check 1",
                          "check error: NOPERM"}},
            seeds);
}

} // namespace

BOOST_AUTO_TEST_SUITE(redis_model_test, *with_a_clock())

BOOST_AUTO_TEST_CASE(model_of_the_redisson_layout_gives_the_replies_of_a_server)
{
    compare_redisson("100", {1, 2, 3, 7});
}

BOOST_AUTO_TEST_CASE(model_with_endless_retention_gives_the_replies_of_a_server)
{
    compare_redisson("0", {4, 5, 6});
}

// The simulated server follows grants and releases by the positions of words.
BOOST_AUTO_TEST_CASE(changed_script_call_is_a_logic_error_of_the_simulator)
{
    const std::string acquire = redis_store::acquire_script().sha;
    const std::string release = redis_store::release_script().sha;
    const std::string queue_acquire = redis_store::of_queue().acquire.sha;
    const std::string queue_leave = redis_store::of_queue().leave.sha;
    const command shortest[] = {
        {"EVALSHA", acquire, "3", "name", "fence", "line", "owner", "100", "1", "0", "0"},
        {"EVALSHA", acquire, "2", "name", "fence", "owner", "100", "1", "0", "0", "entry"},
        {"EVALSHA", release, "2", "name", "line", "owner", "channel"},
        {"EVALSHA", release, "1", "name", "owner", "channel"},
        {"EVALSHA", queue_acquire, "4", "name", "fence", "line", "waiters", "owner", "100", "1",
         "0", "0", "100", "100", "1", "turns", "0"},
        {"EVALSHA", queue_leave, "4", "name", "fence", "line", "waiters", "owner", "", "channel",
         "turns", "0"}};
    const command longest[] = {
        {"EVALSHA", acquire, "3", "name", "fence", "line", "owner", "100", "1", "0", "0", "", "0"},
        {"EVALSHA", acquire, "2", "name", "fence", "owner", "100", "1", "0", "0", "entry", "0"},
        {"EVALSHA", release, "2", "name", "line", "owner", "channel", "SPUBLISH"},
        {"EVALSHA", release, "1", "name", "owner", "channel", "SPUBLISH"},
        {"EVALSHA", queue_acquire, "4", "name", "fence", "line", "waiters", "owner", "100", "1",
         "0", "0", "100", "100", "1", "turns", "0"},
        {"EVALSHA", queue_leave, "4",       "name",  "fence", "line", "waiters",
         "owner",   "",          "channel", "turns", "0",     "next", "100",
         "1",       "0",         "0",       "100",   "100",   "1"}};
    for (std::size_t i = 0; i < std::size(shortest); ++i) {
        const auto run = [](const command& asked) {
            testing::impl::scheduler time(1);
            testing::impl::server_state server(time, "");
            const testing::impl::segment_ptr sent(
                new testing::impl::segment(make_request(asked), time.now()));
            server.arrive(nullptr, sent, 1);
        };
        BOOST_CHECK_NO_THROW(run(shortest[i]));
        BOOST_CHECK_NO_THROW(run(longest[i]));
        command longer = longest[i];
        longer.emplace_back("0");
        BOOST_CHECK_THROW(run(longer), std::logic_error);
        command shorter = shortest[i];
        shorter.pop_back();
        BOOST_CHECK_THROW(run(shorter), std::logic_error);
    }
}

BOOST_AUTO_TEST_SUITE_END()
