// If the store throws where it must not, the state of the client is unknown, so the client ends.
#include <boost/test/unit_test.hpp>

#include "support/core_checks.hpp"

#include <memory>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;

namespace {

/// Forwards all calls to a store of the test, or fails.
class throwing_store final : public store
{
public:
    explicit throwing_store(std::shared_ptr<fake_store> to) : to_(std::move(to)) {}

    void open(const asio::any_io_executor& strand, store_listener& listener) override
    {
        to_->open(strand, listener);
    }
    void close() override { to_->close(); }
    void async_acquire(const acquire_request& request, acquire_handler handler) override
    {
        if (fails)
            throw std::runtime_error("what no store may do");
        to_->async_acquire(request, std::move(handler));
    }
    void async_renew(std::span<const renewal> renewals, renew_handler handler) override
    {
        to_->async_renew(renewals, std::move(handler));
    }
    void async_release(const release_request& request, release_handler handler) override
    {
        to_->async_release(request, std::move(handler));
    }
    void watch(std::string_view name) override { to_->watch(name); }
    void unwatch(std::string_view name) override { to_->unwatch(name); }

    bool fails = false;

private:
    const std::shared_ptr<fake_store> to_;
};

struct failing_fixture : core_fixture
{
    failing_fixture() : core_fixture(false)
    {
        core = detail::client_state::make(context.get_executor(), throws, nullptr,
                                          time.make_source());
        run();
        connect();
    }

    std::shared_ptr<throwing_store> throws = std::make_shared<throwing_store>(store);
};

} // namespace

BOOST_AUTO_TEST_SUITE(core_throwing_store)

BOOST_AUTO_TEST_CASE(throwing_store_ends_all_operations_and_stops_all_requests)
{
    failing_fixture e;
    lease held = e.taken(e.spec("held"));
    const auto lost = e.wait_lost(held);
    const auto waits = e.lock("waited for");
    e.say_held();
    const auto reenters = e.lock(e.spec("held"), clock::duration::max(),
                                 owner("5e0f8c21-3a1c-4a50-9cd4-0b8a5d4e7f10:17", 42));
    const auto releases = e.release(e.taken(e.spec("released")));
    const auto calls = [&] {
        return e.store->acquire_count() + e.store->renew_count() + e.store->release_count();
    };
    const auto before = calls();

    e.throws->fails = true;
    const auto fails = e.make<core_fixture::locking>();
    fails->start([&](auto handler) { e.async_lock(e.spec("fails"), std::move(handler)); });
    BOOST_CHECK_THROW(e.poll(), std::runtime_error);
    e.throws->fails = false;
    e.poll();

    for (const auto& each : {waits, reenters, fails}) {
        BOOST_TEST_REQUIRE(each->done());
        BOOST_TEST(code(*each) == errc::shut_down);
    }
    BOOST_TEST_REQUIRE(lost->done());
    BOOST_TEST(code(*lost) == errc::shut_down);
    BOOST_TEST_REQUIRE(releases->done());
    BOOST_TEST(code(*releases));
    BOOST_TEST_REQUIRE(e.running.done());
    BOOST_TEST(code(e.running) == errc::shut_down);
    BOOST_TEST(!held.valid());
    BOOST_TEST(e.store->is_closed());
    check_idle(e);
    BOOST_TEST(e.stats().watched == 0u);

    // No new operation starts.
    BOOST_TEST(code(*e.lock("later")) == errc::shut_down);
    BOOST_TEST(code(*e.release(std::move(held))) == errc::shut_down);
    core_fixture::waiting again(e.context.get_executor());
    again.start([&](auto handler) { e.async_run(std::move(handler)); });
    e.poll();
    BOOST_TEST(code(again) == errc::shut_down);
    BOOST_TEST(code(*e.shutdown()) == errc::store_unavailable);
    e.advance(60s);
    BOOST_TEST(calls() == before);
    BOOST_TEST((e.time.wake_at() == clock::time_point::max()));
}

BOOST_AUTO_TEST_CASE(throwing_store_fails_an_outstanding_shutdown)
{
    failing_fixture e;
    const lease held = e.taken(e.spec("held"));
    const auto waits = e.lock("waited for");
    e.say_held(100ms);
    e.throws->fails = true;
    const auto done = e.make<core_fixture::waiting>();
    BOOST_CHECK_THROW(e.advance(1s), std::runtime_error); // it polls
    done->start([&](auto handler) { e.async_shutdown(std::move(handler)); });
    e.poll();
    BOOST_TEST(code(*done) == errc::store_unavailable);
    BOOST_TEST(code(*waits) == errc::shut_down);
    BOOST_TEST(!held.valid());
}

BOOST_AUTO_TEST_SUITE_END()
