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

/// The stock, in one Redis hash: what is left, what each process sold, and the newest fence that
/// wrote. It has a connection of its own and knows nothing of locks but the fence.
class stock_data
{
public:
    stock_data(boost::asio::io_context& context, const std::string& url, std::string key);

    boost::asio::awaitable<void> open(int stock);
    boost::asio::awaitable<int> left();

    /// Writes what is left and counts a sale, in one step. False, and nothing is written, when a
    /// newer fence has written already: the caller lost its lock and does not know it yet.
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
