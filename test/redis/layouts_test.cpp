// How the two layouts of the Redis store read the replies of a server.
#include <boost/test/unit_test.hpp>

#include "base/server_clock.hpp"
#include "redis/commands/ended_connections.hpp"
#include "redis/commands/grant_subscription.hpp"
#include "redis/commands/native_commands.hpp"
#include "redis/commands/presence.hpp"
#include "redis/commands/redisson_commands.hpp"
#include "redis/commands/slot_floors.hpp"

#include <leasehold/diagnostics.hpp>
#include <leasehold/redis.hpp>

#include <boost/redis/request.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::redis_store;
using namespace std::chrono_literals;
using outcome = acquire_reply::outcome;
using words = std::vector<std::string>;

constexpr std::int64_t server_time = 1'700'000'000'000'000;

reply numbers(std::initializer_list<std::int64_t> all)
{
    reply made;
    made.numbers.assign(all.begin(), all.end());
    return made;
}

reply text(std::string_view what)
{
    reply made;
    made.text = what;
    return made;
}

reply nothing()
{
    return {};
}

reply error(std::string_view what)
{
    reply made;
    made.error = what;
    return made;
}

/// The words of all commands of a request, in order.
words words_in(const boost::redis::request& asked)
{
    std::string_view rest = asked.payload();
    const auto number = [&] {
        std::size_t value = 0;
        const std::size_t end = rest.find("\r\n");
        std::from_chars(rest.data() + 1, rest.data() + end, value);
        rest.remove_prefix(end + 2);
        return value;
    };
    words all;
    while (!rest.empty()) {
        for (std::size_t count = number(); count > 0; --count) {
            const std::size_t size = number();
            all.emplace_back(rest.substr(0, size));
            rest.remove_prefix(size + 2);
        }
    }
    return all;
}

acquire_request take(std::string_view name, bool again = false)
{
    return {.name = name,
            .owner = "11111111-1111-1111-1111-111111111111:1",
            .entry = {},
            .lease = 10s,
            .fences = 3,
            .budget = 5s,
            .again = again,
            .waits = true,
            .presence = 10s,
            .claim = 1s};
}

class listening final : public grant_subscription
{
public:
    bool is_subscribed(slot_number) const noexcept override { return open; }
    void listen(slot_number) override { ++asked; }

    bool open = false;
    int asked = 0;
};

struct native_fixture
{
    /// A new connection sends its first commands and gets this description.
    /// @param kills The server's reply to CLIENT KILL.
    void connect(std::string_view info, const reply& raised = numbers({1}),
                 const reply& kills = numbers({1}))
    {
        ended.clear();
        keys.it_is(server_time);
        const std::size_t count = keys.greetings();
        for (std::size_t i = 0; i < count; ++i) {
            boost::redis::request asked;
            static_cast<void>(keys.greeting(i, asked));
            const words said = words_in(asked);
            reply answer = error("ERR unknown command");
            if (said[0] == "CLIENT" && said[1] == "KILL") {
                ended.push_back(said[3] + ' ' + said[5]);
                answer = kills;
            }
            else if (said[0] == "CLIENT") {
                answer = text(info);
            }
            else if (said[0] == "EVALSHA") {
                answer = raised;
            }
            const error_code refused = answer.error.empty() ? error_code() : classify(answer.error);
            static_cast<void>(keys.greeted(i, {&answer, 1}, refused));
        }
    }

    std::pair<call, words> acquire(std::string_view name, bool again = false)
    {
        boost::redis::request asked;
        const call made = keys.acquire(take(name, again), 0, asked);
        return {made, words_in(asked)};
    }

    std::string verb(std::string_view name) { return acquire(name).second[0]; }

    std::shared_ptr<listening> grants = std::make_shared<listening>();
    native_commands keys{grants, false};
    words ended; ///< Connections that the latest one has ended.
};

} // namespace

BOOST_AUTO_TEST_SUITE(layout_native)

BOOST_AUTO_TEST_CASE(earlier_connection_is_ended_by_id_and_address)
{
    native_fixture f;
    f.connect("id=3 addr=10.0.0.1:50 laddr=10.0.0.2:6379 fd=8");
    BOOST_TEST(f.ended.empty());
    f.connect("id=4 addr=10.0.0.1:51 laddr=10.0.0.2:6379 fd=8");
    BOOST_TEST(f.ended == words{"3 10.0.0.1:50"}, boost::test_tools::per_element());
    f.connect("id=5 addr=10.0.0.1:52");
    BOOST_TEST(f.ended == words{"4 10.0.0.1:51"}, boost::test_tools::per_element());
    f.connect("id=6 addr=[::1]:53");
    f.connect("id=7 addr=[::1]:54");
    BOOST_TEST(f.ended == words{"6 [::1]:53"}, boost::test_tools::per_element());
}

