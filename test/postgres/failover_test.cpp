// A primary with a synchronous standby: the standby takes over with all locks.
#include <boost/test/unit_test.hpp>

#include "postgres/database.hpp"
#include "support/queued_request.hpp"
#include "support/store_contract.hpp"

#include <leasehold/postgres.hpp>

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <string>
#include <thread>

namespace {

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;
using contract::look;
using contract::take;
using granted_t = acquire_reply::outcome;
using released_t = release_reply::outcome;

/// A primary whose commits wait for its standby.
class pair_of_servers
{
public:
    pair_of_servers()
    {
        postgresql_connection at_primary = primary_.connect();
        at_primary.run("alter system set synchronous_standby_names = '*'");
        at_primary.run("select pg_reload_conf()");
        const auto limit = std::chrono::steady_clock::now() + 60s;
        // The server has no event for this.
        while (
            at_primary.run("select 1 from pg_stat_replication where sync_state = 'sync'").size() ==
            0) {
            BOOST_REQUIRE(std::chrono::steady_clock::now() < limit);
            std::this_thread::sleep_for(10ms);
        }
    }

    /// The primary dies, and the standby becomes the primary.
    void fail_over()
    {
        primary_.server().kill();
        postgresql_connection(standby_.connection_text() + " port=" + second())
            .run("select pg_promote()");
    }

    [[nodiscard]] std::string url() const
    {
        return "postgres://app@127.0.0.1:" + std::to_string(primary_.port()) + "," + standby() +
               "/postgres?reconnect=20";
    }

    /// The address of the standby.
    [[nodiscard]] std::string standby() const { return "127.0.0.1:" + second(); }

private:
    [[nodiscard]] std::string second() const { return std::to_string(port_.number()); }

    database primary_;
    reserved_port port_;
    postgresql_server standby_{primary_.server().connection_text() +
                                   " port=" + std::to_string(primary_.port()),
                               {"listen_addresses=127.0.0.1", "port=" + second()}};
};

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
    pair_of_servers servers;
    client_of_both holds(servers.url()), waits(servers.url());
    const auto first = holds.session.acquire(take("lock", "a:1", 60s));
    BOOST_REQUIRE((first.reply.result == granted_t::granted));
    BOOST_TEST(waits.session.acquire(queued_request("lock", "b:1")).reply.queued);
    waits.session.until([&] { return waits.session.listening >= 1; });

    servers.fail_over();
    holds.session.until([&] { return holds.session.connected == 2; });
    waits.session.until([&] { return waits.session.connected == 2; });
    BOOST_TEST(holds.session.get().server_of(0) == servers.standby());

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
    pair_of_servers servers;
    const std::string url = servers.url();
    const auto comma = url.find(',');
    const auto host = url.find('@') + 1;
    const std::string first = url.substr(host, comma - host);
    client_of_both at("postgres://app@" + servers.standby() + "," + first +
                      "/postgres?reconnect=20");
    BOOST_TEST(at.session.get().server_of(0) == first);
    BOOST_TEST((at.session.acquire(take("lock", "a:1")).reply.result == granted_t::granted));
}

BOOST_AUTO_TEST_SUITE_END()
