// What the simulated server answers is only worth what its resemblance to a real one is: random
// commands, those of the library and those of strangers, get the same answers from both.
#include "store/redis/protocol/key_names.hpp"
#include "store/redis/protocol/script.hpp"
#include "support/redis_server.hpp"
#include "support/resp_client.hpp"
#include "support/shifted_clock.hpp"
#include "testing/random.hpp"
#include "testing/redis_model.hpp"
#include "testing/scheduler.hpp"
#include "testing/segment.hpp"
#include "testing/server_state.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
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

constexpr std::size_t steps = 40'000;
constexpr std::size_t steps_at_a_time = 50;

using command = std::vector<std::string>;

std::string any_name(generator& random)
{
    return "name-" + std::to_string(random.below(4));
}

std::string any_owner(generator& random)
{
    return "5e0f8c21-3ad6-4d1c-8f6b-5e7c1f2a3b4c:" + std::to_string(random.below(4));
}

std::string any_entry(generator& random)
{
    return "owner:" + std::to_string(10 + random.below(3));
}

std::string any_lease(generator& random)
{
    return std::to_string(random.between(1, 40));
}

std::string fence_key(const std::string& name)
{
    std::string key;
    redis_store::fence_key(name, key);
    return key;
}

/// EVALSHA, or now and then EVAL.
command call(generator& random, const redis_store::script& called)
{
    if (random.below(30) == 0)
        return {"EVAL", std::string(called.text)};
    return {"EVALSHA", called.sha};
}

command acquire(generator& random, microseconds now, const std::string& retention)
{
    constexpr std::uint32_t blocks[] = {1, 1, 2, 10, 1001, 100'000};
    const std::string name = any_name(random);
    const auto limit = random.below(4);
    const std::int64_t latest = limit == 0   ? now.count() - random.between(1, 2000)
                                : limit == 1 ? now.count() + random.between(0, 2000)
                                             : 0;
    command all = call(random, redis_store::acquire_script());
    for (std::string each :
         {std::string("2"), name, fence_key(name), any_owner(random), any_lease(random),
          std::to_string(blocks[random.below(6)]), std::to_string(latest), retention})
        all.push_back(std::move(each));
    all.push_back(random.below(3) == 0 ? any_entry(random) : "");
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
        const std::string owner = any_owner(random);
        all.push_back(random.below(2) == 0 ? owner
                                           : redis_store::entry_field(owner, any_entry(random)));
        all.push_back(any_lease(random));
    }
    return all;
}

command release(generator& random)
{
    command all = call(random, redis_store::release_script());
    for (std::string each : {std::string("1"), any_name(random), any_owner(random)})
        all.push_back(std::move(each));
    all.push_back(random.below(3) == 0 ? any_entry(random) : "");
    all.push_back("channel");
    return all;
}

/// What others do to the keys.
command interfere(generator& random)
{
    const std::string name = any_name(random);
    constexpr const char* odd_fences[] = {
        "12",  "-5", "abc", "1.5",  " 7", "1e3", "9007199254740990", "9007199254740991",
        "inf", "",   "nan", "0x10",
    };
    switch (random.below(9)) {
    case 0: return {"DEL", name};
    case 1: return {"SET", name, "not a lock"};
    case 2: return {"SET", fence_key(name), odd_fences[random.below(std::size(odd_fences))]};
    case 3: return {"HSET", fence_key(name), "field", "1"};
    case 4: return {"HSET", name, "5e0f8c21-0000-4d1c-8f6b-5e7c1f2a3b4c:1", "1"};
    case 5: return {"PERSIST", name};
    case 6: return {"PEXPIRE", name, std::to_string(random.between(0, 50))};
    case 7: return {"HDEL", name, any_owner(random)};
    default: return {"DEL", fence_key(name)};
    }
}

