// A quorum member that is a Redis server, simulated by the test: how its replies are read, and the
// order of the requests.
#include <boost/test/unit_test.hpp>

#include "redis/redlock/member_names.hpp"
#include "redis/redlock/redis_member.hpp"
#include "redis/resp_text.hpp"
#include "redis/scripted_masters.hpp"

#include <leasehold/error.hpp>
#include <leasehold/store.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace leasehold;
using namespace std::chrono_literals;
using quorum::kept;
using test::numbers;
using test::words;

constexpr std::int64_t server_time = 1'700'000'000'000'000;
constexpr unsigned number = 3; ///< The number of the member.

struct member_fixture : test::masters_fixture, quorum::member_listener
{
    explicit member_fixture(std::string hello = {})
    {
        if (!hello.empty())
            all.instead["HELLO"] = std::move(hello);
        all.answer = [this](const std::string&, const words& asked) { return answer(asked); };
        made = quorum::make_redis_member(redis_config("redis://a:7000?reconnect=100"),
                                         environment());
        call([&] { made->open(strand, *this, number); });
    }
    ~member_fixture()
    {
        call([&] { made->close(); });
        end_all();
    }

    std::optional<std::string> answer(const words& asked)
    {
        if (missing > 0 && asked[0] == "EVALSHA") {
            --missing;
            return "-NOSCRIPT No matching script.\r\n";
        }
        if (!given.empty()) {
            std::string first = given.front();
            given.erase(given.begin());
            return first;
        }
        return usual;
    }

    /// One reply of the server to one request.
    template <class Reply, class Ask>
    std::pair<error_code, Reply> told(std::string said, Ask ask)
    {
        usual = std::move(said);
        std::optional<std::pair<error_code, Reply>> got;
        call([&] {
            ask(quorum::member::handler<Reply>([&](error_code code, Reply reply) {
                BOOST_TEST(!got.has_value());
                got.emplace(code, std::move(reply));
            }));
        });
        BOOST_TEST_REQUIRE(got.has_value());
        return std::move(*got);
    }

    void on_reachable(unsigned member) override
    {
        BOOST_TEST(member == number);
        ++reachable;
    }
    void on_unreachable(unsigned member, error_code why,
                        const quorum::details_ptr& details) override
    {
        BOOST_TEST(member == number);
        lost.emplace_back(why, details);
    }
    void on_member_error(unsigned member, error_code code, const diagnostics& details) override
    {
        BOOST_TEST(member == number);
        errors.emplace_back(code, details.server_message);
    }
    void on_watching(unsigned member, std::string_view name) override
    {
        BOOST_TEST(member == number);
        heard.push_back("watching " + std::string(name));
    }
    void on_unsubscribed(unsigned member) override
    {
        BOOST_TEST(member == number);
        heard.push_back("deaf");
    }
    void on_released(unsigned member, std::string_view name, std::string_view sign,
                     std::uint64_t largest) override
    {
        BOOST_TEST(member == number);
        heard.push_back(std::string(name) + " '" + std::string(sign) + "' " +
                        std::to_string(largest));
    }

    std::string usual = "-ERR nothing was expected\r\n";
    std::vector<std::string> given; ///< The first replies.
    int missing = 0;                ///< The number of scripts that are missing.
    std::unique_ptr<quorum::member> made;
    int reachable = 0;
    std::vector<std::pair<error_code, quorum::details_ptr>> lost;
    std::vector<std::pair<error_code, std::string>> errors;
    std::vector<std::string> heard;
};

const std::string refused = "-NOPERM not here\r\n";

std::string numbers_of(const std::vector<std::int64_t>& all)
{
    std::string text = '*' + std::to_string(all.size()) + "\r\n";
    for (const std::int64_t each : all)
        text += ':' + std::to_string(each) + "\r\n";
    return text;
}

quorum::ballot ballot_of(bool needs_holder)
{
    return {.name = "stock",
            .owner = "client:1",
            .lease = 10s,
            .first_fence = 7,
            .fences = 1,
            .epoch = 1,
            .budget = 5s,
            .only_ours = false,
            .needs_holder = needs_holder};
}

} // namespace

