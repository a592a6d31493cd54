// with_lock: the work is no function that can be called with no argument or with a
#include <leasehold.hpp>

boost::asio::awaitable<void> wrong(leasehold::mutex& m)
{
    co_await leasehold::with_lock(
        m, [](leasehold::lease) -> boost::asio::awaitable<void> { co_return; });
}
