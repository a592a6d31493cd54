// A program of a user that links the simulator with all its dependencies.
#include <leasehold.hpp>
#include <leasehold/testing/host.hpp>
#include <leasehold/testing/server.hpp>
#include <leasehold/testing/world.hpp>

#include <boost/asio/detached.hpp>

#include <chrono>
#include <iostream>

namespace asio = boost::asio;
namespace testing = leasehold::testing;

int main()
{
    testing::world world(1);
    testing::server& server = world.make_server();
    testing::host& host = world.make_host("a");
    leasehold::client locks = host.make_client(server);
    locks.async_run(asio::detached);

    const leasehold::mutex door(locks, "door");
    leasehold::lease held;
    door.async_lock([&](leasehold::error_code, leasehold::lease got) { held = std::move(got); });
    world.run_for(std::chrono::seconds(1));
    const bool passed = held.valid();
    std::cout << (passed ? "held\n" : "not held\n");
    return passed ? 0 : 1;
}
