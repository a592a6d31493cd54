#ifndef LEASEHOLD_TEST_GUARD_ZOMBIE_HPP
#define LEASEHOLD_TEST_GUARD_ZOMBIE_HPP

#include "support/run.hpp"

#include <leasehold/client.hpp>
#include <leasehold/lease.hpp>
#include <leasehold/memory.hpp>
#include <leasehold/mutex.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

namespace leasehold::test {

/// One lock and three successive holders. The first two were stopped past their leases and do not
/// know it: none of their code runs, neither a renewal nor the report of the loss, until they
/// write. Each behaves like a stopped process.
class zombies
{
public:
    zombies()
    {
        BOOST_TEST_REQUIRE(first_.held.fence() < second_.held.fence());
        BOOST_TEST_REQUIRE(second_.held.fence() < holder_.held.fence());
    }

    [[nodiscard]] std::uint64_t first() const { return first_.held.fence(); }
    [[nodiscard]] std::uint64_t second() const { return second_.held.fence(); }
    /// The fence of the only current holder.
    [[nodiscard]] std::uint64_t holder() const { return holder_.held.fence(); }

private:
    struct process
    {
        process(const std::shared_ptr<memory_space>& space, bool stops)
            : locks(context, make_memory_store(space))
        {
            locks.async_run(boost::asio::detached);
            const lock_options options{
                .lease_time = std::chrono::milliseconds(stops ? 100 : 60'000)};
            bool done = false;
            // Waits until the previous lease has expired.
            mutex(locks, "written by one", options).async_lock([&](error_code failed, lease got) {
                BOOST_TEST_REQUIRE(!failed);
                held = std::move(got);
                done = true;
            });
            run_until(context, [&] { return done; });
        }

        boost::asio::io_context context{1}; // does not run any more
        client locks;
        lease held;
    };

    std::shared_ptr<memory_space> space_ = std::make_shared<memory_space>();
    process first_{space_, true};
    process second_{space_, true};
    process holder_{space_, false};
};

} // namespace leasehold::test

#endif
