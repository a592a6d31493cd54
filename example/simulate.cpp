// A payment that must not be made twice, tested in the simulator. Two processes settle the same
// invoice under a lock. Processes are stopped, connections break, and the lock server loses its
// data. Without the fence, a run pays twice, and its timeline shows how. With the fence, none does.
#include "support/arguments.hpp"

#include <leasehold.hpp>
#include <leasehold/testing/world.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>

namespace asio = boost::asio;
namespace testing = leasehold::testing;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t no_fence = 0;

/// The books of a bank, which are never lost. It rejects a fence smaller than the largest it has
/// seen.
class bank
{
public:
    /// Returns whether the invoice is unpaid, and rejects smaller fences from now on.
    bool wants_payment(std::uint64_t fence)
    {
        newest_ = std::max(newest_, fence);
        return payments_ == 0;
    }

    bool pay(std::uint64_t fence)
    {
        if (fence < newest_)
            return false;
        ++payments_;
        return true;
    }

    int payments() const { return payments_; }

private:
    std::uint64_t newest_ = no_fence;
    int payments_ = 0;
};

asio::awaitable<void> pass(testing::host& here, std::chrono::milliseconds how_long)
{
    testing::timer timer(here);
    timer.expires_after(how_long);
    co_await timer.async_wait();
}

// [code]
/// The code under test. In production it is the same, with other timers.
asio::awaitable<void> settle(testing::world& world, testing::host& here, leasehold::client& locks,
                             bank& books, bool fenced)
{
    const leasehold::mutex invoice(locks, "invoice:4711", {.lease_time = 2s});
    for (bool open = true; open;) {
        leasehold::lease lease = co_await invoice.async_lock();
        const std::uint64_t fence = fenced ? lease.fence() : no_fence;
        open = books.wants_payment(fence);
        if (open) {
            co_await pass(here, 200ms); // prepares the payment
            // This check is not enough: the process may be paused between it and the payment.
            if (lease.valid()) {
                co_await pass(here, 20ms);
                const bool paid = books.pay(fence);
                world.note(here.name() +
                           (paid ? " PAYS" : " is rejected by the bank: its fence is too old"));
            }
        }
        leasehold::error_code ended;
        co_await lease.async_release(
            asio::redirect_error(asio::deferred, ended)); // a loss needs no reaction here
    }
}
// [/code]

// [faults]
/// Injects a fault that the seed selects.
void inject_fault(testing::world& world, testing::server& server, testing::host& victim)
{
    const auto when = std::chrono::milliseconds(world.random(400));
    const auto how_long = std::chrono::milliseconds(1 + world.random(5'000));
    switch (world.random(4)) {
    case 0: world.after(when, [&victim, how_long] { victim.pause(how_long); }); break;
    case 1:
        world.after(when,
                    [&victim, how_long] { victim.cut_off(testing::direction::both, how_long); });
        break;
    case 2:
        world.after(when, [&server] { server.restart(testing::server::data::lost, 50ms); });
        break;
    default: break;
    }
}
// [/faults]

// [run]
/// Returns the number of payments of the invoice.
int run(int seed, bool fenced, bool trace)
{
    testing::world world(static_cast<std::uint64_t>(seed));
    if (trace)
        world.on_trace([](std::string_view line) { std::cout << "  " << line << '\n'; });
    testing::server& server = world.make_server("redis");
    testing::host& a = world.make_host("a");
    testing::host& b = world.make_host("b");
    leasehold::client of_a = a.make_client(server);
    leasehold::client of_b = b.make_client(server);
    of_a.async_run(asio::detached);
    of_b.async_run(asio::detached);
    bank books;
    asio::co_spawn(a, settle(world, a, of_a, books, fenced), asio::detached);
    asio::co_spawn(b, settle(world, b, of_b, books, fenced), asio::detached);
    inject_fault(world, server, a);
    inject_fault(world, server, b);
    world.run_for(30s);
    return books.payments();
}
// [/run]

} // namespace

int main(int argc, char** argv)
try {
    int seeds = 2'000;
    example::arguments line(
        "Tests a payment that must not be made twice against lost leases, in a simulated world.");
    line.number("--seeds", seeds, 1, 10'000'000, "number of simulated worlds");
    line.parse(argc, argv);

    int found = 0;
    for (int seed = 1; seed <= seeds && found == 0; ++seed)
        if (run(seed, false, false) > 1)
            found = seed;
    if (found == 0) {
        std::cout << "without the fence: no double payment in " << seeds << " worlds; try more\n";
        return 1;
    }
    std::cout << "without the fence: paid twice in world " << found << ":\n";
    run(found, false, true);

    int doubled = 0;
    int settled = 0;
    for (int seed = 1; seed <= seeds; ++seed) {
        const int payments = run(seed, true, false);
        doubled += payments > 1 ? 1 : 0;
        settled += payments == 1 ? 1 : 0;
    }
    std::cout << "\nwith the fence: paid once in " << settled << " of " << seeds
              << " worlds, twice in " << doubled << '\n';
    return doubled == 0 && settled == seeds ? 0 : 1;
}
catch (const std::exception& failure) {
    std::cerr << "error: " << failure.what() << '\n';
    return 1;
}
