// with_lock: the work must return a coroutine
#include <leasehold.hpp>

#include <boost/asio/detached.hpp>

void wrong(leasehold::mutex& m)
{
    leasehold::with_lock(m, [](leasehold::lease&) {}, boost::asio::detached);
}
