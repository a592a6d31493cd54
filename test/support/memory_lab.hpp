#ifndef LEASEHOLD_TEST_SUPPORT_MEMORY_LAB_HPP
#define LEASEHOLD_TEST_SUPPORT_MEMORY_LAB_HPP

#include "support/completion.hpp"
#include "support/print.hpp"
#include "support/run.hpp"

#include <leasehold/client.hpp>
#include <leasehold/lease.hpp>
#include <leasehold/memory.hpp>
#include <leasehold/mutex.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <memory>
#include <stdexcept>
#include <utility>

namespace leasehold::test {

using locking = completion<error_code, lease>;
using ending = completion<error_code>;

/// Clients of locks in memory, all on one context and one thread.
class memory_lab
{
public:
    std::unique_ptr<client> make_client(std::shared_ptr<observer> watching = {})
    {
        auto made = std::make_unique<client>(context, make_memory_store(space),
                                             std::move(watching));
        made->async_run(asio::detached);
        return made;
    }

    /// Runs the context until `done()`.
    template <class Predicate>
    void until(Predicate done)
    {
        run_until(context, std::move(done));
    }

    /// Runs the handlers that are ready now.
    void poll()
    {
        context.restart();
        context.poll();
    }

    lease take(const mutex& m)
    {
        locking op(context.get_executor());
        op.start([&](auto handler) { m.async_lock(std::move(handler)); });
        until([&] { return op.done(); });
        if (op.value<0>())
            throw boost::system::system_error(op.value<0>(), "take");
        return std::move(op.value<1>());
    }

    error_code release(lease held)
    {
        ending op(context.get_executor());
        op.start([&](auto handler) { held.async_release(std::move(handler)); });
        until([&] { return op.done(); });
        return op.value<0>();
    }

    /// Waits until there is no lock, no waiter and no release.
    void until_idle(const client& c)
    {
        until([&] {
            const client_stats now = c.stats();
            return now.held == 0 && now.waiting == 0 && now.orphans == 0 && space->size() == 0;
        });
    }

    asio::io_context context;
    std::shared_ptr<memory_space> space = std::make_shared<memory_space>();
};

} // namespace leasehold::test

#endif
