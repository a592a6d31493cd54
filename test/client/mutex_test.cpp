// How a mutex fits its options to the features of the store, the limits of its operations, and
// handles with an owner.
#include <boost/test/unit_test.hpp>

#include "support/completion.hpp"
#include "support/fake_store.hpp"
#include "support/memory_lab.hpp"

#include <leasehold/client.hpp>
#include <leasehold/clock.hpp>
#include <leasehold/error.hpp>
#include <leasehold/lease.hpp>
#include <leasehold/mutex.hpp>
#include <leasehold/options.hpp>
#include <leasehold/owner.hpp>
#include <leasehold/store.hpp>

#include <boost/asio/cancel_after.hpp>
#include <boost/asio/compose.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/system_error.hpp>

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <ratio>
#include <string>
#include <utility>

namespace {

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;

/// The client of a store with these features.
struct of_a_store
{
    explicit of_a_store(const store_traits& can) { known->can = can; }

    lock_options fitted(const lock_options& wanted)
    {
        return mutex(locks(), "a", wanted).options();
    }

    /// The reason for the rejection.
    std::string refusal(const lock_options& wanted)
    {
        try {
            fitted(wanted);
        }
        catch (const boost::system::system_error& failed) {
            BOOST_TEST((failed.code() == errc::not_supported));
            return failed.what();
        }
        return "not refused";
    }

    client& locks()
    {
        if (!made)
            made = std::make_unique<client>(context, known);
        return *made;
    }

    boost::asio::io_context context;
    std::shared_ptr<fake_store> known = std::make_shared<fake_store>();
    std::unique_ptr<client> made;
};

/// Acquires the lock of its member mutex, and passes itself on as the handler.
struct taking
{
    mutex member;

    template <class Self>
    void operator()(Self& self)
    {
        member.async_lock(boost::asio::cancel_after(10s, std::move(self)));
    }

    template <class Self>
    void operator()(Self& self, error_code failed, lease taken)
    {
        self.complete(failed, std::move(taken));
    }
};

/// The result of one try.
error_code try_once(memory_lab& lab, const mutex& m, lease& held)
{
    locking op(lab.context.get_executor());
    op.start([&](auto handler) { m.async_try_lock(std::move(handler)); });
    lab.until([&] { return op.done(); });
    held = std::move(op.value<1>());
    return op.value<0>();
}

bool says(const std::string& text, const std::string& words)
{
    return text.find(words) != std::string::npos;
}

} // namespace

BOOST_AUTO_TEST_SUITE(mutexes)

BOOST_AUTO_TEST_CASE(lease_time_is_rounded_up_to_the_grain_of_the_store)
{
    of_a_store seconds({.grain = 1000ms});
    of_a_store exact({});
    for (const auto& [wanted, rounded] :
         {std::pair(1000ms, 1000ms), std::pair(1001ms, 2000ms), std::pair(1999ms, 2000ms),
          std::pair(2000ms, 2000ms), std::pair(500ms, 1000ms)}) {
        BOOST_TEST((seconds.fitted({.lease_time = wanted}).lease_time == rounded));
        BOOST_TEST((exact.fitted({.lease_time = wanted}).lease_time == wanted));
    }
}

BOOST_AUTO_TEST_CASE(lease_time_below_the_smallest_of_the_store_is_rejected)
{
    of_a_store slow({.smallest_lease = 2000ms});
    BOOST_TEST((slow.fitted({.lease_time = 2000ms}).lease_time == 2000ms));
    const std::string why = slow.refusal({.lease_time = 1999ms});
    BOOST_TEST(says(why, "lease_time"), why);
    BOOST_TEST(says(why, "1999 ms"), why);
    BOOST_TEST(says(why, "at least 2000 ms"), why);
}

BOOST_AUTO_TEST_CASE(option_that_the_store_does_not_support_is_rejected)
{
    of_a_store plain({});
    of_a_store rich({.replica_acks = true, .dead_holder_grace = true});
    const lock_options acknowledged{.replica_acks = 2};
    const lock_options promised{.dead_holder_grace = 1500ms};
    BOOST_TEST(says(plain.refusal(acknowledged), "replica_acks: 2; allowed: 0"));
    BOOST_TEST(says(plain.refusal(promised), "dead_holder_grace: 1500 ms; allowed: 0"));
    BOOST_TEST(rich.fitted(acknowledged).replica_acks == 2u);
    BOOST_TEST((rich.fitted(promised).dead_holder_grace == 1500ms));
}

