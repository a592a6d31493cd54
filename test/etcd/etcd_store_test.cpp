// The store in etcd when servers, connections, sessions and rights fail. Each test talks to a
// server that this program has started.
#include <boost/test/unit_test.hpp>

#include "etcd/operator_client.hpp"
#include "etcd/protocol/key_names.hpp"
#include "support/client_thread.hpp"
#include "support/etcd_server.hpp"
#include "support/fault_proxy.hpp"
#include "support/process.hpp"
#include "support/queued_request.hpp"
#include "support/session_store_checks.hpp"
#include "support/store_contract.hpp"
#include "support/store_lifetime.hpp"
#include "support/store_scene.hpp"
#include "support/tls_server.hpp"

#include <leasehold/etcd.hpp>

#include <csignal>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;
using contract::again;
using contract::take;
using granted_t = acquire_reply::outcome;
using released_t = release_reply::outcome;

/// One server for all tests that do not harm it.
etcd_server& shared_server()
{
    static etcd_server only;
    return only;
}

/// Locks below a root of this test, and an operator.
struct root_of_test
{
    std::string url(std::uint16_t port = shared_server().port(),
                    const std::string& session = "10000", const std::string& timeout = "300") const
    {
        return "etcd://127.0.0.1:" + std::to_string(port) + '/' + root + "?session=" + session +
               "&timeout=" + timeout + "&reconnect=10";
    }
    std::vector<etcd_store::key_value> keys(const std::string& name = "lock")
    {
        return as_operator.keys(etcd_store::lock_prefix(root, name));
    }

    static std::uint16_t port() { return shared_server().port(); }
    static std::shared_ptr<store> make(const std::string& url)
    {
        return make_etcd_store(etcd_config(url));
    }
    std::size_t entries() { return keys().size(); }

    static inline int tests = 0;
    const std::string root = "test" + std::to_string(++tests);
    operator_client as_operator{"etcd://" + shared_server().address()};
};

struct scene : store_scene
{
    explicit scene(const std::string& url) : store_scene(make_etcd_store(etcd_config(url))) {}
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
    scene at("etcd://127.0.0.1:" + std::to_string(nothing.number()) + ',' +
             shared_server().address() + '/' + root + "?reconnect=10");
    at.connected();
    BOOST_TEST((at.session.acquire(take("lock", "a:1")).reply.result == granted_t::granted));
    BOOST_TEST(at.session.get().server_of(0) == shared_server().address());
}

