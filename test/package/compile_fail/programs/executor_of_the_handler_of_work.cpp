// with_lock: the handler's executor cannot run the work
#include <leasehold.hpp>

#include <boost/asio/any_completion_handler.hpp>

void wrong(leasehold::mutex& m,
           boost::asio::any_completion_handler<void(std::exception_ptr)> handler)
{
    leasehold::with_lock(
        m, []() -> boost::asio::awaitable<void> { co_return; }, std::move(handler));
}
