// with_lock: the work is an operation that exists already
#include <leasehold.hpp>

boost::asio::awaitable<void> work();

boost::asio::awaitable<void> wrong(leasehold::mutex& m)
{
    co_await leasehold::with_lock(m, work());
}
