// The keys of a client after an election. They move to a new lease of etcd, because the leader
// before may still revoke the old one (etcd issue 15247), as the operator does here. The election
// is that of a server that has no others, which is killed and started.
#include <boost/test/unit_test.hpp>

#include "etcd/operator_client.hpp"
#include "etcd/protocol/key_names.hpp"
#include "support/etcd_server.hpp"
#include "support/fault_proxy.hpp"
#include "support/queued_request.hpp"
#include "support/store_contract.hpp"
#include "support/store_scene.hpp"

#include <leasehold/etcd.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;
using contract::take;
using granted_t = acquire_reply::outcome;
using released_t = release_reply::outcome;

struct election
{
    election() { at.connected(); }

    void elect()
    {
        const int before = at.session.connected;
        server.kill();
        server.start();
        at.session.until([&] { return at.session.connected > before; });
    }

    /// Renews a lock of the owner "a:1", which also moves all keys after an election.
    renewal_result renew(const std::string& name)
    {
        const renewal one[] = {{name, "a:1", 60s}};
        const auto got = at.session.renew(one);
        BOOST_TEST(!got.code);
        BOOST_TEST((got.reply.lease > 59s));
        return got.reply.results.at(0);
    }

    [[nodiscard]] operator_client as_operator() const
    {
        return operator_client("etcd://" + server.address());
    }

    [[nodiscard]] etcd_store::key_value key(const std::string& name, const std::string& owner)
    {
        const auto found = as_operator().keys(
            etcd_store::owner_key(etcd_store::lock_prefix("locks", name), owner));
        BOOST_TEST_REQUIRE(found.size() == 1u);
        return found.front();
    }

    etcd_server server;
    fault_proxy proxy{loopback_endpoint(server.port())};
    store_scene at{make_etcd_store(etcd_config("etcd://127.0.0.1:" + std::to_string(proxy.port()) +
                                               "/locks?session=60000&timeout=500&reconnect=10"))};
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(etcd_election, election)

BOOST_AUTO_TEST_CASE(lease_is_kept_while_there_is_no_election)
{
    at.session.acquire(take("lock", "a:1"));
    const std::int64_t first = key("lock", "a:1").lease;
    for (int i = 0; i < 2; ++i)
        BOOST_TEST((renew("lock") == renewal_result::renewed));
    BOOST_TEST(key("lock", "a:1").lease == first);
}

BOOST_AUTO_TEST_CASE(lock_is_kept_when_a_deposed_leader_revokes_its_lease)
{
    const auto first = at.session.acquire(take("lock", "a:1"));
    BOOST_TEST(at.session.acquire(queued_request("lock", "a:2")).reply.queued);
    const auto before = key("lock", "a:1");
    elect();
    BOOST_TEST((renew("lock") == renewal_result::renewed));
    as_operator().revoke(before.lease);
    BOOST_TEST(key("lock", "a:1").created == before.created);
    BOOST_TEST((renew("lock") == renewal_result::renewed));
    BOOST_TEST(
        (at.session.release(leaving("lock", "a:1")).reply.result == released_t::granted_next));
    const auto next = at.session.acquire(queued_request("lock", "a:2"));
    BOOST_TEST((next.reply.result == granted_t::granted));
    BOOST_TEST(next.reply.first_fence > first.reply.first_fence);
    BOOST_TEST(at.session.gone.empty());
}

BOOST_AUTO_TEST_CASE(keys_of_several_transactions_move)
{
    const std::vector<std::string> names = lock_names(250);
    BOOST_TEST(at.acquire_all(names) == 250);
    const std::int64_t before = key("lock249", "a:1").lease;
    elect();
    BOOST_TEST((renew("lock0") == renewal_result::renewed));
    as_operator().revoke(before);
    BOOST_TEST(as_operator().keys("locks/lock").size() == names.size());
    std::vector<renewal> all;
    for (const std::string& name : names)
        all.push_back({name, "a:1", 60s});
    BOOST_TEST((at.session.renew(all).reply.results ==
                std::vector(names.size(), renewal_result::renewed)));
}

BOOST_AUTO_TEST_CASE(key_of_a_lost_reply_moves)
{
    at.session.acquire(take("lock", "a:1"));
    proxy.drop_replies();
    BOOST_TEST((at.session.acquire(take("lost", "a:2")).code == errc::outcome_unknown));
    const std::int64_t before = key("lost", "a:2").lease;
    proxy.forward();
    at.session.until([&] { return at.session.connected == 2; });
    elect();
    BOOST_TEST((renew("lock") == renewal_result::renewed));
    as_operator().revoke(before);
    const auto found = at.session.acquire(take("lost", "a:2"));
    BOOST_TEST((found.reply.result == granted_t::granted));
    BOOST_TEST(key("lost", "a:2").lease == key("lock", "a:1").lease);
}

/// Moves whose reply is lost.
struct lost_move : election
{
    lost_move() { at.session.acquire(take("lock", "a:1")); }

