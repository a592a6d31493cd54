// leasehold: co_await is missing
#include <leasehold.hpp>

boost::asio::awaitable<void> wrong(leasehold::mutex& m)
{
    leasehold::lease held = m.async_lock();
    co_return;
}
