// with_lock: the work must return a coroutine
#include <leasehold.hpp>

boost::asio::awaitable<void> wrong(leasehold::mutex& m)
{
    co_await leasehold::with_lock(m, [] { return 5; });
}
