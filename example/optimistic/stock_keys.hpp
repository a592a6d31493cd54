#ifndef LEASEHOLD_EXAMPLE_OPTIMISTIC_STOCK_KEYS_HPP
#define LEASEHOLD_EXAMPLE_OPTIMISTIC_STOCK_KEYS_HPP

#include "optimistic/method.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/redis/connection.hpp>

#include <memory>
#include <string>

namespace example {

/// The stock in a Redis server, one key for each item. `close` deletes the keys.
class stock_keys
{
public:
    stock_keys(boost::asio::io_context& context, const std::string& url);

    boost::asio::awaitable<void> open(int items, int stock);
    boost::asio::awaitable<void> close();

    [[nodiscard]] std::string key(int item) const;

    /// Opens a connection for a trader.
    [[nodiscard]] std::shared_ptr<boost::redis::connection> connect() const;

private:
    boost::asio::io_context& context_;
    std::string url_;
    std::string prefix_;
    std::shared_ptr<boost::redis::connection> connection_; ///< Null before `open`.
    int items_ = 0;
};

/// Reads the stock of an item.
boost::asio::awaitable<int> read_stock(boost::redis::connection& from, std::string key);

/// The common part of the traders with a stock in Redis.
class redis_trader : public trader
{
public:
    explicit redis_trader(const stock_keys& of) : keys(of), connection(of.connect()) {}

    boost::asio::awaitable<void> close() override
    {
        connection->cancel();
        co_return;
    }

protected:
    const stock_keys& keys;
    std::shared_ptr<boost::redis::connection> connection;
};

/// The common part of the methods with a stock in Redis.
class redis_method : public method
{
public:
    redis_method(boost::asio::io_context& on, const std::string& server)
        : context(on), url(server), keys(on, server)
    {}

    boost::asio::awaitable<void> open(int items, int stock) override
    {
        return keys.open(items, stock);
    }
    boost::asio::awaitable<void> close() override { return keys.close(); }

protected:
    boost::asio::io_context& context;
    std::string url;
    stock_keys keys;
};

} // namespace example

#endif