BOOST_FIXTURE_TEST_CASE(try_lock_until_times_out_at_its_time_point, memory_lab)
{
    const auto holder = make_client(), waiter = make_client();
    lease held = take(mutex(*holder, "a"));
    const mutex m(*waiter, "a");
    const auto ends = [&](clock::time_point when) {
        locking op(context.get_executor());
        op.start([&](auto handler) { m.async_try_lock_until(when, std::move(handler)); });
        until([&] { return op.done(); });
        return op.value<0>();
    };
    for (const auto past : {clock::time_point::min(), clock::now() - 1h, clock::now()})
        BOOST_TEST((ends(past) == errc::held)); // a single try
    const auto soon = clock::now() + 30ms;
    BOOST_TEST((ends(soon) == errc::timed_out));
    BOOST_TEST((clock::now() >= soon));
    locking patient(context.get_executor());
    patient.start([&](auto handler) {
        m.async_try_lock_until(clock::time_point::max(), std::move(handler));
    });
    until([&] { return waiter->stats().waiting == 1; });
    BOOST_TEST(release(std::move(held)) == error_code());
    until([&] { return patient.done(); });
    BOOST_TEST(!patient.value<0>());
}

BOOST_FIXTURE_TEST_CASE(moved_from_mutex_stays_valid, memory_lab)
{
    const auto user = make_client();
    mutex first(*user, "a");
    mutex second(std::move(first));
    BOOST_TEST(first.name() == "a");
    BOOST_TEST(release(take(first)) == error_code());
    mutex third(*user, "b");
    third = std::move(second);
    BOOST_TEST(release(take(second)) == error_code());
    BOOST_TEST(release(take(third)) == error_code());
}

BOOST_FIXTURE_TEST_CASE(copy_of_a_handle_keeps_its_owner, memory_lab)
{
    const auto user = make_client(), other = make_client();
    const mutex m(*user, "a", {.lease_time = 5s});
    lease held = take(m);
    const mutex reentrant = mutex(*other, "a").with_owner(held.share_owner());
    BOOST_TEST(reentrant.name() == "a");
    const mutex copy(reentrant);
    mutex assigned(*user, "b");
    assigned = reentrant;
    mutex source(reentrant);
    const mutex moved(std::move(source));
    for (const mutex& each : {reentrant, copy, assigned, source, moved}) {
        lease inner;
        BOOST_TEST(try_once(*this, each, inner) == error_code());
        BOOST_TEST(inner.fence() == held.fence());
        BOOST_TEST(release(std::move(inner)) == error_code());
    }
    BOOST_TEST(release(std::move(held)) == error_code());
}

BOOST_FIXTURE_TEST_CASE(with_owner_keeps_the_options_and_does_not_change_the_handle, memory_lab)
{
    const auto user = make_client();
    const mutex m(*user, "a", {.lease_time = 5s, .wait_limit = 70ms});
    lease held = take(m);
    const mutex reentrant = m.with_owner(held.share_owner());
    BOOST_TEST((reentrant.options().lease_time == 5s));
    BOOST_TEST((reentrant.options().wait_limit == 70ms));
    lease none;
    BOOST_TEST(try_once(*this, m, none) == errc::held);
    BOOST_TEST(release(std::move(held)) == error_code());
    // The handle does not hold the lock, and does not acquire it for an owner that has released it.
    BOOST_TEST(try_once(*this, reentrant, none) == errc::lost);
}

BOOST_FIXTURE_TEST_CASE(with_owner_replaces_the_owner_of_a_handle, memory_lab)
{
    const auto user = make_client();
    const mutex m(*user, "a");
    lease held = take(m);
    const mutex lost = m.with_owner(owner("11111111-1111-1111-1111-111111111111:1", 1));
    const mutex reentrant = lost.with_owner(held.share_owner());
    lease inner;
    BOOST_TEST(try_once(*this, lost, inner) == errc::lost);
    BOOST_TEST(try_once(*this, reentrant, inner) == error_code());
    BOOST_TEST(inner.fence() == held.fence());
    BOOST_TEST(release(std::move(inner)) == error_code());
    BOOST_TEST(release(std::move(held)) == error_code());
}

