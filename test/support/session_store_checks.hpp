#ifndef LEASEHOLD_TEST_SUPPORT_SESSION_STORE_CHECKS_HPP
#define LEASEHOLD_TEST_SUPPORT_SESSION_STORE_CHECKS_HPP

#include <boost/test/unit_test.hpp>

#include "support/client_thread.hpp"
#include "support/fault_proxy.hpp"
#include "support/port.hpp"
#include "support/queued_request.hpp"
#include "support/store_contract.hpp"
#include "support/store_scene.hpp"

#include <leasehold/error.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

// Checks of a store whose locks live in a session, on a real server. `In` is the fixture of a test:
//   in.port()          the port of the server
//   in.url(port)       its own part of the server
//   in.make(url)       a store
//   in.entries()       the number of holders and waiters of "lock" at the server
namespace leasehold::test {

/// A client whose replies are lost, until it has another connection of the same session.
struct deaf_scene : store_scene
{
    template <class In>
    explicit deaf_scene(In& in, fault_proxy& between)
        : store_scene(in.make(in.url(between.port()))), proxy(between)
    {
        connected();
        // The session has begun and the lock has its place, so an acquire is one request.
        session.acquire(contract::take("lock", "a:0"));
        session.release(leaving("lock", "a:0"));
    }

    template <class Call>
    error_code lost(Call call)
    {
        const int before = session.connected;
        proxy.drop_replies();
        const error_code code = call();
        proxy.forward();
        session.until([&] { return session.connected > before; });
        BOOST_TEST(session.gone.empty());
        return code;
    }

    fault_proxy& proxy;
};

template <class In>
void check_report_of_refused_connection(In& in)
{
    const reserved_port nothing;
    store_scene at(in.make(in.url(nothing.number())));
    const auto got = at.refused();
    BOOST_TEST((got.code == errc::store_unavailable));
    BOOST_TEST(contains(text_of(got), "server 127.0.0.1:" + std::to_string(nothing.number())),
               text_of(got));
    BOOST_TEST(contains(text_of(got), "Connection refused"), text_of(got));
}

template <class In>
void check_fence_floor(In& in)
{
    store_scene at(in.make(in.url(in.port())));
    at.connected();
    acquire_request request = contract::take("lock", "a:1");
    request.fence_floor = std::uint64_t(1) << 62;
    const auto got = at.session.acquire(request);
    BOOST_TEST((got.code == errc::store_refused));
    BOOST_TEST(contains(text_of(got), "restored from a backup"), text_of(got));
    BOOST_TEST(in.entries() == 0u);
}

template <class In>
void check_lost_reply_to_acquire(In& in)
{
    fault_proxy proxy(loopback_endpoint(in.port()));
    deaf_scene at(in, proxy);
    const auto lost = at.lost(
        [&] { return at.session.acquire(contract::take("lock", "a:1")).code; });
    BOOST_TEST((lost == errc::outcome_unknown), lost);
    BOOST_TEST((at.session.acquire(contract::look("lock", "a:1")).reply.result ==
                acquire_reply::outcome::granted));
    BOOST_TEST(in.entries() == 1u);
}

template <class In>
void check_release_of_lost_acquire(In& in)
{
    fault_proxy proxy(loopback_endpoint(in.port()));
    deaf_scene at(in, proxy);
    at.lost([&] { return at.session.acquire(contract::take("lock", "a:1")).code; });
    const auto released = at.session.release(leaving("lock", "a:1"));
    BOOST_TEST(!released.code);
    BOOST_TEST((released.reply.result == release_reply::outcome::freed),
               static_cast<int>(released.reply.result));
    BOOST_TEST(in.entries() == 0u);
}

template <class In>
void check_lost_reply_to_release(In& in)
{
    fault_proxy proxy(loopback_endpoint(in.port()));
    deaf_scene at(in, proxy);
    at.session.acquire(contract::take("lock", "a:1"));
    const acquire_request next = queued_request("lock", "a:2");
    const release_request release{.name = "lock", .owner = "a:1", .entry = {}, .next = &next};
    const auto lost = at.lost([&] { return at.session.release(release).code; });
    BOOST_TEST((lost == errc::outcome_unknown), lost);
    BOOST_TEST((at.session.release(release).reply.result == release_reply::outcome::not_owner));
    BOOST_TEST((at.session.acquire(queued_request("lock", "a:2")).reply.result ==
                acquire_reply::outcome::granted));
    BOOST_TEST(in.entries() == 1u);
}

/// Releases the lock of a client while another one waits for it, many times.
template <class In>
void check_wait_of_another_client(In& in)
{
    client_thread first(in.make(in.url(in.port())));
    client_thread second(in.make(in.url(in.port())));
    for (int i = 0; i < 20; ++i) {
        taken held = first.lock("lock", {});
        BOOST_TEST(!held.code);
        auto waiting = second.start_lock("lock", {});
        wait_until([&] { return in.entries() == 2; });
        BOOST_TEST(!first.release(std::move(held.held)));
        taken next = get(waiting);
        BOOST_TEST(!next.code);
        BOOST_TEST(next.held.valid());
        BOOST_TEST(!second.release(std::move(next.held)));
    }
    BOOST_TEST(in.entries() == 0u);
}

template <class Server>
void check_session_after_a_kill(Server& server, store_scene& at)
{
    at.connected();
    BOOST_TEST((at.session.acquire(contract::take("lock", "a:1")).reply.result ==
                acquire_reply::outcome::granted));
    server.kill();
    at.lost();
    server.start();
    at.connected_again();
    BOOST_TEST(at.session.gone.empty());
    const renewal one[] = {{"lock", "a:1", std::chrono::seconds(60)}};
    BOOST_TEST((at.session.renew(one).reply.results.at(0) == renewal_result::renewed));
    BOOST_TEST(
        (at.session.release(leaving("lock", "a:1")).reply.result == release_reply::outcome::freed));
}

template <class Server>
void check_acquire_at_a_paused_server(Server& server, store_scene& at)
{
    using outcome = acquire_reply::outcome;
    at.connected();
    BOOST_TEST(
        (at.session.acquire(contract::take("warm", "a:0")).reply.result == outcome::granted));
    server.pause();
    const auto lost = at.session.acquire(contract::take("lock", "a:1"));
    BOOST_TEST((lost.code == errc::outcome_unknown), lost.code);
    server.resume();
    at.session.until([&] { return at.session.connected == 2; });
    BOOST_TEST(
        (at.session.acquire(contract::look("lock", "a:1")).reply.result == outcome::granted));
    BOOST_TEST(
        (at.session.release(leaving("lock", "a:1")).reply.result == release_reply::outcome::freed));
    BOOST_TEST(
        (at.session.acquire(contract::take("lock", "a:2")).reply.result == outcome::granted));
}

/// Leads the client of one server to another one without data.
/// @param at A client of the proxy.
template <class Server>
void check_session_without_its_data(std::unique_ptr<Server> server, fault_proxy& proxy,
                                    store_scene& at)
{
    at.connected();
    for (const std::string& name : lock_names(5))
        at.session.acquire(contract::take(name, "a:1"));
    Server empty;
    proxy.lead_to(loopback_endpoint(empty.port()));
    server.reset();
    at.session.until([&] { return at.session.gone.size() == 5; });
    at.session.until([&] { return at.session.connected == 2; });
    BOOST_TEST((at.session.acquire(contract::take("lock", "a:2")).reply.result ==
                acquire_reply::outcome::granted));
}

} // namespace leasehold::test

#endif
