// Three etcd servers, each at a node of its own network, of which the leader is cut off.
#include <boost/test/unit_test.hpp>

#include "etcd/operator_client.hpp"
#include "etcd/protocol/json.hpp"
#include "partitions/network.hpp"
#include "support/client_thread.hpp"
#include "support/etcd_server.hpp"

#include <leasehold/etcd.hpp>

#include <array>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;

constexpr int skipped = 77; // the exit code for a skipped test, as in CMakeLists.txt
constexpr std::size_t members = 3;

std::string peer_url(std::size_t node)
{
    return "http://" + network::address(node) + ":2380";
}

/// A client at the node of a server, which it reaches whatever is cut.
class cluster
{
public:
    cluster() : network_(members)
    {
        std::string all;
        for (std::size_t i = 0; i < members; ++i)
            all.append(all.empty() ? "" : ",").append(name(i) + '=' + peer_url(i));
        for (std::size_t i = 0; i < members; ++i) {
            const auto there = network_.enter(i);
            servers_[i] = std::make_unique<etcd_server>(name(i), peer_url(i), all);
        }
        for (std::size_t i = 0; i < members; ++i) {
            const auto there = network_.enter(i);
            servers_[i]->wait_until_ready();
        }
    }

    [[nodiscard]] std::size_t leader()
    {
        for (std::size_t i = 0;; i = (i + 1) % members) {
            const auto there = network_.enter(i);
            operator_client as_operator("etcd://" + servers_[i]->address());
            const auto status = etcd_store::json::parse(
                as_operator.ask("maintenance/status", "{}"));
            if ((*status)["leader"].text() == (*status)["header"]["member_id"].text())
                return i;
        }
    }

    [[nodiscard]] std::unique_ptr<client_thread> client(std::size_t node,
                                                        const std::string& session = "2000")
    {
        const auto there = network_.enter(node);
        return std::make_unique<client_thread>(
            make_etcd_store(etcd_config("etcd://" + servers_[node]->address() +
                                        "/locks?timeout=500&reconnect=20&session=" + session)));
    }

    /// This member and the others hear nothing of each other.
    void cut_off(std::size_t node)
    {
        std::vector<network::way> ways;
        for (std::size_t i = 0; i < members; ++i) {
            if (i != node) {
                ways.push_back({i, node});
                ways.push_back({node, i});
            }
        }
        network_.cut(ways);
    }
    void heal() { network_.mend(); }

private:
    static std::string name(std::size_t i) { return "m" + std::to_string(i); }

    network network_;
    std::array<std::unique_ptr<etcd_server>, members> servers_;
};

std::unique_ptr<cluster>& the_cluster()
{
    static std::unique_ptr<cluster> only;
    return only;
}

struct with_a_cluster
{
    with_a_cluster()
    {
        if (const std::string why = network::refusal(); !why.empty()) {
            std::cout << "SKIPPED: the test needs network namespaces and ip (iproute2), which "
                         "cannot be had here: "
                      << why << std::endl;
            std::exit(skipped);
        }
        the_cluster() = std::make_unique<cluster>();
    }
    ~with_a_cluster() { the_cluster().reset(); }
};

BOOST_TEST_GLOBAL_FIXTURE(with_a_cluster);

lock_options patient()
{
    lock_options options;
    options.lease_time = 10s;
    return options;
}

} // namespace

BOOST_AUTO_TEST_CASE(leader_without_a_majority_keeps_no_lease_beyond_its_ttl)
{
    cluster& servers = *the_cluster();
    for (int round = 0; round < 2; ++round) {
        const std::size_t leader = servers.leader();
        const auto cut = servers.client(leader);
        const auto other = servers.client((leader + 1) % members);
        taken held = cut->lock("lock", patient());
        BOOST_TEST_REQUIRE(!held.code);
        // It is renewed, so its deadline is of the session.
        const auto granted = held.held.deadline();
        wait_until([&] { return held.held.deadline() > granted + 500ms; });
        auto waiting = other->start_lock("lock", patient());
        servers.cut_off(leader);
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
        servers.heal();
        BOOST_TEST(!other->release(std::move(next.held)));
        held = {};
        wait_until([&] { return cut->try_lock("free", patient()).code == error_code(); });
    }
}

BOOST_AUTO_TEST_CASE(lease_is_kept_when_the_leader_changes)
{
    cluster& servers = *the_cluster();
    const std::size_t leader = servers.leader();
    const auto client = servers.client((leader + 1) % members, "8000");
    taken held = client->lock("kept", patient());
    BOOST_TEST_REQUIRE(!held.code);
    servers.cut_off(leader);
    const auto renewed = held.held.deadline() + 4s;
    wait_until([&] {
        BOOST_TEST_REQUIRE(held.held.valid());
        return held.held.deadline() > renewed;
    });
    servers.heal();
    BOOST_TEST(!client->release(std::move(held.held)));
}