BOOST_AUTO_TEST_CASE(wait_limit_of_any_duration_type_is_rounded_up_and_saturates)
{
    using detail::saturated;
    using std::chrono::duration;
    constexpr auto longest = clock::duration::max();
    constexpr double infinity = std::numeric_limits<double>::infinity();
    BOOST_TEST((saturated(0ms) == 0ns));
    BOOST_TEST((saturated(-1ns) == 0ns));
    BOOST_TEST((saturated(std::chrono::hours::min()) == 0ns));
    BOOST_TEST((saturated(duration<double>(-infinity)) == 0ns));
    BOOST_TEST((saturated(duration<double>(std::numeric_limits<double>::quiet_NaN())) == 0ns));

    BOOST_TEST((saturated(1ns) == 1ns));
    BOOST_TEST((saturated(17ms) == 17ms));
    BOOST_TEST((saturated(duration<unsigned, std::milli>(17)) == 17ms));
    BOOST_TEST((saturated(200h * 24 * 365) == 200h * 24 * 365));
    BOOST_TEST((saturated(duration<double>(0.25)) == 250ms));
    BOOST_TEST((saturated(duration<double, std::nano>(0.01)) == 1ns));
    BOOST_TEST((saturated(duration<std::int64_t, std::pico>(1)) == 1ns));
    BOOST_TEST((saturated(duration<std::int64_t, std::pico>(2001)) == 3ns));
    BOOST_TEST((saturated(duration<std::int64_t, std::ratio<1, 60>>(1)) == 16'666'667ns));

    BOOST_TEST((saturated(longest) == longest));
    BOOST_TEST((saturated(no_limit) == longest));
    BOOST_TEST((saturated(std::chrono::hours::max()) == longest));
    BOOST_TEST((saturated(std::chrono::years(300)) == longest));
    BOOST_TEST((saturated(duration<double>(infinity)) == longest));
    BOOST_TEST((saturated(duration<double, std::nano>(9.3e18)) == longest));

    using seconds = std::chrono::time_point<leasehold::clock, std::chrono::seconds>;
    BOOST_TEST((saturated(seconds(17s)) == clock::time_point(17s)));
    BOOST_TEST((saturated(seconds::min()) == clock::time_point()));
    BOOST_TEST((saturated(seconds::max()) == clock::time_point::max()));
    BOOST_TEST((saturated(clock::time_point::max()) == clock::time_point::max()));
}

BOOST_FIXTURE_TEST_CASE(try_lock_for_accepts_any_duration_type, memory_lab)
{
    const auto holder = make_client(), waiter = make_client();
    lease held = take(mutex(*holder, "a"));
    const mutex m(*waiter, "a");
    const auto ends = [&](auto limit) {
        locking op(context.get_executor());
        op.start([&](auto handler) { m.async_try_lock_for(limit, std::move(handler)); });
        until([&] { return op.done(); });
        return op.value<0>();
    };
    BOOST_TEST((ends(0h) == errc::held));
    BOOST_TEST((ends(std::chrono::duration<double>(-1)) == errc::held));
    BOOST_TEST((ends(std::chrono::duration<float, std::milli>(2.5F)) == errc::timed_out));
    locking patient(context.get_executor());
    patient.start(
        [&](auto handler) { m.async_try_lock_for(std::chrono::hours::max(), std::move(handler)); });
    until([&] { return waiter->stats().waiting == 1; });
    BOOST_TEST(release(std::move(held)) == error_code());
    until([&] { return patient.done(); });
    BOOST_TEST(!patient.value<0>());
}

BOOST_FIXTURE_TEST_CASE(composed_operation_can_be_moved_while_it_uses_its_mutex, memory_lab)
{
    const auto user = make_client();
    locking op(context.get_executor());
    op.start([&](auto handler) {
        boost::asio::async_compose<decltype(handler), void(error_code, lease)>(
            taking{mutex(*user, "a")}, handler, context);
    });
    until([&] { return op.done(); });
    BOOST_TEST(!op.value<0>());
    BOOST_TEST(op.value<1>().valid());
}

BOOST_AUTO_TEST_SUITE_END()
