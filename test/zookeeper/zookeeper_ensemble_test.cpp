// Three ZooKeeper servers, of which one loses its leader. It still answers the pings of its
// clients.
#include <boost/test/unit_test.hpp>

#include "support/client_thread.hpp"
#include "support/zookeeper_ensemble.hpp"
#include "zookeeper/operator_session.hpp"

#include <leasehold/zookeeper.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;

/// Patient followers make the case worse.
zookeeper_ensemble& servers()
{
    static zookeeper_ensemble only({100, 100, 100});
    return only;
}

std::string url(const std::string& hosts)
{
    return "zookeeper://" + hosts + "/locks?session=2000&tick=200&timeout=500&reconnect=20";
}

lock_options patient()
{
    lock_options options;
    options.lease_time = 10s;
    return options;
}

} // namespace

BOOST_AUTO_TEST_CASE(follower_without_a_leader_keeps_no_lease_beyond_its_session)
{
    BOOST_TEST_REQUIRE(servers().at(0).mode() == "follower");
    client_thread cut(make_zookeeper_store(zookeeper_config(url(servers().at(0).address()))));
    client_thread other(make_zookeeper_store(zookeeper_config(url(servers().at(2).address()))));
    for (int round = 0; round < 2; ++round) {
        taken held = cut.lock("lock", patient());
        BOOST_TEST_REQUIRE(!held.code);
        // It is renewed, so its deadline is of the session.
        const auto granted = held.held.deadline();
        wait_until([&] { return held.held.deadline() > granted + 500ms; });
        servers().cut_off(0);
        auto waiting = other.start_lock("lock", patient());
        leasehold::clock::time_point believed{};
        while (waiting.wait_for(0s) != std::future_status::ready) {
            if (held.held.valid())
                believed = leasehold::clock::now();
            std::this_thread::yield();
        }
        taken next = get(waiting);
        BOOST_TEST(!next.code);
        BOOST_TEST(!held.held.valid());
        BOOST_TEST((believed != leasehold::clock::time_point{}));
        servers().heal(0);
        BOOST_TEST(!other.release(std::move(next.held)));
        held = {};
        wait_until([&] { return cut.try_lock("free", patient()).code == error_code(); });
    }
}

BOOST_AUTO_TEST_CASE(lease_is_kept_at_another_server)
{
    // The server is chosen at random, so some of these clients are at the one that is cut off.
    std::vector<std::unique_ptr<client_thread>> clients;
    std::vector<lease> leases;
    for (int i = 0; i < 6; ++i) {
        clients.push_back(std::make_unique<client_thread>(
            make_zookeeper_store(zookeeper_config(url(servers().addresses())))));
        taken held = clients.back()->lock("kept" + std::to_string(i), patient());
        BOOST_TEST_REQUIRE(!held.code);
        leases.push_back(std::move(held.held));
    }
    const auto renewed = leasehold::clock::now() + 4s; // twice the session
    servers().cut_off(0);
    wait_until([&] {
        for (const lease& each : leases)
            BOOST_TEST_REQUIRE(each.valid());
        return leasehold::clock::now() > renewed;
    });
    servers().heal(0);
    for (std::size_t i = 0; i < clients.size(); ++i)
        BOOST_TEST(!clients[i]->release(std::move(leases[i])));
}