// Ids start again with a server, and all connections over its local socket have the same address.
BOOST_AUTO_TEST_CASE(connection_without_a_unique_address_is_not_ended)
{
    for (const char* const info :
         {"id=3 addr=/run/redis:sock:0 laddr=/run/redis:sock:0", "id=3 addr=[/run/redis:sock:0]:0",
          "id=3 addr=sock:0", "id=3 addr=[sock:0]:0", "id=3", "id=x addr=10.0.0.1:50",
          "addr=10.0.0.1:50", "id=3 laddr=10.0.0.2:6379", ""}) {
        native_fixture f;
        f.connect(info);
        f.connect("id=4 addr=10.0.0.1:51");
        BOOST_TEST(f.ended.empty(), info);
    }
}

// Each of them may still carry a request, until a server has ended it.
BOOST_AUTO_TEST_CASE(connections_that_could_not_be_ended_are_ended_later)
{
    native_fixture f;
    const reply loading = error("LOADING x");
    for (int i = 1; i <= 20; ++i)
        f.connect("id=" + std::to_string(i) + " addr=10.0.0.1:5", loading);
    f.connect("id=21 addr=10.0.0.1:5");
    BOOST_TEST_REQUIRE(f.ended.size() == 16u); // the latest 16
    BOOST_TEST(f.ended.front() == "5 10.0.0.1:5");
    BOOST_TEST(f.ended.back() == "20 10.0.0.1:5");
    f.connect("id=22 addr=10.0.0.1:5");
    BOOST_TEST(f.ended.size() == 1u);
}

BOOST_AUTO_TEST_CASE(requests_are_settled_after_their_connection_was_ended)
{
    native_fixture f;
    f.connect("id=3 addr=10.0.0.1:50");
    BOOST_TEST(!f.keys.settled()); // no connection was ended
    f.connect("id=4 addr=10.0.0.1:51");
    BOOST_TEST(f.keys.settled());
    // A connection that did not serve does not matter.
    f.connect("id=5 addr=10.0.0.1:52", error("LOADING x"));
    f.connect("id=6 addr=10.0.0.1:53");
    BOOST_TEST(f.keys.settled());
}

BOOST_AUTO_TEST_CASE(request_is_not_settled_if_its_connection_could_not_be_ended)
{
    native_fixture refused;
    refused.connect("id=3 addr=10.0.0.1:50");
    refused.connect("id=4 addr=10.0.0.1:51", numbers({1}), error("NOPERM no permissions"));
    BOOST_TEST(!refused.keys.settled());
    refused.connect("id=5 addr=10.0.0.1:52");
    BOOST_TEST(!refused.keys.settled()); // the first connection may still exist
    native_fixture local;
    local.connect("id=3 addr=/run/redis.sock:0");
    local.connect("id=4 addr=/run/redis.sock:0");
    BOOST_TEST(!local.keys.settled());
}

BOOST_AUTO_TEST_CASE(contended_name_uses_the_slow_path)
{
    native_fixture f;
    f.connect("");
    const auto [alone, first] = f.acquire("a");
    BOOST_TEST(first[0] == "SET");
    const reply free[] = {nothing(), numbers({10})};
    BOOST_TEST(f.keys.acquired(alone, free).reply.first_fence == 8u);

    const auto [held, second] = f.acquire("a");
    BOOST_TEST(second[0] == "SET");
    const reply taken[] = {text("lh:22222222-2222-2222-2222-222222222222:5"), numbers({13})};
    BOOST_TEST((f.keys.acquired(held, taken).reply.result == outcome::held));
    const auto [waits, third] = f.acquire("a");
    BOOST_TEST(third[0] == "EVALSHA");
    BOOST_TEST(f.verb("b") == "SET");

    // With other waiters in the queue, and without.
    const reply with_others = numbers({1, 20, 1, 3, server_time});
    BOOST_TEST(f.keys.acquired(waits, {&with_others, 1}).reply.first_fence == 18u);
    BOOST_TEST(f.verb("a") == "EVALSHA");
    const reply without = numbers({1, 23, 0, 3, server_time});
    BOOST_TEST(f.keys.acquired(waits, {&without, 1}).reply.first_fence == 21u);
    BOOST_TEST(f.verb("a") == "SET");
}

// The holder is reported only on request, because the report would slow down each poll.
BOOST_AUTO_TEST_CASE(fast_path_reports_the_holder_only_on_request)
{
    for (const bool asks : {false, true}) {
        native_fixture f;
        f.connect("");
        auto made = f.acquire("a").first;
        made.needs_holder = asks;
        const reply taken[] = {text("lh:22222222-2222-2222-2222-222222222222:5"), numbers({13})};
        const auto told = f.keys.acquired(made, taken);
        BOOST_TEST((told.reply.result == outcome::held));
        BOOST_TEST((told.reply.details != nullptr) == asks);
    }
}

BOOST_AUTO_TEST_CASE(slow_path_follows_a_key_of_another_type)
{
    native_fixture f;
    f.connect("");
    const auto [made, said] = f.acquire("a");
    const auto goes_on = [&, &fast_path = made](std::string_view refused) {
        const reply answers[] = {error(refused), numbers({10})};
        return f.keys.goes_on(fast_path, answers);
    };
    BOOST_TEST(!goes_on("NOPERM x"));
    BOOST_TEST(!goes_on("OOM x"));
    BOOST_TEST(goes_on("WRONGTYPE x"));
    // Redis before 7.0: NX and GET exclude each other.
    BOOST_TEST(goes_on("ERR syntax error"));
    const words older = f.acquire("a").second;
    BOOST_TEST((std::find(older.begin(), older.end(), "GET") == older.end()));
}