BOOST_AUTO_TEST_CASE(user_of_a_server_without_users_is_reported)
{
    scene at("etcd://orders:secret@" + shared_server().address());
    const auto got = at.refused();
    BOOST_TEST((got.code == errc::store_refused), got.code);
    BOOST_TEST(contains(text_of(got), "authentication is not enabled"), text_of(got));
    BOOST_TEST(!contains(text_of(got), "secret"), text_of(got));
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

// Each transaction compares the revision of this key.
BOOST_AUTO_TEST_CASE(new_connection_changes_the_key_of_the_client_first)
{
    fault_proxy proxy(loopback_endpoint(shared_server().port()));
    scene at(url(proxy.port()));
    at.connected();
    at.session.acquire(take("lock", "a:1"));
    const auto before = as_operator.keys(etcd_store::clients_prefix(root)).at(0);
    proxy.reset_all();
    at.session.until([&] { return at.session.connected == 2; });
    const auto after = as_operator.keys(etcd_store::clients_prefix(root)).at(0);
    BOOST_TEST(after.modified > before.modified);
    BOOST_TEST(after.created == before.created);
    BOOST_TEST(after.lease == before.lease);
}

BOOST_AUTO_TEST_CASE(changed_key_of_the_client_costs_no_lock)
{
    scene at(url());
    at.connected();
    at.session.acquire(take("lock", "a:1"));
    as_operator.clear(etcd_store::clients_prefix(root));
    BOOST_TEST((at.session.acquire(take("other", "a:2")).code == errc::store_unavailable));
    at.session.until([&] { return at.session.connected == 2; });
    BOOST_TEST((at.session.acquire(take("other", "a:2")).reply.result == granted_t::granted));
    BOOST_TEST((at.session.release(leaving("lock", "a:1")).reply.result == released_t::freed));
    BOOST_TEST(at.session.gone.empty());
}

BOOST_AUTO_TEST_CASE(release_of_an_earlier_epoch_removes_no_key)
{
    scene at(url());
    at.connected();
    at.session.acquire(take("lock", "a:1"));
    as_operator.clear(etcd_store::clients_prefix(root));
    const acquire_request next = queued_request("lock", "a:2");
    const release_request release{.name = "lock", .owner = "a:1", .entry = {}, .next = &next};
    BOOST_TEST((at.session.release(release).code == errc::store_unavailable));
    BOOST_TEST(keys().size() == 1u);
    at.session.until([&] { return at.session.connected == 2; });
    BOOST_TEST((at.session.release(release).reply.result == released_t::freed));
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
    waits.session.until([&] { return waits.session.listening == 1; });
    BOOST_TEST(!waits.session.acquire(queued_request("lock", "a:1")).reply.may_miss_grant);
    proxy.reset_all();
    waits.session.until([&] { return waits.session.listening == 2; });
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
    scene at(url(proxy.port(), "2000"));
    at.connected();
    const auto first = at.session.acquire(take("lock", "a:1"));
    BOOST_TEST((first.reply.result == granted_t::granted));
    const auto sent = leasehold::clock::now();
    const renewal one[] = {{"lock", "a:1", 10s}};
    const auto renewed = at.session.renew(one);
    BOOST_TEST_REQUIRE(renewed.reply.lease.has_value());
    BOOST_TEST((*renewed.reply.lease > 1s && *renewed.reply.lease <= 2s));
    proxy.stall();
    while (!keys().empty()) {
    }
    BOOST_TEST((sent + *renewed.reply.lease <= leasehold::clock::now()));
    proxy.forward();
    at.session.until([&] { return !at.session.gone.empty(); });
    BOOST_TEST(at.session.gone.front().name == "lock");
    BOOST_TEST(at.session.gone.front().owner == "a:1");
    BOOST_TEST((at.session.release(leaving("lock", "a:1")).reply.result == released_t::not_owner));
    const auto next = at.session.acquire(take("lock", "a:2"));
    BOOST_TEST((next.reply.result == granted_t::granted));
    BOOST_TEST(next.reply.first_fence > first.reply.first_fence);
}

BOOST_AUTO_TEST_CASE(removed_waiter_joins_again)
{
    scene at(url());
    at.connected();
    at.session.acquire(take("lock", "b:1"));
    BOOST_TEST(at.session.acquire(queued_request("lock", "a:1")).reply.queued);
    as_operator.remove(etcd_store::owner_key(etcd_store::lock_prefix(root, "lock"), "a:1"));
    BOOST_TEST(at.session.acquire(queued_request("lock", "a:1")).reply.queued);
    BOOST_TEST(keys().size() == 2u);
}

BOOST_AUTO_TEST_CASE(reentrant_acquisition_by_another_client_is_not_supported)
{
    scene holds(url());
    holds.connected();
    holds.session.acquire(take("lock", "a:1"));
    scene other(url());
    other.connected();
    const auto got = other.session.acquire(again("lock", "a:1", "e"));
    BOOST_TEST((got.code == errc::not_supported), got.code);
    BOOST_TEST(contains(text_of(got), "belongs to another client"), text_of(got));
}

// concurrency.Mutex of etcd's Go client has a key with its lease, in the order of creation.
BOOST_AUTO_TEST_CASE(other_library_waits_in_the_same_queue)
{
    const std::int64_t go = as_operator.grant(60);
    const std::int64_t later = as_operator.grant(60);
    as_operator.put(root + "/lock/694d71ddacfda227", "", go);
    scene at(url());
    at.connected();
    BOOST_TEST((at.session.acquire(take("lock", "a:1")).reply.result == granted_t::held));
    BOOST_TEST(at.session.acquire(queued_request("lock", "a:2")).reply.queued);
    as_operator.put(root + "/lock/694d71ddacfda228", "", later);
    as_operator.revoke(go);
    at.session.until([&] { return !at.session.grants.empty(); });
    BOOST_TEST(
        (at.session.acquire(queued_request("lock", "a:2")).reply.result == granted_t::granted));
    BOOST_TEST(
        (at.session.release(leaving("lock", "a:2")).reply.result == released_t::granted_next));
    as_operator.revoke(later);
}

BOOST_AUTO_TEST_CASE(etcdctl_and_this_client_wait_for_each_other)
{
    const std::vector<std::string> command{"etcdctl", "--endpoints", shared_server().address(),
                                           "lock", root + "/lock"};
    client_thread ours(make_etcd_store(etcd_config(url())));
    lock_options in_order; // each lock goes through the queue
    in_order.handoff_count = 0;
    for (int i = 0; i < 3; ++i) {
        taken held = ours.lock("lock", in_order);
        BOOST_TEST(!held.code);
        process etcdctl(command, {{"ETCDCTL_API", "3"}});
        wait_until([&] { return keys().size() == 2; });
        BOOST_TEST(!etcdctl.has_line());
        auto waiting = ours.start_lock("lock", in_order); // behind etcdctl
        BOOST_TEST(!ours.release(std::move(held.held)));
        BOOST_TEST(etcdctl.read_line().value().starts_with(root + "/lock/"));
        wait_until([&] { return keys().size() == 2; });
        BOOST_TEST((waiting.wait_for(0s) == std::future_status::timeout));
        etcdctl.signal(SIGINT);
        taken next = get(waiting);
        BOOST_TEST(!next.code);
        BOOST_TEST(!ours.release(std::move(next.held)));
        etcdctl.wait();
    }
}

BOOST_AUTO_TEST_CASE(holder_is_described)
{
    scene at(url());
    at.connected();
    check_description_of_holder(at.session);
}

BOOST_AUTO_TEST_CASE(thousand_locks_are_renewed_together)
{
    scene at(url(port(), "10000", "10000"));
    at.connected();
    const std::vector<std::string> names = lock_names(1000);
    BOOST_TEST(at.acquire_all(names) == 1000);
    std::vector<renewal> all;
    for (const std::string& name : names)
        all.push_back({name, "a:1", 60s});
    for (int i = 0; i < 2; ++i) {
        const auto got = at.session.renew(all);
        BOOST_TEST(!got.code);
        BOOST_TEST((got.reply.results == std::vector(1000, renewal_result::renewed)));
    }
}

BOOST_AUTO_TEST_CASE(context_destroyed_before_the_store_keeps_no_handler)
{
    check_end_of_context([this] { return make_etcd_store(etcd_config(url())); });
}

BOOST_AUTO_TEST_CASE(store_can_be_destroyed_with_outstanding_replies)
{
    check_destruction_with_outstanding_replies(
        [this] { return make_etcd_store(etcd_config(url())); });
}

BOOST_AUTO_TEST_CASE(client_waits_for_another_and_holds_the_lock_after_it)
{
    check_wait_of_another_client(*this);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(session_survives_a_killed_server)
{
    etcd_server server;
    scene at("etcd://" + server.address() + "?session=60000&reconnect=10");
    check_session_after_a_kill(server, at);
}

BOOST_AUTO_TEST_CASE(paused_server_executes_an_acquire_once)
{
    etcd_server server;
    scene at("etcd://" + server.address() + "?session=60000&timeout=300&reconnect=10");
    check_acquire_at_a_paused_server(server, at);
}

BOOST_AUTO_TEST_CASE(lost_data_ends_the_session)
{
    auto server = std::make_unique<etcd_server>();
    fault_proxy proxy(loopback_endpoint(server->port()));
    scene at("etcd://127.0.0.1:" + std::to_string(proxy.port()) +
             "?session=2000&timeout=300&reconnect=10");
    check_session_without_its_data(std::move(server), proxy, at);
}

BOOST_AUTO_TEST_CASE(users_have_the_rights_of_their_roles)
{
    etcd_server server;
    {
        operator_client as_operator("etcd://" + server.address());
        const auto ask = [&](const char* target, const char* body) {
            as_operator.ask(target, body);
        };
        ask("auth/user/add", R"({"name":"root","password":"r"})");
        ask("auth/role/add", R"({"name":"root"})");
        ask("auth/user/grant", R"({"user":"root","role":"root"})");
        ask("auth/user/add", R"({"name":"orders","password":"secret"})");
        ask("auth/role/add", R"({"name":"locks"})");
        // From "locks/" to "locks0".
        ask("auth/role/grant", R"({"name":"locks","perm":{"permType":"READWRITE",)"
                               R"("key":"bG9ja3Mv","range_end":"bG9ja3Mw"}})");
        ask("auth/user/grant", R"({"user":"orders","role":"locks"})");
        ask("auth/enable", "{}");
    }
    const auto url = [&](const std::string& user, const std::string& root) {
        return "etcd://" + user + server.address() + '/' + root + "?reconnect=10";
    };
    scene first(url("orders:secret@", "locks"));
    first.connected();
    BOOST_TEST((first.session.acquire(take("lock", "a:1")).reply.result == granted_t::granted));
    scene second(url("orders:secret@", "locks"));
    second.connected();
    const auto waits = second.session.acquire(queued_request("lock", "b:1"));
    BOOST_TEST(waits.reply.queued);
    BOOST_TEST(waits.reply.may_miss_grant); // without a watch, the waiter polls
    const renewal one[] = {{"lock", "a:1", 10s}};
    BOOST_TEST((first.session.renew(one).reply.results.at(0) == renewal_result::renewed));
    BOOST_TEST(
        (first.session.release(leaving("lock", "a:1")).reply.result == released_t::granted_next));
    BOOST_TEST(
        (second.session.acquire(queued_request("lock", "b:1")).reply.result == granted_t::granted));

    // The server forgets the tokens of a user whose password is set.
    operator_client as_root("etcd://root:r@" + server.address());
    as_root.ask("auth/user/changepw", R"({"name":"orders","password":"secret"})");
    BOOST_TEST((first.session.acquire(take("other", "a:2")).reply.result == granted_t::granted));
    BOOST_TEST(first.session.connected == 1);

    const auto rejection = [&](const std::string& of) {
        scene at(of);
        const auto got = at.refused();
        BOOST_TEST(!contains(text_of(got), "secret"), text_of(got));
        return std::pair(got.code, text_of(got));
    };
    const auto [right, right_text] = rejection(url("orders:secret@", "other"));
    BOOST_TEST((right == errc::permission_denied), right_text);
    BOOST_TEST(contains(right_text, "permission denied (gRPC 7)"), right_text);
    const auto [password, password_text] = rejection(url("orders:wrong@", "locks"));
    BOOST_TEST((password == errc::store_refused), password_text);
    BOOST_TEST(contains(password_text, "authentication failed"), password_text);
    const auto [without_user, without_user_text] = rejection(url("", "locks"));
    BOOST_TEST((without_user == errc::permission_denied), without_user_text);
}

BOOST_AUTO_TEST_CASE(certificate_of_the_server_is_checked)
{
    const temporary_directory files;
    const certificate own(files, "server", "DNS:localhost,IP:127.0.0.1");
    // The server runs as another user.
    std::filesystem::permissions(files.path(), std::filesystem::perms::all);
    std::filesystem::permissions(own.key, std::filesystem::perms::all);
    etcd_server server({"--cert-file", own.text, "--key-file", own.key}, "https");
    const std::string url = "etcd://" + server.address() + "/locks?tls=on&reconnect=10&";
    scene holds(url + "ca=" + own.text);
    holds.connected();
    holds.session.acquire(take("lock", "a:1"));
    scene waits(url + "ca=" + own.text);
    waits.connected();
    BOOST_TEST(waits.session.acquire(queued_request("lock", "b:1")).reply.queued);
    waits.session.until([&] { return waits.session.listening > 0; });
    holds.session.release(leaving("lock", "a:1"));
    waits.session.until([&] { return !waits.session.grants.empty(); });
    scene untrusting(url + "verify=full");
    const auto got = untrusting.refused();
    BOOST_TEST((got.code == errc::store_unavailable));
    BOOST_TEST(contains(text_of(got), "certificate is not trusted"), text_of(got));
}