    /// @returns The lease that the keys have then.
    std::int64_t move()
    {
        elect();
        // More than the reply with the new lease, and less than that and the reply to the move.
        proxy.cut_after_reply_bytes(600);
        const std::int64_t before = key("lock", "a:1").lease;
        const int connected = at.session.connected;
        const renewal one[] = {{"lock", "a:1", 60s}};
        BOOST_TEST((at.session.renew(one).code == errc::store_unavailable));
        const std::int64_t after = key("lock", "a:1").lease;
        BOOST_TEST(after != before);
        at.session.until([&] { return at.session.connected > connected; });
        return after;
    }
};

BOOST_FIXTURE_TEST_CASE(move_whose_reply_is_lost_is_repeated, lost_move)
{
    proxy.drop_replies();
    BOOST_TEST((at.session.acquire(take("lost", "a:2")).code == errc::outcome_unknown));
    proxy.forward();
    at.session.until([&] { return at.session.connected == 2; });
    const std::int64_t between = move();
    BOOST_TEST((renew("lock") == renewal_result::renewed));
    BOOST_TEST(key("lost", "a:2").lease != between);
    BOOST_TEST(key("lost", "a:2").lease == key("lock", "a:1").lease);
    BOOST_TEST((at.session.acquire(take("lost", "a:2")).reply.result == granted_t::granted));
    BOOST_TEST(at.session.gone.empty());
}

BOOST_FIXTURE_TEST_CASE(lock_whose_key_ended_after_a_lost_move_is_lost, lost_move)
{
    const std::int64_t ended = move();
    as_operator().revoke(ended);
    BOOST_TEST((renew("lock") == renewal_result::gone));
    BOOST_TEST(at.session.gone.size() == 1u);
    BOOST_TEST((at.session.acquire(take("lock", "a:3")).reply.result == granted_t::granted));
}

BOOST_AUTO_TEST_CASE(lock_acquired_during_the_move_has_the_new_lease)
{
    at.session.acquire(take("lock", "a:1"));
    const std::int64_t before = key("lock", "a:1").lease;
    elect();
    int answers = 0;
    at.session.on_the_strand([&] {
        const renewal one[] = {{"lock", "a:1", 60s}};
        at.session.get().async_renew(one, [&](error_code, auto) { ++answers; });
        at.session.get().async_acquire(take("other", "a:2"), [&](error_code code, auto reply) {
            ++answers;
            BOOST_TEST(!code);
            BOOST_TEST((reply.result == granted_t::granted));
        });
    });
    at.session.until([&] { return answers == 2; });
    BOOST_TEST(key("other", "a:2").lease != before);
    BOOST_TEST(key("other", "a:2").lease == key("lock", "a:1").lease);
}

BOOST_AUTO_TEST_CASE(session_whose_lease_has_ended_does_not_move)
{
    at.session.acquire(take("lock", "a:1"));
    const std::int64_t before = key("lock", "a:1").lease;
    elect();
    as_operator().revoke(before);
    const renewal one[] = {{"lock", "a:1", 60s}};
    const auto got = at.session.renew(one);
    BOOST_TEST((got.code || got.reply.results.at(0) == renewal_result::gone));
    BOOST_TEST(at.session.gone.size() == 1u);
    BOOST_TEST(as_operator().keys("locks/").empty());
    BOOST_TEST((at.session.acquire(take("lock", "a:3")).reply.result == granted_t::granted));
}

BOOST_AUTO_TEST_SUITE_END()
