// The store of a cluster, over masters that the test simulates: the node of each request, and the
// effect of moving slots.
#include <boost/test/unit_test.hpp>

#include "redis/commands/native_keys.hpp"
#include "redis/make_store.hpp"
#include "redis/protocol/key_names.hpp"
#include "redis/protocol/script.hpp"
#include "redis/protocol/slot.hpp"
#include "redis/scripted_masters.hpp"
#include "support/queued_request.hpp"

#include <leasehold/client_info.hpp>
#include <leasehold/error.hpp>
#include <leasehold/store.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::redis_store;
using namespace std::chrono_literals;
using namespace std::string_literals;
using test::numbers;
using test::served;
using test::words;

constexpr std::int64_t server_time = 1'700'000'000'000'000;
constexpr std::size_t listens = 14; ///< The index of that flag in the words of an acquire.

struct cluster_fixture : test::masters_fixture, store_listener
{
    explicit cluster_fixture(const char* layout, const client_info& client = {})
        : cluster_fixture(redis_config("redis+cluster://a:7000?layout="s + layout), client)
    {}
    explicit cluster_fixture(const redis_config& settings, const client_info& client = {})
    {
        all.client = client;
        all.map = {{0, 5460, "a"}, {5461, 10922, "b"}, {10923, 16383, "c"}};
        all.answer = [](const std::string&, const words& asked) { return usual(asked); };
        open(settings);
    }

    void open(const redis_config& settings)
    {
        made = make_store(settings, environment());
        call([&] { made->open(strand, *this); });
    }
    ~cluster_fixture()
    {
        call([&] { made->close(); });
        end_all();
    }

