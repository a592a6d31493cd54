// As redis_model_test.cpp, for a member of a quorum.
#include "redis/protocol/script.hpp"
#include "redis/redlock/member_commands.hpp"
#include "sim/model_comparison.hpp"
#include "support/redis_server.hpp"
#include "support/resp_client.hpp"
#include "support/with_a_clock.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace leasehold;
using namespace leasehold::test;
using redis_store::of_quorum;
using std::chrono::microseconds;
using testing::impl::generator;

namespace {

const std::string record(quorum::member_keys().record());

std::string any_name(generator& random)
{
    return "name-" + std::to_string(random.below(2));
}

std::string any_value(generator& random)
{
    // The last client has no UUID.
    constexpr const char* clients[] = {"5e0f8c21-3ad6-4d1c-8f6b-5e7c1f2a3b4c",
                                       "0b1f8c21-3ad6-4d1c-8f6b-5e7c1f2a3b4c", "odd"};
    return "lhq:" + std::string(clients[random.below(3)]) + ":1";
}

std::string any_entry(generator& random)
{
    return random.below(3) == 0 ? "owner:" + std::to_string(10 + random.below(2)) : "";
}

std::string ms(generator& random, std::int64_t most)
{
    return std::to_string(random.between<std::int64_t>(1, most));
}

std::string any_limit(generator& random, microseconds now)
{
    const auto limit = random.below(4);
    return std::to_string(limit == 0   ? now.count() - random.between(1, 2000)
                          : limit == 1 ? now.count() + random.between(0, 2000)
                                       : 0);
}

/// Close to the clock, or to the largest fence.
std::string any_fence(generator& random, microseconds now)
{
    const auto kind = random.below(20);
    return std::to_string(kind == 0   ? now.count() + 86'400'000'000 + random.between(-3, 3)
                          : kind < 10 ? now.count() - random.between(0, 20'000)
                                      : now.count() + random.between(0, 2000));
}

std::string any_epoch(generator& random)
{
    return std::to_string(random.below(8) == 0 ? random.below(6) : 5);
}

std::string flag(generator& random)
{
    return random.below(3) == 0 ? "1" : "0";
}

/// EVALSHA, or sometimes EVAL.
command call(generator& random, const redis_store::script& called, std::vector<std::string> words)
{
    command all = random.below(30) == 0 ? command{"EVAL", std::string(called.text)}
                                        : command{"EVALSHA", called.sha};
    all.insert(all.end(), words.begin(), words.end());
    return all;
}

command acquire(generator& random, microseconds now)
{
    constexpr const char* counts[] = {"1", "1", "2", "16", "200"};
    constexpr const char* retentions[] = {"0", "30", "60", "60", "60", "1000"};
    const std::string name = any_name(random);
    return call(random, of_quorum().acquire,
                {"3", name, quorum::member_keys().fence(name), record, any_value(random),
                 ms(random, 40), any_fence(random, now), counts[random.below(5)],
                 any_limit(random, now), any_epoch(random), retentions[random.below(6)],
                 flag(random), flag(random)});
}

command reenter(generator& random, microseconds now)
{
    const std::string name = any_name(random);
    return call(random, of_quorum().reenter,
                {"3", name, quorum::member_keys().entries(name), record, any_value(random),
                 ms(random, 50), any_limit(random, now),
                 "owner:" + std::to_string(10 + random.below(2))});
}

command renew(generator& random, microseconds now)
{
    const std::size_t count = 1 + static_cast<std::size_t>(random.below(3));
    std::vector<std::string> all{std::to_string(2 * count)};
    for (std::size_t i = 0; i < count; ++i) {
        const std::string name = any_name(random);
        all.insert(all.end(), {name, quorum::member_keys().entries(name)});
    }
    all.push_back(any_limit(random, now));
    for (std::size_t i = 0; i < count; ++i)
        for (const std::string& each :
             {any_value(random), ms(random, 40), any_entry(random), flag(random)})
            all.push_back(each);
    return call(random, of_quorum().renew, all);
}

command release(generator& random)
{
    const std::string name = any_name(random);
    return call(random, of_quorum().release,
                {"3", name, quorum::member_keys().entries(name), quorum::member_keys().fence(name),
                 any_value(random), any_entry(random),
                 random.below(3) == 0 ? "" : quorum::member_keys().releases(name)});
}

command look_at_itself(generator& random)
{
    return call(random, of_quorum().inspect,
                {"1", record, std::to_string(1 + random.below(std::uint64_t(1) << 53))});
}

/// Few nonces, so that one is sometimes the right one.
command look_with_known_nonce(generator& random)
{
    return call(random, of_quorum().inspect, {"1", record, std::to_string(1 + random.below(2))});
}

command seed(generator& random, microseconds now)
{
    return call(random, of_quorum().seed,
                {"1", record, std::to_string(1 + random.below(2)), any_epoch(random),
                 any_fence(random, now), std::to_string(random.below(20)), ms(random, 60),
                 std::to_string(random.below(3))});
}

/// Changes of the keys by other programs.
command interfere(generator& random)
{
    const std::string name = any_name(random);
    constexpr const char* fields[] = {"until", "epoch", "floor",  "top",   "lease", "keep",
                                      "mark",  "nonce", "turned", "since", "began"};
    constexpr const char* odd_fences[] = {"12", "-5", "abc", "1.5", " 7", "1e3", ""};
    const auto field = std::string(fields[random.below(std::size(fields))]);
    switch (random.below(20)) {
    case 0: return {"DEL", name};
    case 1: return {"SET", name, "of another library"};
    case 2: return {"SET", quorum::member_keys().fence(name), odd_fences[random.below(7)]};
    case 3: return {"DEL", quorum::member_keys().fence(name)};
    case 4: return {"HSET", quorum::member_keys().fence(name), "field", "1"};
    case 5: return {"HSET", name, "field", "1"};
    case 6: return {"PERSIST", name};
    case 7: return {"PEXPIRE", name, std::to_string(random.between(0, 50))};
    case 8: return {"SET", quorum::member_keys().entries(name), "no entries"};
    case 9: return {"DEL", quorum::member_keys().entries(name)};
    case 10: return {"HDEL", record, field};
    case 11: return {"HSET", record, field, "no number"};
    case 12: return {"SET", record, "no record"};
    case 13: return {"DEL", record};
    default: return {"HSET", record, "run", "ab12"}; // as after a restart
    }
}

/// Reads the visible state.
command look(generator& random)
{
    const std::string name = any_name(random);
    switch (random.below(8)) {
    case 0: return {"PTTL", name};
    case 1: return {"GET", quorum::member_keys().fence(name)};
    case 2: return {"PTTL", quorum::member_keys().fence(name)};
    case 3: return {"HGETALL", quorum::member_keys().entries(name)};
    case 4: return {"PTTL", quorum::member_keys().entries(name)};
    case 5: return {"HGETALL", record};
    case 6: return {"TYPE", name};
    default: return {"GET", name};
    }
}

command any_command(generator& random, microseconds now)
{
    const auto kind = random.below(1000);
    if (kind < 300)
        return acquire(random, now);
    if (kind < 400)
        return reenter(random, now);
    if (kind < 520)
        return renew(random, now);
    if (kind < 620)
        return release(random);
    if (kind < 640)
        return look_at_itself(random);
    if (kind < 700)
        return look_with_known_nonce(random);
    if (kind < 780)
        return seed(random, now);
    if (kind < 810)
        return call(random, of_quorum().adopt, {"1", record, any_epoch(random)});
    if (kind < 830)
        return interfere(random);
    if (kind < 832) // like a new connection
        return {"EVAL", std::string(of_quorum().check.text), "0"};
    if (kind < 833)
        return {"EVALSHA", of_quorum().renew.sha, "0"};
    if (kind < 998)
        return look(random);
    if (kind < 999)
        return {"FLUSHALL"};
    return {"SCRIPT", "FLUSH"};
}

std::string script_of(const command& asked)
{
    return calls(asked, of_quorum().acquire)   ? "acquire"
           : calls(asked, of_quorum().reenter) ? "enter"
           : calls(asked, of_quorum().renew)   ? "renew"
           : calls(asked, of_quorum().release) ? "release"
           : calls(asked, of_quorum().inspect) ? "look"
           : calls(asked, of_quorum().adopt)   ? "adopt"
                                               : "seed";
}

std::string beginning(const std::string& kind, const command&, const std::string& told)
{
    return kind == "renew" ? told : told.substr(0, told.find(','));
}

} // namespace

BOOST_AUTO_TEST_SUITE(quorum_model_test, *with_a_clock())

BOOST_AUTO_TEST_CASE(model_of_a_quorum_member_gives_the_replies_of_a_server)
{
    compare({.any_command = any_command,
             .script_of = script_of,
             .beginning = beginning,
             .prepare = name_run,
             .rights = {"publish", "publish", "pexpire", "hdel", "del", "set", "hset", "get",
                        "hexists", "pttl", "hget", "hmget", "hlen", "info", "type"},
             .channels = {quorum::member_keys().releases("name-0")},
             .expected = {"acquire [1",
                          "acquire [2",
                          "acquire [0",
                          "acquire [-1",
                          "acquire [-3",
                          "acquire [-4",
                          "acquire [-5",
                          "acquire [-6",
                          "acquire error: WRONGTYPE",
                          "acquire error: ERR",
                          "acquire error: NOSCRIPT",
                          "enter [1",
                          "enter [-1",
                          "enter [-2",
                          "enter error: ERR",
                          "renew [0]",
                          "renew [1]",
                          "renew [2]",
                          "renew [1, 0]",
                          "renew [0, 1]",
                          "renew error: ERR",
                          "release [0",
                          "release [1",
                          "release [2",
                          "release error: ERR",
                          "look [0",
                          "look [1",
                          "look error: ERR",
                          "adopt [0",
                          "adopt [1",
                          "seed [0",
                          "seed [1",
                          "seed [2",
                          "seed error: ERR",
                          "check 1",
                          "check error: NOPERM"}},
            {1, 2, 3, 4, 5});
}

BOOST_AUTO_TEST_SUITE_END()
