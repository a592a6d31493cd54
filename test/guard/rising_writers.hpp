#ifndef LEASEHOLD_TEST_GUARD_RISING_WRITERS_HPP
#define LEASEHOLD_TEST_GUARD_RISING_WRITERS_HPP

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <string>
#include <thread>
#include <vector>

namespace leasehold::test {

/// The fences of one writer: the accepted and the refused ones.
struct written_fences
{
    std::vector<std::uint64_t> accepted;
    std::vector<std::uint64_t> refused;
    std::exception_ptr failed;
};

/// Threads that write at the same time, each with fences from one counter, so that they often
/// arrive in the wrong order. Each write is a call on an object of `Connection`:
///   bool write(std::uint64_t fence)   false: rejected as stale
///   std::uint64_t stored()            the stored fence, 0: none
///
/// Checks that the stored fence never decreases, that no fence was accepted after a larger one had
/// been seen, and that the largest is left.
/// @param connect Makes the connection of a thread.
template <class Connect>
void check_rising_writers(Connect connect, int threads, std::uint64_t writes)
{
    std::atomic<std::uint64_t> next = 0;
    std::atomic<bool> went_back = false;
    std::atomic<bool> accepted_late = false;
    std::vector<written_fences> all(static_cast<std::size_t>(threads));
    {
        std::vector<std::jthread> running;
        for (written_fences& mine : all) {
            running.emplace_back([&] {
                try {
                    auto connection = connect();
                    std::uint64_t seen = connection.stored();
                    for (;;) {
                        const std::uint64_t fence = ++next;
                        if (fence > writes)
                            break;
                        // Another thread may write in between, as after a pause of the process.
                        if (fence % 3 == 0)
                            std::this_thread::yield();
                        const std::uint64_t before = connection.stored();
                        const bool accepted = connection.write(fence);
                        (accepted ? mine.accepted : mine.refused).push_back(fence);
                        const std::uint64_t after = connection.stored();
                        if (before < seen || after < before || (accepted && after < fence))
                            went_back = true;
                        if (accepted && before > fence)
                            accepted_late = true;
                        seen = after;
                    }
                }
                catch (...) {
                    mine.failed = std::current_exception();
                }
            });
        }
    }
    std::uint64_t largest = 0;
    std::size_t answered = 0;
    for (const written_fences& one : all) {
        if (one.failed)
            std::rethrow_exception(one.failed);
        answered += one.accepted.size() + one.refused.size();
        for (const std::uint64_t fence : one.accepted)
            largest = std::max(largest, fence);
    }
    BOOST_TEST(!went_back);
    BOOST_TEST(!accepted_late);
    BOOST_TEST(answered == writes);
    BOOST_TEST(largest == writes); // no write can have rejected this fence
    BOOST_TEST(connect().stored() == writes);
}

} // namespace leasehold::test

#endif
