// The store in ZooKeeper when servers, connections, sessions and rights fail. Each test talks to a
// server that this program has started.
#include <boost/test/unit_test.hpp>

#include "support/fault_proxy.hpp"
#include "support/queued_request.hpp"
#include "support/session_store_checks.hpp"
#include "support/store_contract.hpp"
#include "support/store_lifetime.hpp"
#include "support/store_scene.hpp"
#include "support/zookeeper_server.hpp"
#include "zookeeper/operator_session.hpp"
#include "zookeeper/protocol/node_names.hpp"

#include <leasehold/zookeeper.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;
using contract::take;
using granted_t = acquire_reply::outcome;
using released_t = release_reply::outcome;
using zookeeper_store::node_kind;

/// One server for all tests that do not harm it.
zookeeper_server& shared_server()
{
    static zookeeper_server only;
    return only;
}

/// Locks below a node of this test, and an operator.
struct root_of_test
{
    root_of_test() { as_operator.create(root, node_kind::persistent); }

    std::string url(std::uint16_t port = shared_server().port(),
                    const std::string& session = "10000", const std::string& timeout = "300") const
    {
        return "zookeeper://127.0.0.1:" + std::to_string(port) + root + "?session=" + session +
               "&tick=" + std::to_string(zookeeper_server::tick.count()) + "&timeout=" + timeout +
               "&reconnect=10";
    }
    std::vector<std::string> children(const std::string& name = "lock")
    {
        return as_operator.children(root + '/' + name);
    }

    static std::uint16_t port() { return shared_server().port(); }
    static std::shared_ptr<store> make(const std::string& url)
    {
        return make_zookeeper_store(zookeeper_config(url));
    }
    std::size_t entries() { return children().size(); }

    static inline int tests = 0;
    const std::string root = "/test" + std::to_string(++tests);
    operator_session as_operator{"zookeeper://" + shared_server().address() +
                                 "?session=60000&tick=200&timeout=10000"};
};

