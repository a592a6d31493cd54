// with_lock: what the work's coroutine returns must be default-constructible
#include <leasehold.hpp>

struct number
{
    explicit number(int);
};

boost::asio::awaitable<void> wrong(leasehold::mutex& m)
{
    co_await leasehold::with_lock(m,
                                  []() -> boost::asio::awaitable<number> { co_return number(5); });
}
