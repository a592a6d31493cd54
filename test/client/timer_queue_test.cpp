// The queue of all timers of a client.
#include <boost/test/unit_test.hpp>

#include "core/turn/timer_queue.hpp"

#include <leasehold/clock.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace {

using namespace leasehold;
using namespace std::chrono_literals;
using detail::timer_queue;

constexpr clock::time_point begin{1h};

/// Records its name when it expires.
class named final : public detail::timer
{
public:
    named(char name, std::string& to) : name_(name), to_(to) {}

    std::function<void()> then;

private:
    void expired() override
    {
        BOOST_TEST(!is_linked());
        to_ += name_;
        if (then)
            then();
    }

    char name_;
    std::string& to_;
};

struct fixture
{
    void run(clock::time_point now, std::size_t most = 100) { queue.run(now, most); }

    std::string seen;
    named a{'a', seen}, b{'b', seen}, c{'c', seen};
    timer_queue queue;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(timers, fixture)

BOOST_AUTO_TEST_CASE(timer_expires_once_when_it_is_due)
{
    BOOST_TEST((queue.next() == clock::time_point::max()));
    queue.schedule(a, begin + 2s);
    queue.schedule(b, begin + 1s);
    queue.schedule(c, begin + 3s);
    BOOST_TEST((queue.next() == begin + 1s));
    BOOST_TEST((a.due() == begin + 2s));
    run(begin + 1s - 1ns);
    BOOST_TEST(seen == "");
    run(begin + 1s);
    BOOST_TEST(seen == "b");
    BOOST_TEST((queue.next() == begin + 2s));
    run(begin + 10s);
    BOOST_TEST(seen == "bac");
    run(begin + 20s);
    BOOST_TEST(seen == "bac");
    BOOST_TEST((queue.next() == clock::time_point::max()));
}

BOOST_AUTO_TEST_CASE(timers_of_equal_time_expire_in_order_of_scheduling)
{
    for (named* each : {&b, &a, &c})
        queue.schedule(*each, begin);
    queue.schedule(b, begin); // already scheduled, so it keeps its position
    run(begin);
    BOOST_TEST(seen == "bac");
}

BOOST_AUTO_TEST_CASE(rescheduled_timer_expires_at_its_new_time_only)
{
    queue.schedule(a, begin + 1s);
    queue.schedule(b, begin + 2s);
    queue.schedule(a, begin + 3s);
    BOOST_TEST((queue.next() == begin + 2s));
    run(begin + 2s);
    BOOST_TEST(seen == "b");
    queue.schedule(a, begin + 1s); // rescheduled to an earlier time
    run(begin + 2s);
    BOOST_TEST(seen == "ba");
    run(begin + 3s);
    BOOST_TEST(seen == "ba");
}

BOOST_AUTO_TEST_CASE(number_of_expired_timers_per_run_is_limited)
{
    for (named* each : {&a, &b, &c})
        queue.schedule(*each, begin);
    run(begin, 0);
    BOOST_TEST(seen == "");
    run(begin, 2);
    BOOST_TEST(seen == "ab");
    run(begin, 2);
    BOOST_TEST(seen == "abc");
}

BOOST_AUTO_TEST_CASE(cancelled_cleared_or_destroyed_timer_does_not_expire)
{
    queue.schedule(a, begin);
    queue.schedule(b, begin);
    timer_queue::cancel(a);
    timer_queue::cancel(a);
    BOOST_TEST((queue.next() == begin));
    {
        named d('d', seen);
        queue.schedule(d, begin - 1s);
        BOOST_TEST((queue.next() == begin - 1s));
    }
    BOOST_TEST((queue.next() == begin));
    queue.schedule(c, begin);
    queue.clear();
    BOOST_TEST((queue.next() == clock::time_point::max()));
    BOOST_TEST(!b.is_linked());
    run(begin);
    BOOST_TEST(seen == "");
    queue.schedule(b, begin);
    run(begin);
    BOOST_TEST(seen == "b");
}

BOOST_AUTO_TEST_CASE(expiring_timer_can_change_other_timers)
{
    queue.schedule(a, begin);
    queue.schedule(b, begin);
    a.then = [&] {
        timer_queue::cancel(b);
        queue.schedule(c, begin);
        queue.schedule(a, begin + 1s);
    };
    run(begin);
    BOOST_TEST(seen == "ac");
    BOOST_TEST((queue.next() == begin + 1s));
}

BOOST_AUTO_TEST_SUITE_END()