    /// Every acquire is granted, and there are no waiters.
    static std::optional<std::string> usual(const words& asked)
    {
        if (asked[0] == "HSET" || asked[0] == "PEXPIRE")
            return ":1\r\n";
        if (asked[1] == acquire_script().sha)
            return numbers({1, 7, 1, server_time});
        if (asked[1] == release_script().sha)
            return ":0\r\n";
        if (asked[1] == of_queue().acquire.sha)
            return numbers({1, 7, 1, 0, server_time});
        if (asked[1] == of_queue().leave.sha)
            return numbers({1, 0, 0, 0, 0, server_time});
        if (asked[1] == of_native().acquire.sha)
            return numbers({1, 4'000'000'000'000'000, 0, 1, server_time});
        if (asked[1] == of_native().leave.sha)
            return numbers({1, 0, 0, 0, server_time});
        if (asked[1] == of_native().release.sha)
            return ":1\r\n";
        return numbers({1});
    }

    /// Another owner holds every lock, and each acquire enters the queue.
    static std::optional<std::string> all_wait(const std::string&, const words& asked)
    {
        return asked[1] == of_native().acquire.sha
                   ? std::optional(numbers({0, 5'000, 0, 0, server_time}))
                   : usual(asked);
    }

    void acquire(std::string_view name, std::string_view owner = "client:1")
    {
        call([&] {
            made->async_acquire(test::queued_request(name, owner),
                                [&](error_code code, acquire_reply reply) {
                                    acquired.emplace_back(code, std::move(reply));
                                });
        });
    }

    void release(std::string_view name, std::string_view next = {})
    {
        const acquire_request after = test::queued_request(name, next);
        call([&] {
            made->async_release({.name = name,
                                 .owner = "client:1",
                                 .entry = {},
                                 .next = next.empty() ? nullptr : &after},
                                [&](error_code code, release_reply reply) {
                                    released.emplace_back(code, std::move(reply));
                                });
        });
    }

    /// All subscriptions and unsubscriptions, as "host VERB channel".
    [[nodiscard]] std::vector<std::string> channels() const
    {
        std::vector<std::string> texts;
        for (const auto& [to, asked] : all.subscribed)
            if (asked[1] != "-")
                texts.push_back(to->host + ' ' + asked[0] + ' ' + asked[1]);
        return texts;
    }

    [[nodiscard]] bool said(std::string_view text) const { return times_said(text) > 0; }

    [[nodiscard]] std::ptrdiff_t times_said(std::string_view text) const
    {
        const auto texts = channels();
        return std::count(texts.begin(), texts.end(), text);
    }

    void on_wakeup(std::string_view name) override { wakeups.emplace_back(name); }
    void on_grant(std::string_view name, std::string_view owner) override
    {
        grants.push_back(std::string(name) + ' ' + std::string(owner));
    }
    void on_connected(store_partition which) override { connected.push_back(which); }
    void on_disconnected(store_partition which, error_code why) override
    {
        lost.emplace_back(which, why);
    }
    void on_error(store_partition, error_code code, const diagnostics& details) override
    {
        errors.emplace_back(code, details.server_message);
    }

    std::shared_ptr<store> made;
    std::vector<std::pair<error_code, acquire_reply>> acquired;
    std::vector<std::pair<error_code, release_reply>> released;
    std::vector<std::string> wakeups;
    std::vector<std::string> grants;
    std::vector<store_partition> connected;
    std::vector<std::pair<store_partition, error_code>> lost;
    std::vector<std::pair<error_code, std::string>> errors;
};

/// A name of a lock in the slot.
std::string name_in(std::size_t slot)
{
    std::string name = "{";
    append_short_tag(static_cast<slot_number>(slot), name);
    return name + "}lock";
}

} // namespace

BOOST_AUTO_TEST_SUITE(cluster_store)

BOOST_AUTO_TEST_CASE(first_and_last_slot_of_a_range_are_sent_to_its_node)
{
    for (const char* const layout : {"redisson", "native"}) {
        cluster_fixture f(layout);
        for (const served& each : f.all.map) {
            for (const std::size_t slot : {each.first, each.last}) {
                f.acquire(name_in(slot));
                BOOST_TEST_REQUIRE(!f.all.calls.empty());
                BOOST_TEST(f.all.calls.back().first == each.host);
                BOOST_TEST_REQUIRE(!f.acquired.empty());
                BOOST_TEST((!f.acquired.back().first));
            }
        }
        BOOST_TEST(f.acquired.size() == 6u);
        BOOST_TEST(f.lost.empty());
    }
}

// During a failover, the map may name no node for the slots of the lost master.
BOOST_AUTO_TEST_CASE(slot_missing_from_the_map_keeps_its_node)
{
    cluster_fixture f("redisson");
    f.acquire(name_in(0));
    f.acquire(name_in(5461));
    f.all.map.erase(f.all.map.begin());
    f.all.answer = [&](const std::string& host, const words& asked) {
        return host == "b" ? std::optional<std::string>("-CLUSTERDOWN down\r\n")
                           : cluster_fixture::usual(asked);
    };
    f.acquire(name_in(5461), "client:2"); // which causes another request for the map
    f.advance(2s);
    BOOST_TEST(!f.lost.empty());
    BOOST_TEST(!f.all.used.front()->ended);
    f.acquire(name_in(0), "client:3");
    BOOST_TEST(f.all.calls.back().first == "a");
    BOOST_TEST((!f.acquired.back().first));
}

BOOST_AUTO_TEST_CASE(redirected_release_keeps_the_limit_of_the_next_owner)
{
    cluster_fixture f("native");
    const std::string name = name_in(0);
    f.acquire(name);
    int refusals = 2;
    f.all.answer = [&](const std::string&, const words& asked) {
        return refusals-- > 0 ? std::optional<std::string>("-TRYAGAIN\r\n")
                              : cluster_fixture::usual(asked);
    };
    const std::size_t before = f.all.calls.size();
    f.release(name, "client:2");
    f.advance(1s);
    BOOST_TEST_REQUIRE(f.released.size() == 1u);
    BOOST_TEST(!f.released[0].first);
    BOOST_TEST_REQUIRE(f.all.calls.size() == before + 3);
    // The limit for the next owner, by the server's clock in whole milliseconds.
    constexpr std::size_t latest = 3 + 5 + 5;
    const std::int64_t first = std::stoll(f.all.calls[before].second.at(latest));
    for (std::size_t i = before; i < f.all.calls.size(); ++i) {
        const std::int64_t limit = std::stoll(f.all.calls[i].second.at(latest));
        BOOST_TEST(limit <= first);
        BOOST_TEST(limit > first - 3'000);
    }
}

BOOST_AUTO_TEST_CASE(channel_moves_with_its_slot)
{
    cluster_fixture f("redisson");
    const std::string name = name_in(0);
    std::string channel;
    release_channel(name, channel);
    f.call([&] { f.made->watch(name); });
    BOOST_TEST(f.said("a SSUBSCRIBE " + channel));
    f.push(f.all.subscribed.back().first, {"ssubscribe", channel, "1"});
    BOOST_TEST(f.wakeups.size() == 1u);

    // Another slot of the first master keeps its connection in use.
    const std::string other = name_in(1);
    f.call([&] { f.made->watch(other); });
    f.all.map = {{0, 0, "b"}, {1, 5460, "a"}, {5461, 10922, "b"}, {10923, 16383, "c"}};
    f.all.answer = [&](const std::string& host, const words& asked) {
        return host == "a" ? std::optional<std::string>("-MOVED 0 b:7000\r\n")
                           : cluster_fixture::usual(asked);
    };
    f.acquire(name);
    f.advance(2s);
    BOOST_TEST(f.said("a SUNSUBSCRIBE " + channel));
    BOOST_TEST(f.said("b SSUBSCRIBE " + channel));
    f.call([&] { f.made->unwatch(name); });
    BOOST_TEST(f.said("b SUNSUBSCRIBE " + channel));
}

BOOST_AUTO_TEST_CASE(channel_resubscribed_before_its_unsubscription_receives_messages)
{
    const std::string name = name_in(0);
    std::string channel;
    release_channel(name, channel);
    for (const int times : {1, 2}) {
        cluster_fixture f("redisson");
        f.call([&] { f.made->watch(name); });
        const auto to = f.all.subscribed.back().first;
        f.push(to, {"ssubscribe", channel, "1"});
        BOOST_TEST(f.wakeups.size() == 1u);
        for (int i = 0; i < times; ++i) {
            f.call([&] { f.made->unwatch(name); });
            f.call([&] { f.made->watch(name); });
        }
        // The node answers in the order of the commands.
        for (std::size_t i = 1; i < f.all.subscribed.size(); ++i) {
            const std::string verb = f.all.subscribed[i].second[0];
            if (verb == "UNSUBSCRIBE") // which precedes the command
                continue;
            const bool begins = verb == "SSUBSCRIBE";
            f.push(to, {begins ? "ssubscribe" : "sunsubscribe", channel, begins ? "1" : "0"});
        }
        BOOST_TEST(f.wakeups.size() > 1u); // a release may have been missed meanwhile
        f.wakeups.clear();
        f.push(to, {"smessage", channel, "0"});
        BOOST_TEST(f.wakeups.size() == 1u);
    }

    cluster_fixture grants("native");
    grants.all.answer = &cluster_fixture::all_wait;
    native_keys().grants_in(0, "client", channel);
    grants.acquire(name);
    const auto to = grants.all.subscribed.back().first;
    grants.push(to, {"ssubscribe", channel, "1"});
    grants.advance(31s); // the channel is unsubscribed
    grants.acquire(name);
    BOOST_TEST_REQUIRE(grants.times_said("a SSUBSCRIBE " + channel) == 2);
    grants.push(to, {"sunsubscribe", channel, "0"});
    grants.push(to, {"ssubscribe", channel, "1"});
    grants.acquire(name);
    BOOST_TEST(grants.all.calls.back().second.at(listens) == "1");
}

BOOST_AUTO_TEST_CASE(second_name_on_a_subscribed_channel_gets_a_first_wake_up)
{
    cluster_fixture f("redisson");
    std::string channel;
    release_channel("a", channel);
    f.call([&] { f.made->watch("a"); });
    const auto [to, asked] = f.all.subscribed.back();
    f.push(to, {"ssubscribe", channel, "1"});
    BOOST_TEST((f.wakeups == words{"a"}));
    const auto subscriptions = [&] { return f.times_said("c SSUBSCRIBE " + channel); };
    BOOST_TEST(subscriptions() == 1);
    f.call([&] { f.made->watch("{a}"); });
    BOOST_TEST_REQUIRE(subscriptions() == 2);
    BOOST_TEST((f.all.subscribed.back().second == asked));
    f.push(to, {"ssubscribe", channel, "1"});
    BOOST_TEST((f.wakeups == words{"a", "a", "{a}"}));
    f.call([&] { f.made->watch("{a}"); }); // already watched
    BOOST_TEST(subscriptions() == 2);
}

// A client has one channel for each slot in which it waits.
BOOST_AUTO_TEST_CASE(grant_channel_is_unsubscribed_after_a_while_without_waiters)
{
    cluster_fixture f("native");
    f.all.answer = &cluster_fixture::all_wait;
    std::string channel;
    native_keys().grants_in(0, "client", channel);
    f.acquire(name_in(0));
    BOOST_TEST_REQUIRE(f.acquired.size() == 1u);
    BOOST_TEST(f.acquired[0].second.queued);
    BOOST_TEST_REQUIRE(f.said("a SSUBSCRIBE " + channel));
    f.push(f.all.subscribed.back().first, {"ssubscribe", channel, "1"});
    f.advance(20s);
    f.acquire(name_in(0)); // still subscribed
    f.advance(29s);
    BOOST_TEST(!f.said("a SUNSUBSCRIBE " + channel));
    f.advance(2s);
    BOOST_TEST(f.said("a SUNSUBSCRIBE " + channel));
}

// A grant may have been missed before the subscription was confirmed.
BOOST_AUTO_TEST_CASE(waiter_queued_before_its_subscription_polls_again)
{
    for (const bool by_release : {false, true}) {
        cluster_fixture f("native");
        std::string first;
        native_keys().grants_in(1, "client", first);
        f.all.answer = [](const std::string&, const words& asked) {
            if (asked[1] == of_native().acquire.sha)
                return numbers({0, 5'000, 0, 0, server_time});
            return asked[1] == of_native().leave.sha ? numbers({1, 2, 5'000, 0, server_time})
                                                     : *cluster_fixture::usual(asked);
        };
        f.acquire(name_in(1), "client:7"); // makes the connection
        BOOST_TEST_REQUIRE(f.said("a SSUBSCRIBE " + first));
        f.push(f.all.subscribed.back().first, {"ssubscribe", first, "1"});
        BOOST_TEST(f.grants.empty()); // all waiters there have polled

        const std::string name = name_in(0);
        std::string channel;
        native_keys().grants_in(0, "client", channel);
        if (by_release)
            f.release(name, "client:2");
        else
            f.acquire(name, "client:2");
        BOOST_TEST_REQUIRE(f.said("a SSUBSCRIBE " + channel));
        f.push(f.all.subscribed.back().first, {"ssubscribe", channel, "1"});
        BOOST_TEST_REQUIRE(f.grants.size() == 1u);
        BOOST_TEST(f.grants[0] == name + " client:2");
    }
}

// All callers get the report, so it must not come with every map.
BOOST_AUTO_TEST_CASE(incomplete_map_is_reported_once_until_it_is_complete)
{
    cluster_fixture f("redisson");
    f.acquire(name_in(0));
    f.acquire(name_in(5461));
    const auto whole = f.all.map;
    const auto told = [&] {
        return std::count(f.lost.begin(), f.lost.end(),
                          std::pair<store_partition, error_code>(0, errc::store_refused));
    };
    for (int times = 1; times <= 2; ++times) {
        f.all.map = whole;
        f.all.map.erase(f.all.map.begin());
        f.all.answer = [&](const std::string& host, const words& asked) {
            return host == "b" ? std::optional<std::string>("-CLUSTERDOWN down\r\n")
                               : cluster_fixture::usual(asked);
        };
        f.acquire(name_in(5461), "client:2"); // which causes another request for the map
        f.advance(20s);
        BOOST_TEST(told() == times);
        f.all.map = whole;
        f.all.answer = [](const std::string&, const words& asked) {
            return cluster_fixture::usual(asked);
        };
        f.advance(20s);
        BOOST_TEST(told() == times);
    }
}

BOOST_AUTO_TEST_CASE(pausing_request_is_not_repeated_when_another_node_connects)
{
    for (const bool renews : {false, true}) {
        cluster_fixture f("redisson");
        f.acquire(name_in(0));
        f.all.answer = [&](const std::string& host, const words& asked) {
            return host == "a" ? std::optional<std::string>("-TRYAGAIN\r\n")
                               : cluster_fixture::usual(asked);
        };
        const auto asked_there = [&] {
            return std::count_if(f.all.calls.begin(), f.all.calls.end(),
                                 [](const auto& each) { return each.first == "a"; });
        };
        const std::string name = name_in(1);
        if (renews)
            f.call([&] {
                const renewal one[] = {{name, "client:2", 10s}};
                f.made->async_renew(one, [](error_code, const renew_reply&) {});
            });
        else
            f.acquire(name, "client:2");
        const auto before = asked_there();
        f.acquire(name_in(5461), "client:3"); // which opens the connection to the other node
        BOOST_TEST((!f.acquired.back().first));
        BOOST_TEST(f.all.calls.back().first == "b");
        BOOST_TEST(asked_there() == before);
        f.advance(1s);
        BOOST_TEST(asked_there() > before);
    }
}

BOOST_AUTO_TEST_CASE(request_after_the_close_is_rejected)
{
    for (const char* const layout : {"redisson", "native"}) {
        cluster_fixture f(layout);
        f.acquire(name_in(0));
        f.call([&] { f.made->close(); });
        const std::size_t before = f.all.calls.size();
        f.acquire(name_in(0), "client:2");
        f.release(name_in(0));
        BOOST_TEST_REQUIRE(f.acquired.size() == 2u);
        BOOST_TEST((f.acquired[1].first == errc::store_unavailable));
        BOOST_TEST_REQUIRE(f.released.size() == 1u);
        BOOST_TEST((f.released[0].first == errc::store_unavailable));
        BOOST_TEST(f.all.calls.size() == before);
    }
}

BOOST_AUTO_TEST_CASE(renewal_is_retried_for_a_quarter_of_its_lease)
{
    for (const bool in_time : {true, false}) {
        cluster_fixture f("redisson");
        const std::string name = name_in(0);
        f.acquire(name);
        int refusals = in_time ? 3 : 1'000'000;
        f.all.answer = [&](const std::string&, const words& asked) {
            return refusals-- > 0 ? std::optional<std::string>("-TRYAGAIN\r\n")
                                  : cluster_fixture::usual(asked);
        };
        std::optional<std::pair<error_code, renew_reply>> renewed;
        const renewal one[] = {{name, "client:1", 8s}};
        f.call([&] {
            f.made->async_renew(one, [&](error_code code, renew_reply reply) {
                renewed.emplace(code, std::move(reply));
            });
        });
        f.advance(1900ms);
        if (in_time) {
            BOOST_TEST_REQUIRE(renewed.has_value());
            BOOST_TEST(
                (!renewed->first && renewed->second.results.at(0) == renewal_result::renewed));
            continue;
        }
        BOOST_TEST(!renewed.has_value());
        f.advance(600ms);
        BOOST_TEST_REQUIRE(renewed.has_value());
        BOOST_TEST((renewed->first == errc::store_refused));
    }
}

BOOST_AUTO_TEST_CASE(lost_node_is_reported_and_others_serve)
{
    cluster_fixture f("redisson");
    f.acquire(name_in(0));
    f.acquire(name_in(5461));
    f.call([&] { f.all.used.front()->end(); });
    BOOST_TEST_REQUIRE(f.lost.size() == 1u);
    const store_partition a = f.lost[0].first;
    BOOST_TEST(a == f.made->partition_of(name_in(0)));
    BOOST_TEST(a != f.made->partition_of(name_in(5461)));
    BOOST_TEST((f.lost[0].second == errc::store_unavailable));
    f.acquire(name_in(5461), "client:2");
    BOOST_TEST((!f.acquired.back().first));
    BOOST_TEST(f.all.calls.back().first == "b");
    f.advance(2s);
    f.acquire(name_in(0), "client:2");
    BOOST_TEST((!f.acquired.back().first));
    BOOST_TEST(f.all.calls.back().first == "a");
}

BOOST_AUTO_TEST_CASE(message_without_owner_or_name_is_no_grant)
{
    cluster_fixture f("native");
    f.all.answer = &cluster_fixture::all_wait;
    std::string channel;
    native_keys().grants_in(0, "client", channel);
    f.acquire(name_in(0));
    const auto to = f.all.subscribed.back().first;
    f.push(to, {"ssubscribe", channel, "1"});
    f.grants.clear();
    for (const std::string_view text : {"lh:client:7", "client:7 a", " a", "", "lh: "})
        f.push(to, {"smessage", channel, text});
    BOOST_TEST(f.grants.empty());
    f.push(to, {"smessage", channel, "lh:client:7 a b"});
    BOOST_TEST_REQUIRE(f.grants.size() == 1u);
    BOOST_TEST(f.grants[0] == "a b client:7");
}

BOOST_AUTO_TEST_CASE(moved_slot_is_requested_at_its_new_node_at_once)
{
    cluster_fixture f("redisson");
    f.acquire(name_in(0));
    f.acquire(name_in(5461));
    f.all.map = {{0, 0, "b"}, {1, 5460, "a"}, {5461, 10922, "b"}, {10923, 16383, "c"}};
    f.all.answer = [&](const std::string& host, const words& asked) {
        return host == "a" ? std::optional<std::string>("-MOVED 0 b:7000\r\n")
                           : cluster_fixture::usual(asked);
    };
    for (const bool known : {false, true}) {
        const std::size_t before = f.all.calls.size();
        f.acquire(name_in(0), "client:2");
        BOOST_TEST((!f.acquired.back().first));
        BOOST_TEST_REQUIRE(f.all.calls.size() == before + (known ? 1 : 2));
        if (!known)
            BOOST_TEST(f.all.calls[before].first == "a");
        BOOST_TEST(f.all.calls.back().first == "b");
    }
    BOOST_TEST(f.acquired.size() == 4u);
    BOOST_TEST(f.lost.empty());
}

// Two nodes that redirect to each other agree once the slot has moved for good.
BOOST_AUTO_TEST_CASE(nodes_that_redirect_to_each_other_are_asked_with_pauses)
{
    for (const std::string& kind : {"-MOVED"s, "-ASK"s}) {
        cluster_fixture f("redisson");
        f.acquire(name_in(0));
        f.acquire(name_in(5461));
        f.all.answer = [&](const std::string& host, const words&) {
            return std::optional(kind + (host == "a" ? " 0 b:7000\r\n" : " 0 a:7000\r\n"));
        };
        const std::size_t before = f.all.calls.size();
        f.acquire(name_in(0), "client:2");
        // Three repetitions at once, after the first request.
        BOOST_TEST(f.all.calls.size() == before + 4);
        f.advance(1s);
        BOOST_TEST(f.all.calls.size() > before + 4 + 1000 / 50 - 1);
        BOOST_TEST(f.all.calls.size() < before + 4 + 1000 / 20 + 1);
        BOOST_TEST(f.acquired.size() == 2u);
        f.advance(5s);
        BOOST_TEST_REQUIRE(f.acquired.size() == 3u);
        BOOST_TEST((f.acquired[2].first == errc::store_refused));
        const std::size_t last = f.all.calls.size();
        f.advance(1s);
        BOOST_TEST(f.all.calls.size() == last);
    }
}

BOOST_AUTO_TEST_CASE(connecting_node_of_an_ask_survives_a_map_without_it)
{
    cluster_fixture f("redisson");
    f.acquire(name_in(0));
    f.acquire(name_in(5461));
    f.all.silent = {"d"}; // the connection is not ready
    f.all.answer = [](const std::string& host, const words& asked) {
        if (host == "a")
            return std::optional<std::string>("-ASK 0 d:7000\r\n");
        return host == "b" ? std::optional<std::string>("-CLUSTERDOWN down\r\n")
                           : cluster_fixture::usual(asked);
    };
    f.acquire(name_in(0), "client:2");
    const auto made = f.all.wires;
    const auto of_d = std::find_if(made.begin(), made.end(),
                                   [](const auto& each) { return each->host == "d"; });
    BOOST_TEST_REQUIRE((of_d != made.end()));
    const auto maps = [&] {
        return std::count_if(f.all.wires.begin(), f.all.wires.end(),
                             [](const auto& each) { return each->asked_for_map; });
    };
    const auto before = maps();
    f.acquire(name_in(5461), "client:3"); // the map is requested
    f.advance(1500ms);
    BOOST_TEST_REQUIRE(maps() > before);
    BOOST_TEST(!(*of_d)->ended);
    BOOST_TEST(f.acquired.size() == 2u);
}

BOOST_AUTO_TEST_CASE(address_in_a_redirection_is_translated_by_the_address_map)
{
    for (const std::string& kind : {"-MOVED"s, "-ASK"s}) {
        redis_config settings("redis+cluster://a:7000?layout=redisson");
        settings.address_map = {{{"10.0.0.4", 7000}, {"d", 9000}}};
        cluster_fixture f(settings);
        f.acquire(name_in(0));
        f.all.answer = [&](const std::string& host, const words& asked) {
            return host == "a" ? std::optional(kind + " 0 10.0.0.4:7000\r\n")
                               : cluster_fixture::usual(asked);
        };
        f.acquire(name_in(0), "client:2");
        BOOST_TEST(f.all.calls.back().first == "d");
        BOOST_TEST((!f.acquired.back().first));
    }
}

BOOST_AUTO_TEST_CASE(requests_to_a_silent_node_end_at_their_limits)
{
    for (const char* const layout : {"redisson", "native"}) {
        cluster_fixture f(layout);
        f.acquire(name_in(5461));
        f.all.silent = {"a"};
        f.acquire(name_in(0), "client:2"); // the budget is five seconds
        f.advance(1s);
        f.release(name_in(0));
        std::optional<error_code> renewed;
        f.call([&] {
            const std::string name = name_in(1);
            const renewal one[] = {{name, "client:3", 8s}};
            f.made->async_renew(one, [&](error_code code, const renew_reply&) { renewed = code; });
        });
        f.advance(1990ms);
        BOOST_TEST(!renewed.has_value());
        f.advance(20ms);
        BOOST_TEST_REQUIRE(renewed.has_value());
        BOOST_TEST((*renewed == errc::store_unavailable));
        f.advance(1970ms);
        BOOST_TEST(f.acquired.size() == 1u);
        f.advance(40ms);
        BOOST_TEST_REQUIRE(f.acquired.size() == 2u);
        BOOST_TEST((!f.acquired[1].first || f.acquired[1].first == errc::store_unavailable));
        BOOST_TEST((f.acquired[1].second.result != acquire_reply::outcome::granted));
        f.advance(1s);
        BOOST_TEST_REQUIRE(f.released.size() == 1u);
        BOOST_TEST((f.released[0].first == errc::store_unavailable));
    }
}

BOOST_AUTO_TEST_CASE(request_after_the_close_to_an_unused_node_is_rejected)
{
    for (const char* const layout : {"redisson", "native"}) {
        cluster_fixture f(layout);
        f.acquire(name_in(0));
        f.call([&] { f.made->close(); });
        const std::size_t before = f.all.wires.size();
        f.acquire(name_in(5461), "client:2");
        f.release(name_in(10923));
        std::optional<error_code> renewed;
        f.call([&] {
            const std::string name = name_in(5462);
            const renewal one[] = {{name, "client:3", 8s}};
            f.made->async_renew(one, [&](error_code code, const renew_reply&) { renewed = code; });
        });
        BOOST_TEST_REQUIRE(f.acquired.size() == 2u);
        BOOST_TEST((f.acquired[1].first == errc::store_unavailable));
        BOOST_TEST_REQUIRE(f.released.size() == 1u);
        BOOST_TEST((f.released[0].first == errc::store_unavailable));
        BOOST_TEST_REQUIRE(renewed.has_value());
        BOOST_TEST((*renewed == errc::store_unavailable));
        BOOST_TEST(f.all.wires.size() == before);
        BOOST_TEST((f.time.wake_at() == clock::time_point::max()));
    }
}

BOOST_AUTO_TEST_CASE(unconfirmed_subscription_is_repeated_after_two_seconds)
{
    cluster_fixture f("redisson");
    f.acquire(name_in(0));
    std::string channel;
    release_channel(name_in(0), channel);
    f.call([&] { f.made->watch(name_in(0)); });
    const auto asked = [&] {
        const auto all = f.channels();
        return std::count(all.begin(), all.end(), "a SSUBSCRIBE " + channel);
    };
    BOOST_TEST(asked() == 1);
    f.advance(1990ms);
    BOOST_TEST(asked() == 1);
    f.advance(20ms);
    BOOST_TEST(asked() == 2);
    f.push(f.all.subscribed.back().first, {"ssubscribe", channel, "1"});
    f.advance(10s);
    BOOST_TEST(asked() == 2);
    BOOST_TEST(f.wakeups.size() == 1u);
}

BOOST_AUTO_TEST_CASE(new_connection_restores_the_subscription)
{
    for (const char* const layout : {"redisson", "native"}) {
        cluster_fixture f(layout);
        f.all.answer = [&](const std::string& host, const words& asked) {
            return cluster_fixture::all_wait(host, asked);
        };
        f.acquire(name_in(0));
        f.call([&] { f.made->watch(name_in(0)); });
        BOOST_TEST_REQUIRE(!f.all.subscribed.empty());
        const auto [to, asked] = f.all.subscribed.back();
        f.push(to, {"ssubscribe", asked.at(1), "1"});
        const std::size_t before = f.channels().size();
        f.call([&, from = to] { from->end(); });
        f.advance(1500ms);
        BOOST_TEST_REQUIRE(f.channels().size() == before + 1);
        BOOST_TEST((f.all.subscribed.back().second == asked));
    }
}

// A new connection does not subscribe if no waiter needs the channel.
BOOST_AUTO_TEST_CASE(unsubscribed_channel_can_be_subscribed_again)
{
    cluster_fixture f("redisson");
    const std::string name = name_in(0);
    std::string channel;
    release_channel(name, channel);
    const auto times = [](const cluster_fixture& of, const std::string& text) {
        const auto texts = of.channels();
        return std::count(texts.begin(), texts.end(), text);
    };
    for (int i = 1; i <= 3; ++i) {
        f.call([&] { f.made->watch(name); });
        BOOST_TEST(times(f, "a SSUBSCRIBE " + channel) == i);
        f.call([&] { f.made->unwatch(name); });
        BOOST_TEST(times(f, "a SUNSUBSCRIBE " + channel) == i);
    }
    const auto to = f.all.subscribed.back().first;
    f.call([&] { f.made->watch(name_in(1)); }); // which keeps the connection in use
    f.call([&] { to->end(); });
    f.advance(5s);
    BOOST_TEST(times(f, "a SSUBSCRIBE " + channel) == 3);

    cluster_fixture grants("native");
    grants.all.answer = &cluster_fixture::all_wait;
    native_keys().grants_in(0, "client", channel);
    for (int i = 1; i <= 3; ++i) {
        grants.acquire(name);
        BOOST_TEST(times(grants, "a SSUBSCRIBE " + channel) >= i);
        grants.push(grants.all.subscribed.back().first, {"ssubscribe", channel, "1"});
        grants.advance(31s);
        BOOST_TEST(times(grants, "a SUNSUBSCRIBE " + channel) == i);
    }
}

BOOST_AUTO_TEST_CASE(reconnected_node_is_reported_as_connected)
{
    cluster_fixture f("redisson");
    f.acquire(name_in(0));
    const store_partition a = f.made->partition_of(name_in(0));
    const auto times = [&] { return std::count(f.connected.begin(), f.connected.end(), a); };
    const auto before = times();
    for (int i = 1; i <= 2; ++i) {
        f.call([&] { f.all.used.front()->end(); });
        BOOST_TEST(f.lost.size() == static_cast<std::size_t>(i));
        BOOST_TEST(times() == before + i - 1);
        f.advance(2s);
        BOOST_TEST(times() == before + i);
    }
}

// The target may not be in any map yet, and may not be for another second.
BOOST_AUTO_TEST_CASE(target_of_a_redirection_keeps_its_connection)
{
    cluster_fixture f("redisson");
    f.acquire(name_in(0));
    f.all.answer = [](const std::string& host, const words& asked) {
        return host == "a" ? std::optional<std::string>("-MOVED 0 d:7000\r\n")
                           : cluster_fixture::usual(asked);
    };
    for (int i = 0; i < 3; ++i) {
        f.acquire(name_in(0), "client:2");
        BOOST_TEST((!f.acquired.back().first));
        BOOST_TEST(f.all.calls.back().first == "d");
    }
    const auto made = f.all.used.back();
    BOOST_TEST(!made->ended);
    BOOST_TEST((f.all.used.at(f.all.used.size() - 2) == made));
    // A node that no longer serves any slot is closed.
    const store_partition d = f.made->partition_of(name_in(0));
    f.all.answer = [](const std::string&, const words& asked) {
        return cluster_fixture::usual(asked);
    };
    f.advance(2s);
    BOOST_TEST(f.made->partition_of(name_in(0)) != d);
    BOOST_TEST(made->ended);
    const auto times = std::count(f.connected.begin(), f.connected.end(), d);
    f.advance(10s);
    BOOST_TEST(std::count(f.connected.begin(), f.connected.end(), d) == times);
    // However often the map is requested.
    for (int i = 0; i < 3; ++i) {
        f.acquire(name_in(0), "client:3");
        const auto lost = f.lost.size();
        f.call([&] { f.all.used.back()->end(); });
        BOOST_TEST(f.lost.size() == lost + 1);
        f.advance(3s);
        BOOST_TEST(std::count(f.connected.begin(), f.connected.end(), d) == times);
    }
}

BOOST_AUTO_TEST_CASE(partition_is_named_by_its_node_or_by_the_cluster)
{
    cluster_fixture f("redisson");
    f.acquire(name_in(0));
    std::vector<std::string> names;
    for (store_partition each = 0; each < 8; ++each)
        names.push_back(f.made->server_of(each));
    std::sort(names.begin(), names.end());
    BOOST_TEST(std::count(names.begin(), names.end(), "the cluster of a:7000") == 5);
    for (const char* const host : {"a:7000", "b:7000", "c:7000"})
        BOOST_TEST(std::count(names.begin(), names.end(), host) == 1);
}

// Otherwise the lock would be kept for an owner that does not know of its grant.
BOOST_AUTO_TEST_CASE(waiter_without_a_subscription_gets_a_longer_claim)
{
    cluster_fixture f("native");
    f.all.answer = &cluster_fixture::all_wait;
    f.acquire(name_in(0));
    const auto [to, asked] = f.all.subscribed.back();
    f.acquire(name_in(0), "client:2");
    BOOST_TEST(f.all.calls.back().second.at(listens) == "0");
    f.push(to, {"ssubscribe", asked.at(1), "1"});
    f.acquire(name_in(0), "client:3");
    BOOST_TEST(f.all.calls.back().second.at(listens) == "1");
    f.push(to, {"sunsubscribe", asked.at(1), "0"});
    f.acquire(name_in(0), "client:4");
    BOOST_TEST(f.all.calls.back().second.at(listens) == "0");
}

// For one command. Without ASKING, the node would redirect to the current node of the slot.
BOOST_AUTO_TEST_CASE(request_for_a_migrating_slot_is_repeated_at_the_target)
{
    for (const char* const layout : {"redisson", "native"}) {
        cluster_fixture f(layout);
        f.acquire(name_in(0));
        f.acquire(name_in(5461));
        f.all.answer = [&](const std::string& host, const words& asked) {
            if (host == "a")
                return std::optional<std::string>("-ASK 0 b:7000\r\n");
            if (!f.all.used.back()->asking)
                return std::optional<std::string>("-MOVED 0 a:7000\r\n");
            if (asked[1] != of_native().acquire.sha)
                return cluster_fixture::usual(asked);
            const auto later = static_cast<std::int64_t>(1000 * f.all.calls.size()); // fences rise
            return std::optional(numbers({1, 4'000'000'000'000'000 + later, 0, 1, server_time}));
        };
        const auto asked_at_both = [&](auto ask) {
            const std::size_t before = f.all.calls.size();
            ask();
            BOOST_TEST_REQUIRE(f.all.calls.size() == before + 2);
            BOOST_TEST(f.all.calls[before].first == "a");
            BOOST_TEST(f.all.calls[before + 1].first == "b");
        };
        for (int i = 0; i < 2; ++i) { // the request is sent to the current node first, each time
            asked_at_both([&] { f.acquire(name_in(0), "client:2"); });
            BOOST_TEST((!f.acquired.back().first));
            asked_at_both([&] { f.release(name_in(0)); });
            BOOST_TEST((!f.released.back().first));
            std::optional<error_code> renewed;
            asked_at_both([&] {
                f.call([&] {
                    const std::string name = name_in(0);
                    const renewal one[] = {{name, "client:3", 8s}};
                    f.made->async_renew(
                        one, [&](error_code code, const renew_reply&) { renewed = code; });
                });
            });
            BOOST_TEST((renewed == error_code()));
        }
        BOOST_TEST(f.acquired.size() == 4u);
        BOOST_TEST(f.lost.empty());
    }
}

namespace {

/// The renewal of a lock whose slot migrates from "a" to "b". "b" does not have the lock.
/// @param at_source The answers of "a" to the fast path and to the slow path.
/// @returns The result, if it comes within a second.
std::optional<renewal_result> renewed_at_migration(cluster_fixture& f,
                                                   const std::array<std::string, 2>& at_source)
{
    f.acquire(name_in(0));
    f.acquire(name_in(5461));
    f.all.answer = [at_source](const std::string& host, const words& asked) {
        const bool brief = asked[1] == of_native().renew_brief.sha;
        return std::optional(host == "b" ? numbers({0}) : at_source[brief ? 0 : 1]);
    };
    std::optional<renewal_result> result;
    const std::string name = name_in(0);
    const renewal one[] = {{name, "client:1", 8s}};
    f.call([&] {
        f.made->async_renew(one, [&](error_code code, const renew_reply& reply) {
            result = code ? renewal_result::failed : reply.results.at(0);
        });
    });
    f.advance(1s);
    const auto told = result;
    f.advance(2s); // its limit: the handler refers to this call
    return told;
}

const std::string ask = "-ASK 0 b:7000\r\n";

} // namespace

BOOST_AUTO_TEST_CASE(lock_missing_at_both_nodes_of_its_migrating_slot_is_gone)
{
    cluster_fixture f("native");
    BOOST_TEST((renewed_at_migration(f, {ask, ask}) == renewal_result::gone));
}

// Older servers redirect also a command for keys of which they have a part.
BOOST_AUTO_TEST_CASE(lock_whose_entries_have_migrated_before_it_is_not_gone)
{
    cluster_fixture f("native");
    const std::string has_entries = numbers({2});
    BOOST_TEST(!renewed_at_migration(f, {has_entries, ask}).has_value());
    BOOST_TEST(f.all.calls.back().first == "a");
}

// An error on this connection does not answer a command. A channel on another node is no reason to
// reconnect.
BOOST_AUTO_TEST_CASE(error_on_the_notification_connection_is_handled_by_its_kind)
{
    struct
    {
        std::string_view text;
        std::string_view next; ///< The node that gets the subscription next.
        bool again;            ///< Whether the connection is made again, after a while.
    } const rows[] = {{"-MOVED 0 b:7000\r\n", "b", false},
                      {"-TRYAGAIN x\r\n", "a", false},
                      {"-CLUSTERDOWN x\r\n", "a", false},
                      {"-NOPERM no channels\r\n", "a", true}};
    for (const auto& each : rows)
        BOOST_TEST_CONTEXT(each.text)
        {
            cluster_fixture f("redisson");
            f.acquire(name_in(0));
            std::string channel;
            release_channel(name_in(0), channel);
            f.call([&] { f.made->watch(name_in(0)); });
            const auto to = f.all.subscribed.back().first;
            const std::size_t before = f.all.subscribed.size();
            BOOST_TEST(to->runs == 1);
            if (each.next == "b")
                f.all.map = {{0, 0, "b"}, {1, 5460, "a"}, {5461, 10922, "b"}, {10923, 16383, "c"}};
            f.push(to, each.text);
            f.advance(1900ms); // before the subscription is repeated anyway
            // A connection without channels is closed.
            BOOST_TEST(to->ended == (each.again || each.next == "b"));
            if (each.next != "b") {
                BOOST_TEST(f.all.subscribed.size() == before);
                f.advance(each.again ? clock::duration(2min) : clock::duration(200ms));
            }
            BOOST_TEST((to->runs > 1) == each.again);
            BOOST_TEST_REQUIRE(f.all.subscribed.size() > before);
            const auto& [there, asked] = f.all.subscribed.back();
            BOOST_TEST(there->host == each.next);
            BOOST_TEST((asked == words{"SSUBSCRIBE", channel}));
            // A client without the right to subscribe does not know whether others do.
            f.release(name_in(1));
            BOOST_TEST_REQUIRE(f.released.size() == 1u);
            BOOST_TEST(f.released[0].second.receivers_known == !each.again);
        }
}

BOOST_AUTO_TEST_CASE(cluster_without_a_map_is_reported_once)
{
    cluster_fixture f("redisson");
    f.call([&] { f.made->close(); });
    f.lost.clear();
    f.all.instead["CLUSTER"] = "-ERR This instance has cluster support disabled\r\n";
    f.made = make_store(redis_config("redis+cluster://a:7000"), f.environment());
    f.call([&] { f.made->open(f.strand, f); });
    f.advance(1s);
    BOOST_TEST_REQUIRE(f.lost.size() == 1u); // and not with each attempt
    BOOST_TEST(f.lost[0].first == 0u);
    f.acquire(name_in(0));
    f.advance(6s);
    BOOST_TEST_REQUIRE(f.acquired.size() == 1u);
    BOOST_TEST((f.acquired[0].first));
}

BOOST_AUTO_TEST_CASE(map_of_a_failed_node_is_ignored)
{
    for (const bool all : {false, true}) {
        cluster_fixture f("redisson");
        f.call([&] { f.made->close(); });
        f.connected.clear();
        f.lost.clear();
        f.all.wires.clear();
        f.all.down = all ? std::set<std::string>{"a", "b"} : std::set<std::string>{"a"};
        f.open(redis_config("redis+cluster://a:7000,b:7000?layout=redisson"));
        for (const auto& each : f.all.wires)
            BOOST_TEST(each->asked_for_map == (each->host == "b" && !all));
        BOOST_TEST(f.connected.empty() == all);
        BOOST_TEST(f.lost.size() == (all ? 1u : 0u));
        if (all)
            BOOST_TEST(f.errors.at(0).second == "CLUSTERDOWN the node reports cluster_state:fail");
    }
}

BOOST_AUTO_TEST_CASE(missing_map_is_explained_by_the_error_of_a_node)
{
    // Before the node that reports the error, and after it.
    for (const char* const silent : {"a", "b"}) {
        cluster_fixture f("redisson");
        f.call([&] { f.made->close(); });
        f.lost.clear();
        f.all.silent = {silent};
        f.all.instead["CLUSTER"] = "-NOPERM no CLUSTER for this user\r\n";
        f.open(redis_config("redis+cluster://a:7000,b:7000?layout=redisson"));
        f.advance(2500ms);
        BOOST_TEST_REQUIRE(f.lost.size() == 1u);
        BOOST_TEST((f.lost[0].second == errc::permission_denied));
        BOOST_TEST_REQUIRE(f.errors.size() == 1u);
        BOOST_TEST(f.errors[0].second == "NOPERM no CLUSTER for this user");
    }
}

BOOST_AUTO_TEST_CASE(client_record_is_not_read_after_the_close)
{
    cluster_fixture f("redisson");
    f.acquire(name_in(0));
    f.call([&] { f.made->close(); });
    const std::size_t before = f.all.wires.size();
    std::optional<client_info> told;
    f.call([&] {
        for (int i = 0; i < 40; ++i) // in various slots
            f.made->async_describe("client" + std::to_string(i),
                                   [&](const client_info& said) { told = said; });
    });
    BOOST_TEST_REQUIRE(told.has_value());
    BOOST_TEST(told->host == "");
    BOOST_TEST(f.all.wires.size() == before);
}

// A connection is made a moment after the request. The store may have been closed by then.
BOOST_AUTO_TEST_CASE(no_connection_is_made_after_the_close)
{
    for (const char* const layout : {"redisson", "native"}) {
        cluster_fixture f(layout);
        const auto runs = [&] {
            int all = 0;
            for (const auto& each : f.all.wires)
                all += each->runs;
            return all;
        };
        const int before = runs();
        f.call([&] {
            f.made->async_acquire({.name = "lock",
                                   .owner = "client:1",
                                   .entry = {},
                                   .lease = 10s,
                                   .fences = 1,
                                   .budget = 5s},
                                  [](error_code, acquire_reply) {});
            f.made->close();
        });
        f.advance(30s);
        BOOST_TEST(runs() == before);
    }
}

// The record is not written with each request, but to the node of its key.
BOOST_AUTO_TEST_CASE(client_record_is_written_again_after_a_third_of_its_ttl)
{
    const std::string client = "0000000a-1111-1111-1111-111111111111";
    const std::string key = "leasehold:client:0000000a";
    for (const char* const layout : {"redisson", "native"}) {
        cluster_fixture f(layout, {.host = "machine"});
        const auto written = [&] {
            return std::count_if(f.all.calls.begin(), f.all.calls.end(), [&](const auto& each) {
                return each.second[0] == "HSET" && each.second[1] == key;
            });
        };
        // If the node of the key was not connected, it is determined again.
        for (int i = 0; i < 20; ++i) {
            f.acquire(name_in(0), client + ":1");
            f.advance(1s);
        }
        BOOST_TEST(written() == 1);
        const auto slot = slot_of(key);
        for (const auto& [host, asked] : f.all.calls)
            if (asked[0] == "HSET")
                BOOST_TEST(
                    host ==
                    std::find_if(f.all.map.begin(), f.all.map.end(), [&](const served& each) {
                        return slot >= each.first && slot <= each.last;
                    })->host);
        f.advance(200s);
        f.acquire(name_in(0), client + ":2");
        f.acquire(name_in(0), client + ":3");
        BOOST_TEST(written() == 2);
    }
}

// The acquire would be executed after its own release.
BOOST_AUTO_TEST_CASE(acquire_released_meanwhile_is_not_redirected)
{
    for (const char* const text : {"-MOVED 0 b:7000\r\n", "-ASK 0 b:7000\r\n", "-TRYAGAIN x\r\n"}) {
        cluster_fixture f("redisson");
        f.acquire(name_in(0), "client:9");
        f.acquire(name_in(5461), "client:9");
        f.all.answer = [&](const std::string& host, const words& asked) {
            return host == "a" && asked[1] == acquire_script().sha
                       ? std::optional<std::string>(text)
                       : cluster_fixture::usual(asked);
        };
        const std::size_t before = f.all.calls.size();
        const std::string name = name_in(0);
        f.call([&] {
            f.made->async_acquire(
                {.name = name, .owner = "client:1", .entry = {}, .lease = 10s, .budget = 5s},
                [&](error_code code, acquire_reply reply) {
                    f.acquired.emplace_back(code, std::move(reply));
                });
            f.made->async_release({.name = name, .owner = "client:1", .entry = {}},
                                  [&](error_code code, release_reply reply) {
                                      f.released.emplace_back(code, std::move(reply));
                                  });
        });
        f.advance(1s);
        BOOST_TEST_REQUIRE(f.acquired.size() == 3u);
        BOOST_TEST((f.acquired[2].first == errc::store_refused));
        BOOST_TEST_REQUIRE(f.released.size() == 1u);
        BOOST_TEST((!f.released[0].first));
        const auto asked = std::count_if(
            f.all.calls.begin() + static_cast<std::ptrdiff_t>(before), f.all.calls.end(),
            [](const auto& each) { return each.second.at(1) == acquire_script().sha; });
        BOOST_TEST(asked == 1);
    }
}

BOOST_AUTO_TEST_CASE(pausing_request_survives_the_connection_of_its_node)
{
    cluster_fixture f("redisson");
    f.acquire(name_in(0));
    f.all.answer = [](const std::string&, const words&) {
        return std::optional<std::string>("-TRYAGAIN x\r\n");
    };
    f.acquire(name_in(0), "client:2");
    f.call([&] { f.all.used.front()->end(); });
    BOOST_TEST(f.lost.size() == 1u);
    // The next attempt may find the node connected, or another one.
    BOOST_TEST(f.acquired.size() == 1u);
    f.advance(60ms);
    BOOST_TEST_REQUIRE(f.acquired.size() == 2u);
    BOOST_TEST((f.acquired[1].first));
}

BOOST_AUTO_TEST_SUITE_END()