BOOST_AUTO_TEST_CASE(waiter_without_a_subscription_has_a_longer_claim)
{
    native_fixture f;
    f.connect("");
    constexpr std::size_t claim = 13;
    constexpr std::size_t listens = 14;
    for (const bool subscribed : {false, true}) {
        f.grants->open = subscribed;
        const words said = f.acquire("a", true).second;
        BOOST_TEST_REQUIRE(said[0] == "EVALSHA");
        BOOST_TEST(said[claim] == (subscribed ? "1000" : "3000"));
        BOOST_TEST(said[listens] == (subscribed ? "1" : "0"));
    }
}

BOOST_AUTO_TEST_CASE(replies_report_the_position_in_the_queue)
{
    native_fixture f;
    f.connect("");
    for (const bool subscribed : {false, true}) {
        f.grants->open = subscribed;
        for (const auto& [said, place] :
             {std::pair(0, 0u), std::pair(31, 31u), std::pair(-2, 1'000u)}) {
            const call made = f.acquire("a", true).first;
            const int asked = f.grants->asked;
            const reply answer = numbers({0, 500, said, 0, server_time});
            const acquire_reply told = f.keys.acquired(made, {&answer, 1}).reply;
            BOOST_TEST((told.result == outcome::held));
            BOOST_TEST(told.queued);
            BOOST_TEST(told.position == place);
            BOOST_TEST(told.may_miss_grant == !subscribed);
            BOOST_TEST((told.remaining == 500ms));
            BOOST_TEST(f.grants->asked == asked + 1);
        }
    }
    const call made = f.acquire("a", true).first;
    const reply out = numbers({0, 500, -1, 0, server_time});
    BOOST_TEST(!f.keys.acquired(made, {&out, 1}).reply.queued);
    // An external client sends no notification.
    const reply external = numbers({2, 500, 0, 0, server_time});
    BOOST_TEST(f.keys.acquired(made, {&external, 1}).reply.may_miss_grant);
}

// A request of an earlier connection says nothing about the counter of this server.
BOOST_AUTO_TEST_CASE(unraised_counter_is_checked_until_this_server_has_granted)
{
    native_fixture f;
    const reply full = error("OOM x");
    f.connect("", full);
    const auto [earlier, first] = f.acquire("a");
    BOOST_TEST(first[0] == "EVALSHA");
    f.connect("", full);
    const auto [later, second] = f.acquire("b");
    const reply granted = numbers({1, 20, 0, 3, server_time});
    BOOST_TEST(!f.keys.acquired(earlier, {&granted, 1}).code);
    BOOST_TEST(f.verb("c") == "EVALSHA");
    BOOST_TEST(!f.keys.acquired(later, {&granted, 1}).code);
    BOOST_TEST(f.verb("c") == "SET");
}

BOOST_AUTO_TEST_CASE(every_reply_to_a_slow_acquire_is_read)
{
    native_fixture f;
    f.connect("");
    for (const bool reenters : {false, true})
        for (std::int64_t status = -4; status <= 4; ++status)
            for (const std::int64_t last :
                 {std::int64_t{-1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{50}})
                BOOST_TEST_CONTEXT(reenters << ' ' << status << ' ' << last)
                {
                    native_fixture one;
                    acquire_request asked = take("a", true);
                    if (reenters) {
                        asked.entry = "e";
                        asked.fences = 0;
                    }
                    boost::redis::request to;
                    const call made = one.keys.acquire(asked, 0, to);
                    const reply answer = numbers(
                        {status, last, status == 1 ? 0 : -1, status == 1 ? 3 : 0, server_time});
                    const auto said = one.keys.acquired(made, {&answer, 1});
                    // The block has three fences, and its first fence is at least 1.
                    const bool granted = status == 1 && (reenters || last >= 3);
                    const bool other = status >= -2 && status <= 3 && status != 1;
                    BOOST_TEST(
                        (said.code == (granted || other ? error_code() : errc::outcome_unknown)));
                    if (granted) {
                        BOOST_TEST((said.reply.result == outcome::granted));
                        BOOST_TEST(said.reply.fences == asked.fences);
                        if (!reenters)
                            BOOST_TEST(said.reply.first_fence ==
                                       static_cast<std::uint64_t>(last - 2));
                    }
                    if (other)
                        BOOST_TEST((said.reply.result == (status == -1   ? outcome::late
                                                          : status == -2 ? outcome::gone
                                                                         : outcome::held)));
                    if (other)
                        BOOST_TEST(said.reply.grace_registered == (status == 3));
                    if (granted || other)
                        BOOST_TEST((said.server_us == server_time));
                }
}

BOOST_AUTO_TEST_CASE(slow_grant_reports_its_number_of_fences)
{
    for (std::int64_t flags = 0; flags <= 3; ++flags)
        for (std::int64_t count = -1; count <= 4; ++count)
            BOOST_TEST_CONTEXT(flags << ' ' << count)
            {
                native_fixture f;
                f.connect("");
                const call made = f.acquire("a", true).first;
                const reply answer = numbers({1, 50, flags, count, server_time});
                const auto said = f.keys.acquired(made, {&answer, 1});
                const bool known = count >= 1 && count <= 3; // as many as were requested
                BOOST_TEST((said.code == (known ? error_code() : errc::outcome_unknown)));
                BOOST_TEST(said.reply.grace_registered == (flags >= 2));
                BOOST_TEST((f.verb("a") == "EVALSHA") == (flags % 2 == 1));
                if (!known)
                    continue;
                BOOST_TEST(said.reply.fences == count);
                BOOST_TEST(said.reply.first_fence == static_cast<std::uint64_t>(51 - count));
            }
}

// INCRBY does not read the clock. Fences drawn ahead of the clock would be drawn again after a loss
// of data.
BOOST_AUTO_TEST_CASE(fast_path_draws_a_block_if_the_counter_is_behind_the_clock)
{
    constexpr std::int64_t clock = 2 * server_time;
    native_fixture f;
    f.connect("", numbers({clock - 8}));
    const auto drawn = [&] {
        const std::uint32_t said = f.keys.draws(take("a"));
        const call made = f.acquire("a").first;
        BOOST_TEST(made.fences == said);
        return said;
    };
    // Outstanding draws count, too.
    for (const std::uint32_t count : {3u, 3u, 1u, 1u, 1u})
        BOOST_TEST(drawn() == count);
    f.keys.it_is(server_time + 2);
    for (const std::uint32_t count : {3u, 1u})
        BOOST_TEST(drawn() == count);
    // Other clients have drawn.
    f.keys.it_is(server_time + 1'000);
    const call made = f.acquire("b").first;
    BOOST_TEST(made.fences == 3u);
    const reply answers[] = {nothing(), numbers({clock + 2'000})};
    BOOST_TEST(f.keys.acquired(made, answers).reply.fences == 3u);
    BOOST_TEST(drawn() == 1u);
    f.keys.it_is(0);
    BOOST_TEST(drawn() == 1u);
    f.keys.it_is(server_time + 1'003);
    BOOST_TEST(drawn() == 3u);
}

BOOST_AUTO_TEST_CASE(every_reply_to_a_slow_release_is_read)
{
    using left = release_reply::outcome;
    constexpr left meanings[] = {left::not_owner,  left::freed,        left::still_held,
                                 left::left_queue, left::granted_next, left::granted_next};
    for (std::int64_t status = -1; status <= 6; ++status)
        for (std::int64_t next = -1; next <= 3; ++next)
            BOOST_TEST_CONTEXT(status << ' ' << next)
            {
                native_fixture f;
                f.connect("");
                const acquire_request joins = take("a");
                boost::redis::request to;
                const call made = f.keys.release(
                    {.name = "a", .owner = joins.owner, .entry = {}, .next = &joins}, 0, to);
                const std::int64_t a = next == 1 ? 50 : 500;
                const std::int64_t b = next == 1 ? 3 : 7;
                const reply answer = numbers({status, next, a, b, server_time});
                const auto said = f.keys.released(made, {&answer, 1});
                const bool known = status >= 0 && status <= 5 && next >= 0 && next <= 2;
                BOOST_TEST((said.code == (known ? error_code() : errc::outcome_unknown)));
                if (!known)
                    continue;
                BOOST_TEST((said.server_us == server_time));
                BOOST_TEST((said.reply.result == meanings[status]));
                BOOST_TEST(said.reply.next.has_value() == (next != 0));
                if (next == 1) {
                    BOOST_TEST((said.reply.next->result == outcome::granted));
                    BOOST_TEST(said.reply.next->first_fence == 48u);
                    BOOST_TEST(said.reply.next->fences == 3u);
                }
                if (next == 2) {
                    BOOST_TEST((said.reply.next->result == outcome::held));
                    BOOST_TEST((said.reply.next->remaining == 500ms));
                    BOOST_TEST(said.reply.next->position == 7u);
                }
                // With waiters elsewhere, or here, only the slow path is used.
                BOOST_TEST((f.verb("a") == "EVALSHA") == (status >= 4 || next == 2));
            }
}

BOOST_AUTO_TEST_CASE(only_the_slow_path_leaves_the_lock_to_external_clients)
{
    native_fixture f;
    f.connect("");
    for (const std::chrono::milliseconds free_time : {0ms, 70ms}) {
        boost::redis::request to;
        f.keys.release(
            {.name = "a", .owner = take("a").owner, .entry = {}, .external_time = free_time}, 0,
            to);
        const words said = words_in(to);
        const bool is_long = said.at(1) == of_native().leave.sha;
        BOOST_TEST(is_long == (free_time != 0ms));
        if (is_long)
            BOOST_TEST(said.back() == "70");
    }
}

BOOST_AUTO_TEST_CASE(reply_without_a_server_time_is_malformed)
{
    for (const std::int64_t time : {std::int64_t{0}, std::int64_t{-1}}) {
        native_fixture f;
        f.connect("");
        const call made = f.acquire("a", true).first;
        const reply answer = numbers({0, 500, -1, 0, time});
        BOOST_TEST((f.keys.acquired(made, {&answer, 1}).code == errc::outcome_unknown));
        redisson_commands keys(24h);
        boost::redis::request asked;
        const call other = keys.acquire(take("a"), 0, asked);
        const reply short_one = numbers({0, 500, 0, time});
        BOOST_TEST((keys.acquired(other, {&short_one, 1}).code == errc::outcome_unknown));
    }
}

// A server with one of these commands compares and deletes in one step.
BOOST_AUTO_TEST_CASE(conditional_delete_is_used_if_the_server_knows_it)
{
    const std::pair<reply, bool> answers[] = {{numbers({0}), true},
                                              {numbers({1}), true},
                                              {numbers({2}), false},
                                              {numbers({-1}), false},
                                              {numbers({}), false},
                                              {numbers({0, 0}), false},
                                              {text("OK"), false},
                                              {nothing(), false},
                                              {error("MOVED 1 a:1"), true},
                                              {error("ASK 1 a:1"), true},
                                              {error("ERR unknown command"), false},
                                              {error("NOPERM x"), false}};
    for (const auto& [says, known] : answers)
        for (const std::string_view asked : {"DELIFEQ", "DELEX"}) {
            native_fixture f;
            const std::size_t count = f.keys.greetings();
            for (std::size_t i = 0; i < count; ++i) {
                boost::redis::request to;
                static_cast<void>(f.keys.greeting(i, to));
                const reply no = error("ERR unknown command");
                const reply raised = numbers({1});
                const std::string verb = words_in(to)[0];
                const reply& answer = verb == asked ? says : verb == "EVALSHA" ? raised : no;
                static_cast<void>(f.keys.greeted(i, {&answer, 1}, {}));
            }
            boost::redis::request to;
            static_cast<void>(
                f.keys.release({.name = "a", .owner = take("a").owner, .entry = {}}, 0, to));
            BOOST_TEST(words_in(to)[0] == (known ? asked : "EVALSHA"));
        }
}

BOOST_AUTO_TEST_CASE(cluster_node_has_its_own_scripts)
{
    native_fixture f;
    BOOST_TEST(&f.keys.scripts() == &native_script_set());
    const native_commands of_node(nullptr, true, std::make_shared<slot_floors>());
    BOOST_TEST(&of_node.scripts() == &native_cluster_script_set());
    BOOST_TEST(&redisson_commands(24h).scripts() == &redisson_script_set());
    const redisson_commands redisson_of_node(24h, nullptr, true);
    BOOST_TEST(&redisson_of_node.scripts() == &redisson_cluster_script_set());
    BOOST_TEST(&native_script_set() != &native_cluster_script_set());
}

// A cluster node serves the keys of a migrating slot one by one only.
BOOST_AUTO_TEST_CASE(releases_of_the_redisson_layout_are_grouped_at_a_single_server)
{
    const release_request plain{.name = "a", .owner = "a:1", .entry = {}};
    BOOST_TEST(redisson_commands(24h).groups(plain));
    BOOST_TEST(!redisson_commands(24h, nullptr, true).groups(plain));
    const acquire_request next = take("a");
    BOOST_TEST(!redisson_commands(24h).groups({.name = "a", .owner = "a:1", .entry = "x"}));
    BOOST_TEST(
        !redisson_commands(24h).groups({.name = "a", .owner = "a:1", .entry = {}, .next = &next}));
    BOOST_TEST(!redisson_commands(24h).groups(
        {.name = "a", .owner = "a:1", .entry = {}, .external_time = 1ms}));
    // This client knows of waiters.
    redisson_commands keys(24h);
    boost::redis::request to;
    const call made = keys.acquire(take("a"), 0, to);
    const reply held = numbers({0, 1000, 0, 1'700'000'000'000'000});
    BOOST_TEST(!keys.acquired(made, {&held, 1}).code);
    BOOST_TEST(!keys.groups(plain));
}

// Only the reply to a `SET` that also returns the holder.
BOOST_AUTO_TEST_CASE(syntax_error_selects_the_slow_path_only_for_set_with_get)
{
    native_fixture f;
    f.connect("");
    const reply old[] = {error("ERR syntax error"), numbers({10})};
    const call gets = f.acquire("a").first;
    BOOST_TEST(f.keys.goes_on(gets, old));
    const call plain = f.acquire("a").first;
    BOOST_TEST(!f.keys.goes_on(plain, old));
}

// For each length at which the text may be truncated.
BOOST_AUTO_TEST_CASE(connection_with_a_truncated_description_is_not_ended)
{
    const std::string whole = "id=37 addr=10.0.0.1:50 laddr=10.0.0.2:6379";
    for (std::size_t size = 0; size <= whole.size(); ++size) {
        const std::unique_ptr<char[]> exact(new char[size]); // the text behind it must not be read
        std::copy_n(whole.begin(), size, exact.get());
        ended_connections of;
        of.learn(std::string_view(exact.get(), size));
        of.begin();
        BOOST_TEST(of.count() ==
                   (size >= std::string_view("id=37 addr=10.0.0.1:").size() ? 1u : 0u));
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(layout_redisson)

BOOST_AUTO_TEST_CASE(every_reply_to_a_redisson_acquire_is_read)
{
    for (const bool reenters : {false, true})
        for (std::int64_t status = -5; status <= 3; ++status)
            BOOST_TEST_CONTEXT(reenters << ' ' << status)
            {
                redisson_commands keys(24h);
                acquire_request asked = take("a");
                if (reenters) {
                    asked.entry = "e";
                    asked.fences = 0;
                }
                boost::redis::request to;
                const call made = keys.acquire(asked, 0, to);
                const reply answer = reenters && status == 1 ? numbers({1, 0, 0, server_time})
                                                             : numbers({status, 7, 2, server_time});
                const auto said = keys.acquired(made, {&answer, 1});
                const bool known = status >= -2 && status <= 1;
                // Others wait, and the slow path was not used.
                const error_code none = status == -3 ? errc::store_unavailable
                                                     : errc::outcome_unknown;
                BOOST_TEST((said.code == (known ? error_code() : none)));
                if (!known)
                    continue;
                BOOST_TEST((said.server_us == server_time));
                BOOST_TEST((said.reply.result == (status == 1    ? outcome::granted
                                                  : status == 0  ? outcome::held
                                                  : status == -1 ? outcome::late
                                                                 : outcome::gone)));
                if (status == 1) {
                    BOOST_TEST(said.reply.first_fence == (reenters ? 0u : 7u));
                    BOOST_TEST(said.reply.fences == (reenters ? 0u : 2u));
                }
                if (status == 0)
                    BOOST_TEST((said.reply.remaining == 7ms));
            }
}

BOOST_AUTO_TEST_CASE(grant_with_another_number_of_fences_is_malformed)
{
    redisson_commands keys(24h);
    boost::redis::request asked;
    const call made = keys.acquire(take("a"), 0, asked); // three fences
    const auto outcome_of = [&](std::int64_t first, std::int64_t count) {
        const reply answer = numbers({1, first, count, server_time});
        return keys.acquired(made, {&answer, 1}).code;
    };
    BOOST_TEST(!outcome_of(7, 1));
    BOOST_TEST(!outcome_of(7, 3));
    BOOST_TEST((outcome_of(7, 4) == errc::outcome_unknown));
    BOOST_TEST((outcome_of(7, 0) == errc::outcome_unknown));
    BOOST_TEST((outcome_of(0, 1) == errc::outcome_unknown));
    BOOST_TEST((outcome_of(-1, 1) == errc::outcome_unknown));
}

BOOST_AUTO_TEST_CASE(every_reply_to_a_redisson_release_is_read)
{
    using left = release_reply::outcome;
    redisson_commands keys(24h);
    boost::redis::request to;
    const call made = keys.release({.name = "a", .owner = "a:1", .entry = {}}, 0, to);
    for (std::int64_t said = -6; said <= 3; ++said)
        BOOST_TEST_CONTEXT(said)
        {
            const reply answer = numbers({said});
            const auto result = keys.released(made, {&answer, 1});
            BOOST_TEST((result.code == (said >= -1   ? error_code()
                                        : said == -2 ? error_code(errc::store_unavailable)
                                                     : errc::outcome_unknown)));
            if (said < -1)
                continue;
            BOOST_TEST((result.reply.result == left::freed));
            BOOST_TEST(result.reply.receivers_known == (said >= 0));
            BOOST_TEST(result.reply.receivers ==
                       static_cast<std::uint64_t>(std::max<std::int64_t>(said, 0)));
        }
    for (const reply& each : {numbers({}), numbers({1, 0}), text("OK"), nothing()})
        BOOST_TEST((keys.released(made, {&each, 1}).code == errc::outcome_unknown));
}

BOOST_AUTO_TEST_CASE(redisson_slow_path_follows_when_others_wait)
{
    redisson_commands keys(24h);
    boost::redis::request to;
    acquire_request asked = take("a");
    const call taking = keys.acquire(asked, 5, to);
    const reply others = numbers({-3, 0, 0, server_time});
    const reply held = numbers({0, 7, 0, server_time});
    BOOST_TEST(keys.goes_on(taking, {&others, 1}));
    BOOST_TEST(!keys.goes_on(taking, {&held, 1}));
    const call leaving = keys.release({.name = "a", .owner = "a:1", .entry = {}}, 0, to);
    const reply not_plain = numbers({-2});
    const reply freed = numbers({0});
    BOOST_TEST(keys.goes_on(leaving, {&not_plain, 1}));
    BOOST_TEST(!keys.goes_on(leaving, {&freed, 1}));
    // A client that has met other waiters uses the slow path at once, and so does a repeated
    // request.
    static_cast<void>(keys.acquired(taking, {&held, 1}));
    BOOST_TEST((keys.acquire(asked, 0, to).called == &of_queue().acquire));
    BOOST_TEST((keys.release({.name = "a", .owner = "a:1", .entry = {}}, 0, to).called ==
                &of_queue().leave));
    asked = take("another");
    BOOST_TEST((keys.acquire(asked, 0, to).called == &acquire_script()));
    asked.again = true;
    BOOST_TEST((keys.acquire(asked, 0, to).called == &of_queue().acquire));
}

BOOST_AUTO_TEST_CASE(every_reply_to_a_queued_redisson_acquire_is_read)
{
    for (std::int64_t status = -2; status <= 4; ++status)
        for (const std::int64_t place : {-2, -1, 0, 3})
            BOOST_TEST_CONTEXT(status << ' ' << place)
            {
                redisson_commands keys(24h);
                boost::redis::request to;
                acquire_request asked = take("a"); // three fences
                asked.again = asked.waits = true;
                const call made = keys.acquire(asked, 0, to);
                const reply answer = status == 1 ? numbers({1, 7, 2, 0, server_time})
                                                 : numbers({status, 7, place, 0, server_time});
                const auto said = keys.acquired(made, {&answer, 1});
                const bool known = status >= -1 && status <= 2;
                BOOST_TEST((said.code == (known ? error_code() : errc::outcome_unknown)));
                if (!known)
                    continue;
                BOOST_TEST((said.reply.result == (status == 1    ? outcome::granted
                                                  : status == -1 ? outcome::late
                                                                 : outcome::held)));
                if (status == 1) {
                    BOOST_TEST(said.reply.first_fence == 7u);
                    BOOST_TEST(said.reply.fences == 2u);
                }
                if (said.reply.result != outcome::held)
                    continue;
                BOOST_TEST(said.reply.queued == (place != -1));
                // There is no listener in this test.
                BOOST_TEST(said.reply.may_miss_grant == said.reply.queued);
                BOOST_TEST(said.reply.published == (said.reply.queued && status == 2));
                if (said.reply.queued)
                    BOOST_TEST(said.reply.position == (place < 0 ? 1'000u : std::uint32_t(place)));
            }
}

BOOST_AUTO_TEST_CASE(every_reply_to_a_queued_redisson_release_is_read)
{
    using left = release_reply::outcome;
    constexpr left meanings[] = {left::not_owner,  left::freed,        left::still_held,
                                 left::left_queue, left::granted_next, left::granted_next};
    redisson_commands keys(24h);
    boost::redis::request to;
    acquire_request next = take("a");
    next.owner = "a:2";
    for (const bool joins : {false, true})
        for (std::int64_t status = -1; status <= 6; ++status)
            for (std::int64_t of_next = -1; of_next <= 3; ++of_next)
                BOOST_TEST_CONTEXT(joins << ' ' << status << ' ' << of_next)
                {
                    const call made = keys.release({.name = "a",
                                                    .owner = "a:1",
                                                    .entry = joins ? "" : "e",
                                                    .next = joins ? &next : nullptr},
                                                   0, to);
                    BOOST_TEST(made.takes == joins);
                    const reply answer = numbers({status, 4, of_next, 7, 1, server_time});
                    const auto said = keys.released(made, {&answer, 1});
                    const bool known = status >= 0 && status <= 5 && of_next >= 0 &&
                                       of_next <= (joins ? 2 : 0);
                    BOOST_TEST((said.code == (known ? error_code() : errc::outcome_unknown)));
                    if (!known)
                        continue;
                    BOOST_TEST((said.reply.result == meanings[status]));
                    BOOST_TEST(said.reply.receivers == (status == 1 ? 4u : 0u));
                    BOOST_TEST(said.reply.next.has_value() == (of_next != 0));
                    if (of_next == 1)
                        BOOST_TEST(said.reply.next->first_fence == 7u);
                    if (of_next == 2)
                        BOOST_TEST((said.reply.next->queued && said.reply.next->position == 1u));
                }
}

// A block of fences that ends at the server's clock, which is half of its last fence.
BOOST_AUTO_TEST_CASE(single_number_is_a_grant_only_at_a_valid_server_time)
{
    redisson_commands keys(24h);
    boost::redis::request to;
    const call made = keys.acquire(take("a"), 0, to); // three fences
    acquire_request asked = take("a");
    asked.entry = "e";
    const call entry = keys.acquire(asked, 0, to);
    for (const std::int64_t last :
         {std::int64_t{-2}, std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, std::int64_t{3},
          std::int64_t{4}, server_time * 2 - 1, server_time * 2, server_time * 2 + 1,
          std::int64_t{1} << 62})
        BOOST_TEST_CONTEXT(last)
        {
            const reply answer = numbers({last});
            const auto said = keys.acquired(made, {&answer, 1});
            const bool granted = last >= 3 && last % 2 == 0 && detail::is_server_time(last / 2);
            BOOST_TEST((said.code == (granted ? error_code() : errc::outcome_unknown)));
            if (granted) {
                BOOST_TEST((said.reply.result == outcome::granted));
                BOOST_TEST(said.reply.first_fence == static_cast<std::uint64_t>(last - 2));
                BOOST_TEST(said.reply.fences == 3u);
                BOOST_TEST((said.server_us == last / 2));
            }
            BOOST_TEST((keys.acquired(entry, {&answer, 1}).code == errc::outcome_unknown));
        }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(lock_presence)

namespace {

constexpr auto redisson = redis_config::key_layout::redisson;
constexpr auto native_layout = redis_config::key_layout::native;
const std::string owner_of_a = "11111111-1111-1111-1111-111111111111:1";

renewal of_a(std::string_view entry)
{
    return {.name = "a", .owner = owner_of_a, .lease = 10s, .entry = entry};
}

template <class Write>
words asked_by(Write write, redis_config::key_layout keys, std::string_view entry)
{
    boost::redis::request to;
    write(key_form{keys}, of_a(entry), to);
    return words_in(to);
}

void extend_by_name(const key_form& of, const renewal& held, boost::redis::request& to)
{
    extend(of, held, false, to);
}

void extend_by_text(const key_form& of, const renewal& held, boost::redis::request& to)
{
    extend(of, held, true, to);
}

} // namespace

BOOST_AUTO_TEST_CASE(presence_check_reads_the_lock_or_the_reentrant_acquisition)
{
    BOOST_TEST(asked_by(ask_for, redisson, "") == (words{"HEXISTS", "a", owner_of_a}),
               boost::test_tools::per_element());
    BOOST_TEST(asked_by(ask_for, redisson, "e") == (words{"HEXISTS", "a", owner_of_a + "/e"}),
               boost::test_tools::per_element());
    BOOST_TEST(asked_by(ask_for, native_layout, "") == (words{"GET", "a"}),
               boost::test_tools::per_element());
    const words of_entry = asked_by(ask_for, native_layout, "e");
    BOOST_TEST_REQUIRE(of_entry.size() == 3u);
    BOOST_TEST(of_entry[0] == "HEXISTS");
    BOOST_TEST(of_entry[2] == "e");
    BOOST_TEST(of_entry[1] ==
               asked_by(extend_by_name, native_layout, "e").at(4)); // the key of the entries
}

BOOST_AUTO_TEST_CASE(renewal_by_script_hash_names_lock_and_acquisition)
{
    BOOST_TEST(asked_by(extend_by_name, redisson, "") ==
                   (words{"EVALSHA", renew_script().sha, "1", "a", owner_of_a, "10000"}),
               boost::test_tools::per_element());
    BOOST_TEST(asked_by(extend_by_name, redisson, "e") ==
                   (words{"EVALSHA", renew_script().sha, "1", "a", owner_of_a + "/e", "10000"}),
               boost::test_tools::per_element());
    for (const char* const entry : {"", "e"}) {
        const words said = asked_by(extend_by_name, native_layout, entry);
        BOOST_TEST_REQUIRE(said.size() == 8u);
        BOOST_TEST(said[1] == of_native().renew.sha);
        BOOST_TEST(said[2] == "2");
        BOOST_TEST(said[3] == "a");
        BOOST_TEST(said[5] == "lh:" + owner_of_a);
        BOOST_TEST(said[6] == "10000");
        BOOST_TEST(said[7] == entry);
    }
}

BOOST_AUTO_TEST_CASE(renewal_by_script_text_needs_no_cached_script)
{
    for (const redis_config::key_layout keys : {redisson, native_layout}) {
        words by_name = asked_by(extend_by_name, keys, "e");
        BOOST_TEST_REQUIRE(by_name.size() > 2u);
        by_name[0] = "EVAL";
        by_name[1] = script_to_extend(keys).text;
        BOOST_TEST(asked_by(extend_by_text, keys, "e") == by_name,
                   boost::test_tools::per_element());
    }
}

BOOST_AUTO_TEST_CASE(presence_is_confirmed_only_by_matching_replies)
{
    const std::pair<reply, std::string_view> answers[] = {{numbers({1}), "number"},
                                                          {numbers({0}), ""},
                                                          {numbers({2}), ""},
                                                          {numbers({1, 1}), ""},
                                                          {text("lh:" + owner_of_a), "text"},
                                                          {text("lh:" + owner_of_a + "|w"), "text"},
                                                          {text("lh:" + owner_of_a + "1"), ""},
                                                          {text(owner_of_a), ""},
                                                          {nothing(), ""},
                                                          {error("WRONGTYPE x"), ""}};
    for (const auto& [answer, as] : answers) {
        BOOST_TEST(is_there(redisson, of_a(""), answer) == (as == "number"));
        BOOST_TEST(is_there(redisson, of_a("e"), answer) == (as == "number"));
        BOOST_TEST(is_there(native_layout, of_a("e"), answer) == (as == "number"));
        BOOST_TEST(is_there(native_layout, of_a(""), answer) == (as == "text"));
        BOOST_TEST(is_extended(answer) == (as == "number"));
    }
}

BOOST_AUTO_TEST_SUITE_END()
