#ifndef LEASEHOLD_TEST_SUPPORT_DATABASE_CHECKS_HPP
#define LEASEHOLD_TEST_SUPPORT_DATABASE_CHECKS_HPP

#include <boost/test/unit_test.hpp>

#include "support/fault_proxy.hpp"
#include "support/queued_request.hpp"
#include "support/store_contract.hpp"
#include "support/store_scene.hpp"

#include <leasehold/client.hpp>
#include <leasehold/error.hpp>
#include <leasehold/mutex.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

// Checks of a store in a database, on a real server.
namespace leasehold::test {

/// A request whose row another session has locked fails alone. `unlock` ends that, for "b".
template <class Lock, class Unlock>
void check_request_that_fails_alone(store_scene& at, Lock lock, Unlock unlock)
{
    BOOST_TEST(at.acquire_all({"b"}) == 1);
    BOOST_TEST(
        (at.session.release(leaving("b", "a:1")).reply.result == release_reply::outcome::freed));
    lock();
    std::vector<std::pair<std::string, error_code>> ends;
    at.session.on_the_strand([&] {
        for (const char* name : {"c", "b", "a"})
            at.session.get().async_acquire(
                contract::take(name, "a:1"),
                [&, name](error_code code, auto) { ends.emplace_back(name, code); });
    });
    at.session.until([&] { return ends.size() == 3; });
    unlock();
    for (const auto& [name, code] : ends)
        BOOST_TEST((code == (name == "b" ? error_code(errc::store_refused) : error_code())));
    BOOST_TEST((at.session.acquire(contract::look("b", "a:1")).reply.result ==
                acquire_reply::outcome::granted));
}

/// A waiter hears of its grant also after the server has ended its session for grants.
template <class End>
void check_waiter_is_notified_again(store_scene& holds, store_scene& waits, End end_of_session)
{
    holds.connected();
    waits.connected();
    holds.session.acquire(contract::take("lock", "a:1"));
    waits.session.acquire(queued_request("lock", "b:1"));
    waits.session.until([&] { return waits.session.listening == 1; });
    end_of_session();
    waits.session.until([&] { return waits.session.listening == 3; }); // interrupted, and again
    BOOST_TEST(waits.session.acquire(queued_request("lock", "b:1")).reply.queued);
    BOOST_TEST((holds.session.release(leaving("lock", "a:1")).reply.result ==
                release_reply::outcome::granted_next));
    waits.session.until([&] { return !waits.session.grants.empty(); });
    BOOST_TEST(waits.session.grants.front().name == "lock");
    BOOST_TEST(waits.session.grants.front().owner == "b:1");
}

/// @param at Its connection goes through the proxy. Its time limit is 300 ms.
inline void check_lost_reply(store_scene& at, fault_proxy& proxy)
{
    at.connected();
    proxy.drop_replies();
    const auto lost = at.session.acquire(contract::take("lock", "a:1"));
    BOOST_TEST((lost.code == errc::outcome_unknown), lost.code);
    BOOST_TEST(contains(text_of(lost), "no reply within 300 ms"), text_of(lost));
    proxy.forward();
    at.session.until([&] { return at.session.connected == 2; });
    BOOST_TEST((at.session.acquire(contract::take("lock", "b:1")).reply.result ==
                acquire_reply::outcome::held));
    BOOST_TEST((at.session.acquire(contract::look("lock", "a:1")).reply.result ==
                acquire_reply::outcome::granted));
}

/// Waits for a lock of another client until the time is over. The caller checks the queue.
inline void check_wait_that_ends(store_scene& holds, const std::string& url)
{
    using namespace std::chrono_literals;
    holds.connected();
    holds.session.acquire(contract::take("lock", "a:1", 60s));
    boost::asio::io_context context;
    client locks(context, url);
    locks.async_run(boost::asio::detached);
    const mutex free(locks, "free");
    const mutex m(locks, "lock");
    error_code ended;
    lease first;
    // The free lock: once it is acquired, there is a connection.
    free.async_lock([&](error_code failed, lease acquired) {
        BOOST_TEST(!failed, failed.message());
        first = std::move(acquired);
        m.async_try_lock_for(300ms, [&](error_code code, const lease&) {
            ended = code;
            locks.async_shutdown(boost::asio::detached);
        });
    });
    context.run();
    BOOST_TEST((ended == errc::timed_out));
}

/// A server that was killed has its locks when it runs again. It writes them to the disk.
template <class Server>
void check_killed_server(store_scene& at, Server& server)
{
    using namespace std::chrono_literals;
    at.connected();
    const auto first = at.session.acquire(contract::take("lock", "a:1", 60s));
    BOOST_TEST((first.reply.result == acquire_reply::outcome::granted));
    server.kill();
    at.lost();
    const auto down = at.session.acquire(contract::take("other", "a:2"));
    BOOST_TEST((down.code == errc::store_unavailable || down.code == errc::store_refused));
    server.start();
    at.connected_again();
    BOOST_TEST((at.session.acquire(contract::take("lock", "b:1")).reply.result ==
                acquire_reply::outcome::held));
    const renewal one[] = {{"lock", "a:1", 60s}};
    BOOST_TEST((at.session.renew(one).reply.results.at(0) == renewal_result::renewed));
}

/// While a server is paused, requests and the wait for grants fail. Both work again afterwards.
/// @return The error of a request meanwhile.
template <class Server>
error_code check_paused_server(store_scene& holds, Server& server)
{
    using namespace std::chrono_literals;
    holds.connected();
    holds.session.acquire(contract::take("lock", "a:1", 60s));
    holds.session.acquire(queued_request("lock", "a:2"));
    holds.session.until([&] { return holds.session.listening == 1; });
    server.pause();
    const auto lost = holds.session.acquire(contract::take("other", "a:3"));
    holds.session.until([&] { return holds.session.listening >= 2; });
    BOOST_TEST(holds.session.disconnected >= 1);
    server.resume();
    holds.session.until(
        [&] { return holds.session.connected == 2 && holds.session.listening >= 3; });
    BOOST_TEST((holds.session.acquire(contract::look("lock", "a:1")).reply.result ==
                acquire_reply::outcome::granted));
    return lost.code;
}

} // namespace leasehold::test

#endif