struct scene : store_scene
{
    explicit scene(const std::string& url)
        : store_scene(make_zookeeper_store(zookeeper_config(url)))
    {}
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(on_one_server, root_of_test)

BOOST_AUTO_TEST_CASE(refused_connection_is_reported_with_server_and_cause)
{
    check_report_of_refused_connection(*this);
}

BOOST_AUTO_TEST_CASE(server_that_does_not_answer_is_left_for_the_next)
{
    const reserved_port nothing;
    scene at("zookeeper://127.0.0.1:" + std::to_string(nothing.number()) + ',' +
             shared_server().address() + root + "?tick=200&reconnect=10");
    at.connected();
    BOOST_TEST((at.session.acquire(take("lock", "a:1")).reply.result == granted_t::granted));
    BOOST_TEST(at.session.get().server_of(0) == shared_server().address());
}

BOOST_AUTO_TEST_CASE(missing_root_is_created)
{
    scene at("zookeeper://" + shared_server().address() + root + "/app/locks?tick=200");
    at.connected();
    BOOST_TEST((at.session.acquire(take("lock", "a:1")).reply.result == granted_t::granted));
    BOOST_TEST(children("app/locks/lock").size() == 1u);
}

BOOST_AUTO_TEST_CASE(other_user_has_no_right)
{
    const auto of_user = [&](const std::string& user) {
        return "zookeeper://" + user + "@" + shared_server().address() + root + "?tick=200";
    };
    scene first(of_user("orders:secret"));
    first.connected();
    BOOST_TEST((first.session.acquire(take("lock", "a:1")).reply.result == granted_t::granted));
    scene same(of_user("orders:secret"));
    same.connected();
    BOOST_TEST((same.session.acquire(take("lock", "b:1")).reply.result == granted_t::held));
    scene other(of_user("orders:wrong"));
    other.connected();
    const auto got = other.session.acquire(take("lock", "c:1"));
    BOOST_TEST((got.code == errc::permission_denied), got.code);
    BOOST_TEST(contains(text_of(got), "NoAuth"), text_of(got));
    BOOST_TEST(!contains(text_of(got), "wrong"), text_of(got));
}

BOOST_AUTO_TEST_CASE(node_of_another_kind_is_reported)
{
    as_operator.create(root + "/value", node_kind::ephemeral);
    scene at(url());
    at.connected();
    BOOST_TEST((at.session.acquire(take("value", "a:1")).code == errc::wrong_type));
}

BOOST_AUTO_TEST_CASE(fence_below_an_earlier_one_is_rejected)
{
    check_fence_floor(*this);
}

BOOST_AUTO_TEST_CASE(lost_reply_to_an_acquire_is_found_by_its_owner)
{
    check_lost_reply_to_acquire(*this);
}

BOOST_AUTO_TEST_CASE(lost_acquire_is_released)
{
    check_release_of_lost_acquire(*this);
}

BOOST_AUTO_TEST_CASE(lost_reply_to_a_release_releases_once)
{
    check_lost_reply_to_release(*this);
}

BOOST_AUTO_TEST_CASE(child_of_an_earlier_session_is_not_taken_for_the_owner)
{
    as_operator.create(root + "/lock", node_kind::persistent);
    as_operator.create(root + "/lock/" + zookeeper_store::child_prefix("a:1", {}),
                       node_kind::ephemeral_sequential);
    fault_proxy proxy(loopback_endpoint(shared_server().port()));
    deaf_scene at(*this, proxy);
    at.lost([&] { return at.session.acquire(queued_request("lock", "a:1")).code; });
    const auto got = at.session.acquire(queued_request("lock", "a:1"));
    BOOST_TEST((got.reply.result == granted_t::held));
    BOOST_TEST(got.reply.queued);
    BOOST_TEST(children().size() == 2u);
}

BOOST_AUTO_TEST_CASE(watch_is_made_again_after_a_lost_connection)
{
    fault_proxy proxy(loopback_endpoint(shared_server().port()));
    scene holds(url());
    holds.connected();
    holds.session.acquire(take("lock", "b:1"));
    scene waits(url(proxy.port()));
    waits.connected();
    BOOST_TEST(waits.session.acquire(queued_request("lock", "a:1")).reply.queued);
    proxy.reset_all();
    waits.session.until([&] { return waits.session.listening == 2; });
    BOOST_TEST(waits.session.acquire(queued_request("lock", "a:1")).reply.queued);
    BOOST_TEST(
        (holds.session.release(leaving("lock", "b:1")).reply.result == released_t::granted_next));
    waits.session.until([&] { return !waits.session.grants.empty(); });
    BOOST_TEST(
        (waits.session.acquire(queued_request("lock", "a:1")).reply.result == granted_t::granted));
    BOOST_TEST(waits.session.gone.empty());
}

BOOST_AUTO_TEST_CASE(lease_ends_before_its_session_and_the_loss_is_reported)
{
    fault_proxy proxy(loopback_endpoint(shared_server().port()));
    scene at(url(proxy.port(), "1000"));
    at.connected();
    const auto first = at.session.acquire(take("lock", "a:1"));
    BOOST_TEST((first.reply.result == granted_t::granted));
    const auto sent = leasehold::clock::now();
    const renewal one[] = {{"lock", "a:1", 10s}};
    const auto renewed = at.session.renew(one);
    BOOST_TEST_REQUIRE(renewed.reply.lease.has_value());
    proxy.stall();
    while (!children().empty()) {
    }
    BOOST_TEST((sent + *renewed.reply.lease <= leasehold::clock::now()));
    proxy.forward();
    at.session.until([&] { return !at.session.gone.empty(); });
    BOOST_TEST(at.session.gone.front().name == "lock");
    BOOST_TEST(at.session.gone.front().owner == "a:1");
    at.session.until([&] { return at.session.connected == 2; });
    BOOST_TEST((at.session.release(leaving("lock", "a:1")).reply.result == released_t::not_owner));
    const auto again = at.session.acquire(take("lock", "a:2"));
    BOOST_TEST((again.reply.result == granted_t::granted));
    BOOST_TEST(again.reply.first_fence > first.reply.first_fence);
}

BOOST_AUTO_TEST_CASE(removed_waiter_joins_again)
{
    scene at(url());
    at.connected();
    at.session.acquire(take("lock", "b:1"));
    BOOST_TEST(at.session.acquire(queued_request("lock", "a:1")).reply.queued);
    const std::string prefix = zookeeper_store::child_prefix("a:1", {});
    for (const std::string& each : children()) {
        if (each.starts_with(prefix))
            as_operator.remove(root + "/lock/" + each);
    }
    BOOST_TEST(at.session.acquire(queued_request("lock", "a:1")).reply.queued);
    BOOST_TEST(children().size() == 2u);
}

BOOST_AUTO_TEST_CASE(other_library_waits_in_the_same_queue)
{
    as_operator.create(root + "/lock", node_kind::persistent);
    const std::string curator = "_c_0a1b2c3d-0000-4000-8000-000000000001-lock-";
    as_operator.create(root + "/lock/" + curator, node_kind::ephemeral_sequential);
    scene at(url());
    at.connected();
    BOOST_TEST((at.session.acquire(take("lock", "a:1")).reply.result == granted_t::held));
    BOOST_TEST(at.session.acquire(queued_request("lock", "a:2")).reply.queued);
    as_operator.create(root + "/lock/" + curator, node_kind::ephemeral_sequential);
    as_operator.remove(root + "/lock/" + curator + "0000000000");
    at.session.until([&] { return !at.session.grants.empty(); });
    BOOST_TEST(
        (at.session.acquire(queued_request("lock", "a:2")).reply.result == granted_t::granted));
    BOOST_TEST(
        (at.session.release(leaving("lock", "a:2")).reply.result == released_t::granted_next));
}

BOOST_AUTO_TEST_CASE(holder_is_described)
{
    scene at(url());
    at.connected();
    check_description_of_holder(at.session);
}

BOOST_AUTO_TEST_CASE(thousand_locks_are_renewed_by_one_write)
{
    scene at(url(port(), "10000", "10000"));
    at.connected();
    const std::vector<std::string> names = lock_names(1000);
    BOOST_TEST(at.acquire_all(names) == 1000);
    std::vector<renewal> all;
    for (const std::string& name : names)
        all.push_back({name, "a:1", 60s});
    const auto got = at.session.renew(all);
    BOOST_TEST(!got.code);
    BOOST_TEST((got.reply.results == std::vector(1000, renewal_result::renewed)));
}

BOOST_AUTO_TEST_CASE(context_destroyed_before_the_store_keeps_no_handler)
{
    check_end_of_context([this] { return make_zookeeper_store(zookeeper_config(url())); });
}

BOOST_AUTO_TEST_CASE(store_can_be_destroyed_with_outstanding_replies)
{
    check_destruction_with_outstanding_replies(
        [this] { return make_zookeeper_store(zookeeper_config(url())); });
}

BOOST_AUTO_TEST_CASE(client_waits_for_another_and_holds_the_lock_after_it)
{
    check_wait_of_another_client(*this);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(session_survives_a_killed_server)
{
    zookeeper_server server;
    scene at("zookeeper://" + server.address() + "?session=60000&tick=200&reconnect=10");
    check_session_after_a_kill(server, at);
}

BOOST_AUTO_TEST_CASE(paused_server_executes_an_acquire_once)
{
    zookeeper_server server;
    scene at("zookeeper://" + server.address() +
             "?session=60000&tick=200&timeout=300&reconnect=10");
    check_acquire_at_a_paused_server(server, at);
}

BOOST_AUTO_TEST_CASE(lost_data_ends_the_session)
{
    auto server = std::make_unique<zookeeper_server>();
    fault_proxy proxy(loopback_endpoint(server->port()));
    scene at("zookeeper://127.0.0.1:" + std::to_string(proxy.port()) +
             "?session=1000&tick=200&timeout=300&reconnect=10");
    check_session_without_its_data(std::move(server), proxy, at);
}
