// with_lock: the executor of the work's coroutine must be one
#include <leasehold.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

namespace asio = boost::asio;

void wrong(leasehold::mutex& m)
{
    leasehold::with_lock(
        m, []() -> asio::awaitable<void, asio::io_context::executor_type> { co_return; },
        asio::detached);
}
