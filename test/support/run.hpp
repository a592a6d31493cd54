#ifndef LEASEHOLD_TEST_SUPPORT_RUN_HPP
#define LEASEHOLD_TEST_SUPPORT_RUN_HPP

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <stdexcept>

namespace leasehold::test {

/// Runs handlers of `context` on this thread until `done()` is true, and no further. Waits even if
/// there is nothing to run, because another thread may post work. Throws `std::runtime_error` after
/// `limit`: a lost completion ends the test instead of hanging it.
template <class Predicate>
void run_until(boost::asio::io_context& context, Predicate done,
               std::chrono::milliseconds limit = std::chrono::seconds(10))
{
    const auto work = boost::asio::make_work_guard(context);
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!done()) {
        context.restart();
        if (context.run_one_until(end) == 0 && std::chrono::steady_clock::now() >= end)
            throw std::runtime_error("run_until: it did not happen in time");
    }
}

} // namespace leasehold::test

#endif
