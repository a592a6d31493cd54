// with_lock: the handler must take what the work ends with
#include <leasehold.hpp>

void wrong(leasehold::mutex& m)
{
    leasehold::with_lock(
        m, []() -> boost::asio::awaitable<void> { co_return; }, [](leasehold::error_code) {});
}
