#ifndef LEASEHOLD_TEST_SUPPORT_MOVED_TIME_HPP
#define LEASEHOLD_TEST_SUPPORT_MOVED_TIME_HPP

#include <leasehold/clock.hpp>

#include <boost/asio/io_context.hpp>

#include <algorithm>

namespace leasehold::test {

/// Runs the ready handlers, and the due wake-ups of a clock that the test moves.
template <class Time>
void run_due(boost::asio::io_context& context, Time& time)
{
    do {
        context.restart();
        context.poll();
    } while (time.wake());
}

/// Moves the clock from one wake-up to the next, for the given time.
/// @param run Runs the due handlers: before the clock moves, at each wake-up, and at the end.
template <class Time, class Function>
void move_time(Time& time, clock::duration by, Function run)
{
    const auto end = time.now() + by;
    run();
    while (time.wake_at() <= end) {
        time.set(std::max(time.wake_at(), time.now()));
        run();
    }
    time.set(end);
    run();
}

} // namespace leasehold::test

#endif
