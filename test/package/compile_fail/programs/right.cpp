// NOTHING
#include <leasehold.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace asio = boost::asio;

asio::awaitable<int> right(leasehold::client& locks, leasehold::mutex& m,
                           const leasehold::owner& holder)
{
    locks.async_run(asio::detached);
    m.async_lock([](leasehold::error_code, leasehold::lease) {});
    leasehold::lease first = co_await m.async_lock();
    leasehold::lease second = co_await m.with_owner(holder).async_lock();
    leasehold::lease third =
        co_await m.with_owner(first.share_owner()).async_lock(asio::use_awaitable);
    leasehold::lease fourth = co_await m.async_try_lock_for(std::chrono::duration<double>(0.5));
    leasehold::lease fifth = co_await m.async_try_lock_until(leasehold::clock::time_point::max());
    first.async_wait_lost([](leasehold::error_code) {});
    co_await first.async_release();
    leasehold::with_lock(m, [](auto& held) { return held.async_wait_lost(); }, asio::detached);
    co_return co_await leasehold::with_lock(
        m, [](leasehold::lease&) -> asio::awaitable<int> { co_return 5; });
}
