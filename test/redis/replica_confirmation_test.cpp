// Confirmation of a lock by replicas, over a server that the test simulates: its requests, and the
// meaning of its replies.
#include <boost/test/unit_test.hpp>

#include "redis/commands/presence.hpp"
#include "redis/make_store.hpp"
#include "redis/protocol/slot.hpp"
#include "redis/resp_text.hpp"
#include "redis/scripted_masters.hpp"

#include <leasehold/error.hpp>
#include <leasehold/store.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
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
using test::numbers;
using test::words;

constexpr std::int64_t server_time = 1'700'000'000'000'000;

struct confirmation_fixture : test::masters_fixture, store_listener
{
    explicit confirmation_fixture(std::string_view kind = "redis://", std::string_view more = "")
    {
        if (kind != "redis://")
            all.map = {{0, 5460, "a"}, {5461, 16383, "b"}};
        all.answer = [this](const std::string&, const words& asked) { return answer(asked); };
        made = make_store(
            redis_config(std::string(kind) + "a:7000?layout=redisson" + std::string(more)),
            environment());
        call([&] { made->open(strand, *this); });
        poll();
    }
    ~confirmation_fixture()
    {
        call([&] { made->close(); });
        end_all();
    }

    std::optional<std::string> answer(const words& asked)
    {
        if (asked[0] == "SET")
            return marker;
        if (asked[0] == "WAIT") {
            ++waits;
            if (at_wait)
                at_wait();
            return asked[1] == unanswered ? std::nullopt : waited;
        }
        if (asked[0] == "HEXISTS")
            return there;
        if (asked[1] == acquire_script().sha)
            return numbers({1, 7, 1, server_time});
        if (asked[1] == release_script().sha)
            return ":0\r\n";
        if (asked[1] == of_queue().leave.sha)
            return numbers({1, 0, 0, 0, 0, server_time});
        if (renews > 0) {
            --renews;
            return numbers({1});
        }
        return "*1\r\n" + there; // the lock is renewed for the confirmation
    }

    void acquire(std::string_view name = "stock", std::uint32_t acks = 2,
                 std::chrono::milliseconds timeout = 100ms)
    {
        call([&] {
            made->async_acquire({.name = name,
                                 .owner = "client:1",
                                 .entry = {},
                                 .lease = 10s,
                                 .fences = 1,
                                 .budget = 5s,
                                 .replica_acks = acks,
                                 .replica_timeout = timeout},
                                [&](error_code code, acquire_reply reply) {
                                    acquired.emplace_back(code, std::move(reply));
                                });
        });
    }

    void renew(std::string_view entry)
    {
        ++renews;
        call([&] {
            const renewal one[] = {{.name = "stock",
                                    .owner = "client:1",
                                    .lease = 10s,
                                    .entry = entry,
                                    .replica_acks = 2,
                                    .replica_timeout = 100ms}};
            made->async_renew(one, [&](error_code code, renew_reply reply) {
                BOOST_TEST(!code);
                renewed.push_back(std::move(reply));
            });
        });
    }

    /// Within a call.
    void release(std::string_view owner, std::string_view entry)
    {
        made->async_release({.name = "stock", .owner = owner, .entry = entry},
                            [&](error_code code, const release_reply&) {
                                BOOST_TEST(!code);
                                ++released;
                            });
    }

    /// The total number of connections made.
    [[nodiscard]] int runs() const
    {
        int all_runs = 0;
        for (const auto& each : all.wires)
            all_runs += each->runs;
        return all_runs;
    }

    void on_wakeup(std::string_view) override {}
    void on_connected(store_partition) override {}
    void on_disconnected(store_partition, error_code why) override { lost.push_back(why); }

    /// For these members, an empty value means no reply.
    std::optional<std::string> marker = "+OK\r\n";
    std::optional<std::string> waited = ":2\r\n";
    std::string unanswered;       ///< WAIT for this number of replicas gets no reply.
    std::string there = ":1\r\n"; ///< The reply when the lock is extended or read.
    std::function<void()> at_wait;
    int waits = 0;
    /// The number of renewals of the store itself. The others belong to confirmations.
    int renews = 0;
    int released = 0;
    std::shared_ptr<store> made;
    std::vector<std::pair<error_code, acquire_reply>> acquired;
    std::vector<renew_reply> renewed;
    std::vector<error_code> lost;
};

