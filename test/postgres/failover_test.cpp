// A primary with a synchronous standby: the standby takes over with all locks.
#include <boost/test/unit_test.hpp>

#include "postgres/replicated_database.hpp"
#include "support/queued_request.hpp"
#include "support/store_contract.hpp"

#include <leasehold/postgres.hpp>

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <optional>
#include <string>

namespace {

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;
using contract::look;
using contract::take;
using granted_t = acquire_reply::outcome;
using released_t = release_reply::outcome;

/// A client of both servers.
struct client_of_both
{
    explicit client_of_both(const std::string& url)
        : session(context, make_postgres_store(postgres_config(url)))
    {
        session.wait_until_connected();
    }

    asio::io_context context;
    store_session session;
};

} // namespace

BOOST_AUTO_TEST_SUITE(on_a_primary_with_a_standby)

BOOST_AUTO_TEST_CASE(promoted_standby_has_the_lock_and_its_queue)
{
    replicated_database servers;
    client_of_both holds(servers.url()), waits(servers.url());
    const auto first = holds.session.acquire(take("lock", "a:1", 60s));
    BOOST_REQUIRE((first.reply.result == granted_t::granted));
    BOOST_TEST(waits.session.acquire(queued_request("lock", "b:1")).reply.queued);
    waits.session.until([&] { return waits.session.listening >= 1; });

    const std::string standby = servers.standby_address();
    servers.primary().kill();
    servers.promote_standby();
    holds.session.until([&] { return holds.session.connected == 2; });
    waits.session.until([&] { return waits.session.connected == 2; });
    BOOST_TEST(holds.session.get().server_of(0) == standby);

    BOOST_TEST((waits.session.acquire(take("lock", "c:1")).reply.result == granted_t::held));
    const renewal one[] = {{"lock", "a:1", 60s}};
    BOOST_TEST((holds.session.renew(one).reply.results.at(0) == renewal_result::renewed));
    const auto again = holds.session.acquire(look("lock", "a:1"));
    BOOST_TEST((again.reply.result == granted_t::granted));
    BOOST_TEST(again.reply.first_fence >= first.reply.first_fence);

    // The waiter has kept its place, and is notified by its new session.
    waits.session.until([&] { return waits.session.listening >= 3; });
    BOOST_TEST(waits.session.acquire(queued_request("lock", "b:1")).reply.queued);
    const auto left = holds.session.release({.name = "lock", .owner = "a:1", .entry = {}});
    BOOST_TEST((left.reply.result == released_t::granted_next));
    waits.session.until([&] { return !waits.session.grants.empty(); });
    const auto next = waits.session.acquire(queued_request("lock", "b:1"));
    BOOST_TEST((next.reply.result == granted_t::granted));
    BOOST_TEST(next.reply.first_fence > again.reply.first_fence);
}

// The standby is behind the other host in the list, and refuses to write.
BOOST_AUTO_TEST_CASE(standby_is_not_used_while_the_primary_lives)
{
    replicated_database servers;
    const std::string first = servers.primary_address();
    client_of_both at("postgres://app@" + servers.standby_address() + "," + first +
                      "/postgres?reconnect=20");
    BOOST_TEST(at.session.get().server_of(0) == first);
    BOOST_TEST((at.session.acquire(take("lock", "a:1")).reply.result == granted_t::granted));
}

// The server commits without its standby then, and only warns.
BOOST_AUTO_TEST_CASE(cancelled_wait_for_the_standby_is_no_grant)
{
    replicated_database servers;
    client_of_both at(servers.url() + "&timeout=30000");
    servers.standby().pause();
    std::optional<error_code> got;
    at.session.on_the_strand([&] {
        at.session.get().async_acquire(take("lock", "a:1", 60s),
                                       [&](error_code code, auto) { got = code; });
    });
    postgresql_connection as_superuser = servers.connect();
    // The server has no event for the beginning of this wait.
    while (as_superuser
               .run("select pg_cancel_backend(pid) from pg_stat_activity "
                    "where usename = 'app' and wait_event = 'SyncRep'")
               .size() == 0)
        at.session.wait(10ms);
    at.session.until([&] { return got.has_value(); });
    BOOST_TEST((*got == errc::outcome_unknown), *got);
    servers.standby().resume();
    at.session.until([&] { return at.session.connected == 2; });
    BOOST_TEST((at.session.acquire(look("lock", "a:1")).reply.result == granted_t::granted));
}

BOOST_AUTO_TEST_SUITE_END()