/// What there is to be seen.
command look(generator& random)
{
    const std::string name = any_name(random);
    switch (random.below(7)) {
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
    if (kind < 400)
        return acquire(random, now, retention);
    if (kind < 570)
        return renew(random);
    if (kind < 790)
        return release(random);
    if (kind < 830)
        return interfere(random);
    if (kind < 832) // as a new connection does
        return {"EVAL", std::string(redis_store::check_script().text), "0"};
    if (kind < 833)
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

/// Of an error the code: the rest names lines of the script, and changes between versions. What our
/// scripts say themselves is compared whole.
std::string without_details(std::string_view error)
{
    if (error.find(" holds ") != std::string_view::npos)
        return "error: " + std::string(error);
    return "error: " + std::string(error.substr(0, error.find(' ')));
}

std::string told_by(const resp_value& value)
{
    return value.is_error() ? without_details(value.text) : describe(value);
}

std::string said_by(const message& said)
{
    using boost::redis::resp3::type;
    std::string items;
    for (const auto& node : said.nodes()) {
        switch (node.data_type) {
        case type::simple_error: return without_details(node.value);
        case type::array:
        case type::map: continue;
        case type::null: return "nil";
        case type::blob_string: items += (items.empty() ? "\"" : ", \"") + node.value + '"'; break;
        default: items += (items.empty() ? "" : ", ") + node.value;
        }
    }
    const auto first = said.nodes().front().data_type;
    return first == type::array || first == type::map ? '[' + items + ']' : items;
}

message execute(redis_model& model, const command& asked, microseconds now)
{
    const std::vector<std::string_view> words(asked.begin(), asked.end());
    return model.execute(words, now.count(), {});
}

std::string text(const command& asked)
{
    std::string all;
    for (std::size_t i = 0; i < asked.size(); ++i)
        all += (i == 1 && asked[0] == "EVAL" ? "(text)" : asked[i]) + ' ';
    return all;
}

/// Kind of command, and how its answer begins.
std::string kind_of(const command& asked, const std::string& told)
{
    std::string kind = asked[0];
    if (kind == "EVALSHA" || kind == "EVAL") {
        const bool by_text = kind == "EVAL";
        const auto is = [&](const redis_store::script& s) {
            return asked[1] == (by_text ? s.text : std::string_view(s.sha));
        };
        if (asked[2] == "0")
            return "check " + told;
        kind = is(redis_store::acquire_script())
                   ? asked[asked.size() - 2].empty() ? "acquire" : "enter"
               : is(redis_store::renew_script()) ? "renew"
                                                 : "release";
    }
    if (told.starts_with("error"))
        return kind + ' ' + told.substr(0, told.find(' ', sizeof "error: "));
    if (kind == "renew" && told.starts_with('['))
        return kind + (asked[2] == "1" ? " one " : " many ") + told;
    return kind + ' ' + (told == "[1, -1]" ? told : told.substr(0, told.find(',')));
}

/// Now and then the user loses a right or two, or has all of them again.
void change_rights(generator& random, resp_client& server, redis_model& model)
{
    constexpr const char* commands[] = {"publish", "publish", "publish", "hincrby", "pexpire",
                                        "hdel",    "del",     "set",     "hset",    "get",
                                        "hexists", "pttl",    "hget",    "hlen",    "hrandfield"};
    command asked = {"ACL", "SETUSER", "default", "+@all"};
    model.denied.clear();
    for (auto lost = random.below(3); lost > 0; --lost) {
        model.denied.emplace_back(commands[random.below(std::size(commands))]);
        asked.push_back('-' + model.denied.back());
    }
    server.send_bytes(make_request(asked));
    BOOST_TEST(describe(server.receive()) == "OK");
}

void compare(const std::string& retention, std::uint64_t seed)
{
    shifted_clock clock;
    clock.freeze();
    redis_server process({"--enable-debug-command", "yes"}, {.environment = clock.environment()});
    resp_client server = process.connect();
    // A key is then there until it is asked for after its time. Otherwise Redis 8 may or may not
    // have taken it out in the millisecond in which it expires, and both answers are right.
    BOOST_REQUIRE(!server.command({"DEBUG", "SET-ACTIVE-EXPIRE", "0"}).is_error());
    redis_model model;
    generator random(seed);
    std::map<std::string, std::size_t> seen;
    for (std::size_t done = 0; done < steps; done += steps_at_a_time) {
        const auto time = server.strings({"TIME"});
        const microseconds now(std::stoll(time.at(0)) * 1'000'000 + std::stoll(time.at(1)));
        if (random.below(3) == 0)
            change_rights(random, server, model);
        std::vector<command> together;
        std::string bytes;
        for (std::size_t i = 0; i < steps_at_a_time; ++i) {
            together.push_back(any_command(random, now, retention));
            bytes += make_request(together.back());
        }
        server.send_bytes(bytes);
        bool same = true;
        for (const command& each : together) {
            const std::string told = told_by(server.receive());
            const std::string said = said_by(execute(model, each, now));
            ++seen[kind_of(each, told)];
            if (told != said && std::exchange(same, false))
                BOOST_ERROR("after " << done << " commands, " << text(each) << ": the server says "
                                     << told << ", the model " << said);
        }
        if (!same)
            return;
        // Mostly within leases, now and then beyond the retention. Never back: what has expired is
        // gone from a server at some time of its own choice, so after a step back both answers are
        // right.
        clock.advance(microseconds(random.below(100) < 92 ? random.between(1, 15'000)
                                                          : random.between(1, 200'000)));
    }
    // Whatever a script can say was said often enough to be compared.
    for (const char* each : {"acquire [1",
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
                             "release [1",
                             "release [2",
                             "release [0",
                             "release error: WRONGTYPE",
                             "acquire error: NOSCRIPT",
                             "acquire error: ERR",
                             "enter error: ERR",
                             "renew error: ERR",
                             "release error: ERR",
                             "release [1, -1]",
                             "check 1",
                             "check error: NOPERM"})
        BOOST_TEST(seen[each] >= 20u, each << " came " << seen[each] << " times");
}

bool has_clock(boost::unit_test::test_unit_id)
{
    return shifted_clock::available();
}

} // namespace

BOOST_AUTO_TEST_SUITE(redis_model_test, *boost::unit_test::precondition(has_clock))

BOOST_AUTO_TEST_CASE(the_model_answers_as_a_server_does)
{
    for (const std::uint64_t seed : {1U, 2U, 3U})
        compare("100", seed);
}

BOOST_AUTO_TEST_CASE(and_when_fences_are_kept_for_ever)
{
    for (const std::uint64_t seed : {4U, 5U})
        compare("0", seed);
}

BOOST_AUTO_TEST_CASE(a_script_that_it_has_no_model_of_is_an_error)
{
    redis_model model;
    for (const command& each :
         {command{"EVAL", "return 1", "0"}, command{"SCRIPT", "LOAD", "return 1"}})
        BOOST_TEST(execute(model, each, 1s).is_error());
    BOOST_TEST(said_by(execute(model, {"EVALSHA", "00", "0"}, 1s)) == "error: NOSCRIPT");
    BOOST_TEST(said_by(execute(model, {"LPUSH", "a", "b"}, 1s)) == "error: ERR");
}

// The server in the simulator follows grants and releases by the places of words.
BOOST_AUTO_TEST_CASE(a_call_that_the_store_writes_in_another_way_is_not_followed_in_silence)
{
    const std::string acquire = redis_store::acquire_script().sha;
    const std::string release = redis_store::release_script().sha;
    const command whole[] = {
        {"EVALSHA", acquire, "2", "name", "fence", "owner", "100", "1", "0", "0", "", "0"},
        {"EVALSHA", release, "1", "name", "owner", "", "channel"}};
    for (const command& each : whole) {
        const auto run = [](const command& asked) {
            testing::impl::scheduler time(1);
            testing::impl::server_state server(time, "");
            const testing::impl::segment_ptr sent(
                new testing::impl::segment(make_request(asked), time.now()));
            server.arrive(nullptr, sent, 1);
        };
        BOOST_CHECK_NO_THROW(run(each));
        command longer = each;
        longer.emplace_back("0");
        BOOST_CHECK_THROW(run(longer), std::logic_error);
        command shorter = each;
        shorter.pop_back();
        BOOST_CHECK_THROW(run(shorter), std::logic_error);
    }
}

BOOST_AUTO_TEST_SUITE_END()
