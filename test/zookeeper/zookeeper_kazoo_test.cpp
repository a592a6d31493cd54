// Clients of this library and of kazoo, a library for Python, in one queue.
#include <boost/test/unit_test.hpp>

#include "interop/peer.hpp"
#include "support/client_thread.hpp"
#include "support/zookeeper_server.hpp"
#include "zookeeper/operator_session.hpp"

#include <leasehold/zookeeper.hpp>

#include <chrono>
#include <string>
#include <utility>

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_CASE(kazoo_and_this_client_wait_for_each_other)
{
    zookeeper_server server;
    const std::string url = "zookeeper://" + server.address();
    operator_session as_operator(url + "?session=60000&tick=200&timeout=10000");
    const auto contenders = [&] { return as_operator.children("/app/stock").size(); };
    peer kazoo({"env", "PYTHONPATH=" LEASEHOLD_TEST_PEERS, LEASEHOLD_TEST_PYTHON, "-B",
                LEASEHOLD_TEST_PEERS "/kazoo/peer.py", server.address(), "/app"});
    client_thread ours(make_zookeeper_store(zookeeper_config(url + "/app?tick=200")));
    // Each lock goes through the queue, not from one waiter of this client to the next.
    lock_options in_order;
    in_order.handoff_count = 0;
    for (int i = 0; i < 3; ++i) {
        taken held = ours.lock("stock", in_order);
        BOOST_TEST(!held.code);
        kazoo.start_lock("stock", 60s, 60s);
        wait_until([&] { return contenders() == 2; });
        BOOST_TEST(!kazoo.has_answered());
        auto waiting = ours.start_lock("stock", in_order); // behind kazoo
        BOOST_TEST(!ours.release(std::move(held.held)));
        BOOST_TEST_REQUIRE(kazoo.locked());
        wait_until([&] { return contenders() == 2; });
        BOOST_TEST((waiting.wait_for(0s) == std::future_status::timeout));
        BOOST_TEST(kazoo.unlock("stock"));
        taken next = get(waiting);
        BOOST_TEST(!next.code);
        BOOST_TEST(!ours.release(std::move(next.held)));
    }
}