BOOST_AUTO_TEST_SUITE(redis_members)

BOOST_AUTO_TEST_CASE(every_reply_to_a_vote_is_read)
{
    using outcome = quorum::ballot_reply::outcome;
    const std::pair<std::int64_t, outcome> answers[] = {
        {1, outcome::accepted}, {2, outcome::outbid},       {0, outcome::held},
        {-1, outcome::late},    {-2, outcome::blank},       {-3, outcome::blank},
        {-4, outcome::silent},  {-5, outcome::older_epoch}, {-6, outcome::too_far},
        {3, outcome::blank}};
    for (const auto& [code, expected] : answers) {
        for (const std::int64_t holder : {0, 0x1234}) {
            for (const bool asks : {false, true}) {
                member_fixture f;
                const auto [failed, reply] = f.told<quorum::ballot_reply>(
                    numbers({code, 40, 900, holder, server_time}),
                    [&](auto done) { f.made->async_vote(ballot_of(asks), std::move(done)); });
                BOOST_TEST(!failed);
                BOOST_TEST((reply.result == expected));
                BOOST_TEST(reply.largest == 40u);
                const bool timed = expected == outcome::held || expected == outcome::silent;
                BOOST_TEST((reply.remaining == (timed ? 900ms : quorum::ballot_reply().remaining)));
                BOOST_TEST(reply.epoch == (expected == outcome::older_epoch ? 900u : 0u));
                BOOST_TEST((reply.details != nullptr) ==
                           (expected == outcome::held && asks && holder != 0));
                BOOST_TEST(f.made->time() == server_time);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(rejected_vote_reports_the_message_of_the_server)
{
    member_fixture f;
    const auto [failed, reply] = f.told<quorum::ballot_reply>(
        refused, [&](auto done) { f.made->async_vote(ballot_of(false), std::move(done)); });
    BOOST_TEST((failed == errc::permission_denied));
    BOOST_TEST_REQUIRE((reply.details != nullptr));
    BOOST_TEST(reply.details->server == "a:7000");
    BOOST_TEST(reply.details->key == "stock");
    BOOST_TEST(reply.details->server_message == "NOPERM not here");
    BOOST_TEST_REQUIRE(f.errors.size() == 1u);
    BOOST_TEST((f.errors[0].first == errc::permission_denied));
    BOOST_TEST(f.errors[0].second == "NOPERM not here");
}

// An invalid time is ignored.
BOOST_AUTO_TEST_CASE(clock_of_a_member_is_read_from_replies_with_a_time)
{
    for (const std::int64_t said : {std::int64_t(0), std::int64_t(-5), std::int64_t(1) << 53}) {
        member_fixture f;
        const std::int64_t before = f.made->time();
        f.told<quorum::inspect_answer>(numbers({1, 2, 3, 4, 5, 6, 7, said}), [&](auto done) {
            f.made->async_inspect(9, std::move(done));
        });
        BOOST_TEST(f.made->time() == before);
        f.told<quorum::release_answer>(numbers({1, 2, server_time + 60'000'000}), [&](auto done) {
            f.made->async_release({.name = "stock", .owner = "client:1", .entry = {}}, false,
                                  std::move(done));
        });
        BOOST_TEST(f.made->time() == before); // the last number of a release is a fence
        f.told<quorum::inspect_answer>(
            numbers({1, 2, 3, 4, 5, 6, 7, server_time + 60'000'000}),
            [&](auto done) { f.made->async_inspect(9, std::move(done)); });
        BOOST_TEST(f.made->time() == server_time + 60'000'000);
    }
}

BOOST_AUTO_TEST_CASE(every_reply_to_a_reentrant_acquisition_is_read)
{
    using quorum::reentered;
    const std::pair<std::int64_t, std::optional<reentered>> answers[] = {{1, reentered::yes},
                                                                         {-1, reentered::late},
                                                                         {-2, reentered::gone},
                                                                         {0, {}},
                                                                         {2, {}},
                                                                         {-3, {}}};
    for (const auto& [code, expected] : answers) {
        member_fixture f;
        const auto [failed, reply] = f.told<reentered>(
            numbers({code, server_time + 60'000'000}), [&](auto done) {
                f.made->async_reenter({.name = "stock",
                                       .owner = "client:1",
                                       .entry = "e",
                                       .lease = 10s,
                                       .budget = 5s},
                                      std::move(done));
            });
        if (expected)
            BOOST_TEST((!failed && reply == *expected));
        else
            BOOST_TEST((failed == errc::outcome_unknown));
        BOOST_TEST((f.made->time() == server_time + 60'000'000) == expected.has_value());
    }
}

BOOST_AUTO_TEST_CASE(every_reply_to_a_release_is_read)
{
    using outcome = release_reply::outcome;
    const std::pair<std::int64_t, std::optional<outcome>> answers[] = {
        {0, outcome::not_owner}, {1, outcome::freed}, {2, outcome::still_held}, {3, {}}, {-1, {}}};
    for (const auto& [code, expected] : answers) {
        for (const bool quiet : {false, true}) {
            member_fixture f;
            const auto [failed, reply] = f.told<quorum::release_answer>(
                numbers({code, 5, 40}), [&](auto done) {
                    f.made->async_release({.name = "stock", .owner = "client:1", .entry = "e"},
                                          quiet, std::move(done));
                });
            const words& asked = f.all.calls.back().second;
            BOOST_TEST(asked.at(7) == "e");
            BOOST_TEST(asked.at(8) == (quiet ? "" : quorum::member_keys().releases("stock")));
            if (!expected) {
                BOOST_TEST((failed == errc::outcome_unknown));
                continue;
            }
            BOOST_TEST((!failed && reply.result == *expected));
            BOOST_TEST(reply.receivers == 5);
            BOOST_TEST(reply.largest == 40u);
        }
    }
}

BOOST_AUTO_TEST_CASE(record_of_a_member_is_read)
{
    for (const std::int64_t first : {0, 1, 2}) {
        member_fixture f;
        const auto inspect = f.told<quorum::inspect_answer>(
            numbers({first, 2, 3, 4, 5, 6, 7, server_time}),
            [&](auto done) { f.made->async_inspect(9, std::move(done)); });
        BOOST_TEST(!inspect.first);
        BOOST_TEST(inspect.second.is_member == (first == 1));
        BOOST_TEST(inspect.second.epoch == 2u);
        BOOST_TEST(inspect.second.largest == 3u);
        BOOST_TEST((inspect.second.lease == 4ms));
        BOOST_TEST(inspect.second.nonce == 5u);
        BOOST_TEST((inspect.second.silent == 6ms));
        BOOST_TEST(inspect.second.began == 7u);
        const auto adopted = f.told<quorum::adopt_answer>(
            numbers({first, 2, 3, 4, server_time}),
            [&](auto done) { f.made->async_adopt(9, std::move(done)); });
        BOOST_TEST(!adopted.first);
        BOOST_TEST(adopted.second.adopted == (first == 1));
        BOOST_TEST(adopted.second.epoch == 2u);
        BOOST_TEST(adopted.second.largest == 3u);
        BOOST_TEST((adopted.second.lease == 4ms));
        const auto seeded = f.told<quorum::seed_answer>(
            numbers({first, 4, server_time}), [&](auto done) {
                f.made->async_seed(
                    {.nonce = 1, .epoch = 2, .floor = 3, .lease = 4ms, .silence = 5ms, .began = 6},
                    std::move(done));
            });
        BOOST_TEST(!seeded.first);
        BOOST_TEST(seeded.second.is_member == (first != 0));
        BOOST_TEST((seeded.second.silent == 4ms));
        const words& asked = f.all.calls.back().second;
        BOOST_TEST((words(asked.begin() + 4, asked.end()) == words{"1", "2", "3", "5", "4", "6"}));
    }
}

// Up to fifty share one command, and all replies are merged into one.
BOOST_AUTO_TEST_CASE(many_renewals_become_several_commands_and_one_reply)
{
    constexpr std::size_t most = 50;
    for (const std::size_t count : {1u, 49u, 50u, 51u, 99u, 100u, 101u, 150u, 151u}) {
        for (const bool one_fails : {false, true}) {
            member_fixture f;
            std::vector<std::string> names;
            for (std::size_t i = 0; i < count; ++i)
                names.push_back("lock" + std::to_string(i));
            std::vector<quorum::upkeep> asked;
            for (const std::string& each : names)
                asked.push_back({{.name = each, .owner = "client:1", .lease = 10s}, false});
            const auto result_of = [](const std::string& name) {
                return static_cast<std::int64_t>(std::stoul(name.substr(4)) % 4) - 1;
            };
            f.all.answer = [&](const std::string&, const words& said) {
                if (one_fails && said.at(3) == names.front())
                    return std::optional<std::string>("-ERR not now\r\n");
                std::vector<std::int64_t> results;
                for (std::size_t i = 0; i < std::stoul(said.at(2)) / 2; ++i)
                    results.push_back(result_of(said.at(3 + 2 * i)));
                BOOST_TEST(results.size() <= most);
                return std::optional(numbers_of(results));
            };
            int answers = 0;
            std::vector<kept> got;
            f.call([&] {
                f.made->async_renew(asked, {}, [&](std::vector<kept> results) {
                    ++answers;
                    got = std::move(results);
                });
            });
            BOOST_TEST(answers == 1);
            BOOST_TEST(f.all.calls.size() == (count + most - 1) / most);
            BOOST_TEST_REQUIRE(got.size() == count);
            constexpr kept meanings[] = {kept::failed, kept::gone, kept::yes, kept::free};
            for (std::size_t i = 0; i < count; ++i) {
                const bool failed = one_fails && i < most;
                BOOST_TEST((got[i] == (failed ? kept::failed : meanings[i % 4])));
            }
        }
    }
}

// A lock that the renewal creates would be orphaned until its TTL has passed.
BOOST_AUTO_TEST_CASE(lock_created_by_a_renewal_is_released_after_it)
{
    for (const bool creates : {false, true}) {
        for (const std::string_view name : {"first", "second", "third"}) {
            member_fixture f;
            f.missing = 1; // the script of the renewal
            f.given = {numbers({1, 5, 40}), numbers({1, 1}), numbers({0, 0, 0})};
            const quorum::upkeep two[] = {
                {{.name = "first", .owner = "client:1", .lease = 10s}, false},
                {{.name = "second", .owner = "client:1", .lease = 10s}, creates}};
            std::optional<quorum::release_answer> left;
            int renewed = 0;
            f.call([&] {
                f.made->async_renew(two, 5s, [&](const std::vector<kept>& results) {
                    BOOST_TEST((results == std::vector{kept::yes, kept::yes}));
                    BOOST_TEST(!left.has_value() == (creates && name != "third"));
                    ++renewed;
                });
                f.made->async_release({.name = name, .owner = "client:1", .entry = {}}, false,
                                      [&](error_code failed, quorum::release_answer said) {
                                          BOOST_TEST(!failed);
                                          left = said;
                                      });
            });
            BOOST_TEST(renewed == 1);
            BOOST_TEST_REQUIRE(left.has_value());
            // The first reply determines the result.
            BOOST_TEST((left->result == release_reply::outcome::freed));
            BOOST_TEST(left->largest == 40u);
            const bool again = creates && name != "third";
            BOOST_TEST_REQUIRE(f.all.calls.size() == (again ? 4u : 3u));
            BOOST_TEST(f.all.calls[2].second.at(0) == "EVAL"); // the renewal
            if (again)
                BOOST_TEST(f.all.calls[3].second.at(3) == name);
        }
    }
}

// Despite the first release, a later request may have created the lock.
BOOST_AUTO_TEST_CASE(unanswered_repetition_of_a_release_has_an_unknown_outcome)
{
    member_fixture f;
    f.missing = 1;
    f.given = {numbers({1, 5, 40}), numbers({1})};
    const quorum::upkeep one[] = {{{.name = "stock", .owner = "client:1", .lease = 10s}, true}};
    std::optional<error_code> left;
    f.all.answer = [&](const std::string&, const words& asked) {
        return f.all.calls.size() == 4 ? std::nullopt : f.answer(asked);
    };
    f.call([&] {
        f.made->async_renew(one, 5s, [](const std::vector<kept>&) {});
        f.made->async_release(
            {.name = "stock", .owner = "client:1", .entry = {}}, false,
            [&](error_code failed, const quorum::release_answer&) { left = failed; });
    });
    BOOST_TEST(f.all.calls.size() == 4u);
    BOOST_TEST(!left.has_value());
    f.call([&] { f.end_all(); });
    BOOST_TEST_REQUIRE(left.has_value());
    BOOST_TEST((*left == errc::outcome_unknown));
}

BOOST_AUTO_TEST_CASE(unreachable_member_is_reported_with_its_error)
{
    member_fixture f("%1\r\n" + test::bulk("mode") + test::bulk("cluster"));
    BOOST_TEST(f.reachable == 0);
    BOOST_TEST_REQUIRE(f.lost.size() == 1u);
    BOOST_TEST_REQUIRE(f.errors.size() == 1u);
    BOOST_TEST((f.lost[0].first == f.errors[0].first));
    BOOST_TEST_REQUIRE((f.lost[0].second != nullptr));
    BOOST_TEST(f.lost[0].second->server_message == f.errors[0].second);
    BOOST_TEST(f.lost[0].second->server == "a:7000");

    // A later end of the connection is reported without that error.
    f.all.instead.clear();
    f.advance(1s);
    BOOST_TEST_REQUIRE(f.reachable == 1);
    f.call([&] { f.end_all(); });
    BOOST_TEST_REQUIRE(f.lost.size() == 2u);
    BOOST_TEST((f.lost[1].first == errc::store_unavailable));
    BOOST_TEST((f.lost[1].second == nullptr));
}

BOOST_AUTO_TEST_CASE(releases_of_watched_names_are_reported)
{
    member_fixture f;
    const std::string channel = quorum::member_keys().releases("stock");
    f.call([&] { f.made->watch("stock"); });
    f.poll();
    BOOST_TEST_REQUIRE(!f.all.subscribed.empty());
    const auto [to, asked] = f.all.subscribed.back();
    BOOST_TEST((asked == words{"SUBSCRIBE", channel}));
    f.push(to, {"subscribe", channel, "1"});
    f.push(to, {"message", channel, "40:7"});
    f.push(to, {"message", channel, "none"});
    const std::size_t sensible = f.heard.size();
    f.push(to, {"message", channel});
    f.push(to, {"pmessage", channel, "40:7"});
    f.push(to, {"unsubscribe", channel, "0"});
    f.push(to, {"message", quorum::member_keys().releases("other"), "40:7"});
    f.push(to, {"message", "x", "40:7"});
    BOOST_TEST(f.heard.size() == sensible);
    BOOST_TEST((f.heard == words{"watching stock", "stock ':7' 40", "stock 'none' 0"}));
    f.call([&] { f.made->unwatch("stock"); });
    BOOST_TEST((f.all.subscribed.back().second == words{"UNSUBSCRIBE", channel}));
    f.push(to, {"message", channel, "41:7"});
    BOOST_TEST(f.heard.size() == sensible);
    f.call([&] { f.made->watch("stock"); });
    const std::size_t before = f.all.subscribed.size();
    f.call([&, from = to] { from->end(); });
    BOOST_TEST(f.heard.back() == "deaf");
    f.advance(1s);
    BOOST_TEST(f.all.subscribed.size() == before + 1);
    BOOST_TEST((f.all.subscribed.back().second == words{"SUBSCRIBE", channel}));
}

BOOST_AUTO_TEST_SUITE_END()
