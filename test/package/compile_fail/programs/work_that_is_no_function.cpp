// with_lock: the work is no function that can be called with no argument or with a
#include <leasehold.hpp>

#include <boost/asio/detached.hpp>

void wrong(leasehold::mutex& m)
{
    leasehold::with_lock(m, 5, boost::asio::detached);
}
