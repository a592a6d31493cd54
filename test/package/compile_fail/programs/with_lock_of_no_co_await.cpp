// WARNING: ignoring return
#include <leasehold.hpp>

boost::asio::awaitable<void> wrong(leasehold::mutex& m)
{
    leasehold::with_lock(m, []() -> boost::asio::awaitable<void> { co_return; });
    co_return;
}
