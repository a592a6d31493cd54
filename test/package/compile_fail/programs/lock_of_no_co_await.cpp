// WARNING: ignoring return
#include <leasehold.hpp>

boost::asio::awaitable<void> wrong(leasehold::mutex& m)
{
    m.async_lock();
    co_return;
}