const std::string_view kinds[] = {"redis://", "redis+cluster://"};

} // namespace

BOOST_AUTO_TEST_SUITE(confirmation_by_replicas)

BOOST_AUTO_TEST_CASE(lock_is_confirmed_by_the_requested_number_of_replicas)
{
    for (const std::string_view kind : kinds) {
        for (const int confirmed : {0, 1, 2, 3}) {
            confirmation_fixture f(kind);
            f.waited = ':' + std::to_string(confirmed) + "\r\n";
            f.acquire();
            f.renew("");
            BOOST_TEST_REQUIRE(f.acquired.size() == 1u);
            BOOST_TEST_REQUIRE(f.renewed.size() == 1u);
            const auto& [code, reply] = f.acquired[0];
            BOOST_TEST(f.lost.empty());
            if (confirmed >= 2) {
                BOOST_TEST((!code && reply.result == acquire_reply::outcome::granted));
                BOOST_TEST(reply.first_fence == 7u);
                BOOST_TEST((f.renewed[0].results.at(0) == renewal_result::renewed));
                continue;
            }
            BOOST_TEST((code == errc::not_replicated));
            BOOST_TEST(reply.may_hold);
            BOOST_TEST((f.renewed[0].results.at(0) == renewal_result::unconfirmed));
            for (const auto& details : {reply.details, f.renewed[0].details}) {
                BOOST_TEST_REQUIRE((details != nullptr));
                BOOST_TEST(details->server == "a:7000");
                BOOST_TEST(details->key == "stock");
                BOOST_TEST(details->server_message ==
                           std::to_string(confirmed) + " of 2 replicas confirmed within 100 ms");
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(rejected_confirmation_reports_the_message_of_the_server)
{
    const std::string no_room = "OOM command not allowed", no_right = "NOPERM no WAIT";
    for (const std::string_view kind : kinds) {
        for (const bool first : {false, true}) {
            for (const bool second : {false, true}) {
                confirmation_fixture f(kind);
                if (first)
                    f.marker = '-' + no_room + "\r\n";
                if (second)
                    f.waited = '-' + no_right + "\r\n";
                f.acquire();
                BOOST_TEST_REQUIRE(f.acquired.size() == 1u);
                const auto& [code, reply] = f.acquired[0];
                BOOST_TEST(f.lost.empty());
                if (!first && !second) {
                    BOOST_TEST(!code);
                    continue;
                }
                BOOST_TEST((code == errc::not_replicated));
                BOOST_TEST_REQUIRE((reply.details != nullptr));
                BOOST_TEST(reply.details->server_message == (first ? no_room : no_right));
            }
        }
    }
}

// Another server has taken over, or the server of this connection was disconnected from the others.
BOOST_AUTO_TEST_CASE(missing_lock_is_unconfirmed_and_both_connections_restart)
{
    confirmation_fixture f;
    f.there = ":0\r\n";
    f.acquire();
    BOOST_TEST_REQUIRE(f.acquired.size() == 1u);
    BOOST_TEST((f.acquired[0].first == errc::not_replicated));
    BOOST_TEST(f.acquired[0].second.details->server_message ==
               "the server that names the replicas does not have the lock");
    BOOST_TEST_REQUIRE(f.lost.size() == 1u);
    BOOST_TEST((f.lost[0] == errc::store_refused));
}

// A node that has just joined has no slot until the first one has moved to it. The source may have
// its own marker in that slot, and two nodes must not have the same key.
BOOST_AUTO_TEST_CASE(new_node_confirms_the_locks_of_its_first_slot)
{
    confirmation_fixture f("redis+cluster://");
    const std::string slot = std::to_string(slot_of("stock"));
    f.all.answer = [&](const std::string& host, const words& asked) {
        if (host != "c")
            return std::optional("-ASK " + slot + " c:7000\r\n");
        if (asked[0] != "WAIT" && !f.all.used.back()->asking)
            return std::optional("-MOVED " + slot + " a:7000\r\n");
        return f.answer(asked);
    };
    std::vector<std::string> markers;
    const auto answer = f.all.answer;
    f.all.answer = [&](const std::string& host, const words& asked) {
        if (asked[0] == "SET")
            markers.push_back(asked[1]);
        return answer(host, asked);
    };
    f.acquire();
    f.acquire();
    BOOST_TEST_REQUIRE(f.acquired.size() == 2u);
    BOOST_TEST(!f.acquired[0].first);
    BOOST_TEST(!f.acquired[1].first);
    BOOST_TEST(f.waits == 2);
    BOOST_TEST_REQUIRE(markers.size() == 2u);
    BOOST_TEST(markers[0] != markers[1]);
    for (const std::string& each : markers)
        BOOST_TEST(slot_of(each) == slot_of("stock"));
}

// If a released lock is missing, that says nothing about the server. If another lock is missing, it
// does.
BOOST_AUTO_TEST_CASE(only_a_released_lock_may_be_missing)
{
    struct
    {
        std::string_view owner, entry;
    } const leaving[] = {{"client:1", "e"}, {"client:2", "e"}, {"client:1", ""},
                         {"client:1", "f"}, {"e", "client:1"}, {"client:2", ""}};
    for (const std::string_view kind : kinds) {
        for (const auto& each : leaving) {
            BOOST_TEST_CONTEXT(kind << ' ' << each.owner << '/' << each.entry)
            {
                confirmation_fixture f(kind);
                f.acquire(); // the lock exists at first
                BOOST_TEST_REQUIRE(f.acquired.size() == 1u);
                const int before = f.runs();
                f.there = ":0\r\n";
                f.at_wait = [&] { f.release(each.owner, each.entry); };
                f.renew("e");
                f.advance(1s);
                const bool itself = each.owner == "client:1" && each.entry == "e";
                BOOST_TEST(f.released == 1);
                BOOST_TEST_REQUIRE(f.renewed.size() == 1u);
                BOOST_TEST((f.renewed[0].results.at(0) == renewal_result::unconfirmed));
                BOOST_TEST((f.runs() == before) == itself);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(later_confirmations_share_the_next_round)
{
    for (const std::string_view kind : kinds) {
        confirmation_fixture f(kind);
        f.waited.reset();
        f.acquire();
        BOOST_TEST(f.waits == 1);
        f.renew("");
        f.renew("e");
        BOOST_TEST(f.waits == 1);
        BOOST_TEST(f.acquired.empty());
        f.waited = ":2\r\n";
        f.advance(30s);
        BOOST_TEST_REQUIRE(f.acquired.size() == 1u);
        BOOST_TEST((f.acquired[0].first == errc::not_replicated));
        BOOST_TEST(f.acquired[0].second.details->server_message ==
                   "the server could not be asked which replicas have the lock");
        BOOST_TEST(f.renewed.size() == 2u);
    }
}

// Otherwise a lease would be lost although all its replicas respond.
BOOST_AUTO_TEST_CASE(unreachable_number_of_replicas_delays_no_other_lock)
{
    for (const std::string_view kind : kinds) {
        confirmation_fixture f(kind);
        f.unanswered = "3";
        f.acquire("more", 3, 4s);
        BOOST_TEST(f.waits == 1);
        f.renew("");
        f.acquire("stock", 1, 4s);
        BOOST_TEST(f.waits == 3);
        BOOST_TEST_REQUIRE(f.renewed.size() == 1u);
        BOOST_TEST((f.renewed[0].results.at(0) == renewal_result::renewed));
        BOOST_TEST_REQUIRE(f.acquired.size() == 1u);
        BOOST_TEST(!f.acquired[0].first);
        f.advance(30s);
        BOOST_TEST_REQUIRE(f.acquired.size() == 2u);
        BOOST_TEST((f.acquired[1].first == errc::not_replicated));
        BOOST_TEST(f.lost.empty());
    }
}

// A server gets only a few connections, for any number of replicas.
BOOST_AUTO_TEST_CASE(each_number_of_replicas_has_a_connection_up_to_16)
{
    confirmation_fixture f;
    const auto commands = f.all.wires.size();
    for (const std::uint32_t acks : {2u, 1u, 3u, 2u, 1u}) {
        f.waited = ':' + std::to_string(acks) + "\r\n";
        f.acquire("stock", acks);
    }
    BOOST_TEST(f.all.wires.size() == commands + 3);
    f.waited = ":1000\r\n";
    for (std::uint32_t acks = 1; acks <= 40; ++acks)
        f.acquire("stock", acks);
    BOOST_TEST(f.all.wires.size() == commands + 16);
    BOOST_TEST(f.acquired.size() == 45u);
    for (const auto& [code, reply] : f.acquired)
        BOOST_TEST(!code);
    // When the connection of the commands ends, all connections are made again.
    const auto before = f.runs();
    f.all.used.front()->end();
    f.advance(30s);
    BOOST_TEST(f.runs() == before + 17);
}

// In addition to the timeout of the replicas.
BOOST_AUTO_TEST_CASE(confirmation_times_out_after_two_health_checks_or_the_timeout)
{
    struct
    {
        std::string_view limits;
        std::chrono::milliseconds patience;
    } const cases[] = {{"&timeout=700&health_check=6000", 700ms},
                       {"&timeout=30000&health_check=6000", 12s}};
    for (const std::string_view kind : kinds) {
        for (const auto& each : cases) {
            confirmation_fixture f(kind, each.limits);
            f.acquire();
            BOOST_TEST_REQUIRE(f.acquired.size() == 1u);
            f.waited.reset();
            const auto commands = f.all.used.front();
            f.renew("");
            f.advance(each.patience + 99ms);
            BOOST_TEST(f.renewed.empty());
            f.advance(2ms);
            BOOST_TEST(f.renewed.size() == 1u);
            BOOST_TEST(!commands->ended); // the connection of the commands still responds
        }
    }
}

BOOST_AUTO_TEST_CASE(locks_with_equal_requirements_share_a_round)
{
    confirmation_fixture f;
    const auto rounds_of = [&](std::uint32_t acks, std::chrono::milliseconds timeout) {
        const int before = f.waits;
        f.call([&] {
            const renewal two[] = {{.name = "one",
                                    .owner = "client:1",
                                    .lease = 10s,
                                    .replica_acks = 1,
                                    .replica_timeout = 100ms},
                                   {.name = "two",
                                    .owner = "client:1",
                                    .lease = 10s,
                                    .replica_acks = acks,
                                    .replica_timeout = timeout}};
            f.renews += 1;
            f.made->async_renew(
                two, [&](error_code, renew_reply reply) { f.renewed.push_back(std::move(reply)); });
        });
        return f.waits - before;
    };
    f.all.answer = [&](const std::string&, const words& asked) {
        const bool of_both = asked[0] == "EVALSHA" && asked[2] == "2";
        return of_both ? std::optional(numbers({1, 1})) : f.answer(asked);
    };
    BOOST_TEST(rounds_of(1, 100ms) == 1);
    BOOST_TEST(rounds_of(2, 100ms) == 2);
    BOOST_TEST(rounds_of(1, 200ms) == 2);
    BOOST_TEST(rounds_of(0, 100ms) == 1); // this lock needs no confirmation
    BOOST_TEST(f.renewed.size() == 4u);
    for (const renew_reply& each : f.renewed)
        BOOST_TEST((each.results == std::vector{renewal_result::renewed, renewal_result::renewed}));
}

BOOST_AUTO_TEST_CASE(lock_of_an_ended_connection_is_not_confirmed)
{
    for (const std::string_view kind : kinds) {
        confirmation_fixture f(kind);
        f.acquire();
        BOOST_TEST_REQUIRE(f.acquired.size() == 1u);
        const auto commands = f.all.used.front(); // the connection of the first acquire
        f.at_wait = [&] { commands->end(); };
        f.renew("");
        f.advance(1s);
        BOOST_TEST_REQUIRE(f.renewed.size() == 1u);
        BOOST_TEST((f.renewed[0].results.at(0) == renewal_result::unconfirmed));
    }
}

BOOST_AUTO_TEST_SUITE_END()
