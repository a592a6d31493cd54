#ifndef LEASEHOLD_EXAMPLE_STOCK_DATA_HPP
#define LEASEHOLD_EXAMPLE_STOCK_DATA_HPP

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/redis/connection.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace example {

/// The stock, in one Redis hash: the units that are left, the units that each process sold, and the
/// largest fence that wrote. It has a connection of its own, and does not use locks.
class stock_data
{
public:
    stock_data(boost::asio::io_context& context, const std::string& url, std::string key);

    boost::asio::awaitable<void> open(int stock);
    boost::asio::awaitable<int> left();

    /// Writes the new stock and counts a sale, in one step. If a larger fence has written before,
    /// it writes nothing and returns false: the caller has lost its lock unnoticed.
    boost::asio::awaitable<bool> sell(int left, int seller, std::uint64_t fence);

    boost::asio::awaitable<std::vector<int>> sold(int sellers);
    boost::asio::awaitable<void> remove();
    void close();

private:
    std::shared_ptr<boost::redis::connection> connection_;
    std::string key_;
};

} // namespace example

#endif
