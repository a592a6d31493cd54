#ifndef LEASEHOLD_EXAMPLE_OPTIMISTIC_GETSET_METHOD_HPP
#define LEASEHOLD_EXAMPLE_OPTIMISTIC_GETSET_METHOD_HPP

#include <boost/asio/awaitable.hpp>
#include <boost/redis/connection.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace example {

/// The lock of articles from before 2012: the value of the key is the time at which the lock
/// expires, by the clock of its holder. It does not work: see `optimistic/interleaving.hpp`.
class getset_lock
{
public:
    getset_lock(boost::redis::connection& connection, std::string key)
        : connection_(connection), key_(std::move(key))
    {}

    /// One attempt at the time `now`, to hold the lock until `until`; both in milliseconds.
    boost::asio::awaitable<bool> try_lock(std::int64_t now, std::int64_t until);
    boost::asio::awaitable<void> unlock();

private:
    boost::asio::awaitable<bool> set_if_absent(std::int64_t until);
    boost::asio::awaitable<std::int64_t> expiry();
    boost::asio::awaitable<std::int64_t> replace_expiry(std::int64_t until);

    boost::redis::connection& connection_;
    std::string key_;
};

} // namespace example

#endif
