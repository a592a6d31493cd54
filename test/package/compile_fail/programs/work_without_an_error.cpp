// with_lock: the operation that the work returns must complete with an error_code
#include <leasehold.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

void wrong(leasehold::mutex& m, boost::asio::any_io_executor executor)
{
    leasehold::with_lock(
        m, [executor] { return boost::asio::post(executor, boost::asio::deferred); },
        boost::asio::detached);
}
