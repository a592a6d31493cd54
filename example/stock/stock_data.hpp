#ifndef LEASEHOLD_EXAMPLE_STOCK_DATA_HPP
#define LEASEHOLD_EXAMPLE_STOCK_DATA_HPP

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace example {

/// The stock, in Redis, a database, ZooKeeper or etcd: the units that are left, the units that each
/// process sold, and the largest fence that wrote. It has a connection of its own, and does not use
/// locks.
class stock_data
{
public:
    virtual ~stock_data() = default;

    /// Waits for the server.
    virtual boost::asio::awaitable<void> connect() = 0;
    /// Creates the stock.
    virtual boost::asio::awaitable<void> open(int stock) = 0;
    virtual boost::asio::awaitable<int> left() = 0;

    /// Writes the new stock and counts a sale, in one step. If a larger fence has written before,
    /// it writes nothing and returns false: the caller has lost its lock unnoticed.
    virtual boost::asio::awaitable<bool> sell(int left, int seller, std::uint64_t fence) = 0;

    virtual boost::asio::awaitable<std::vector<int>> sold(int sellers) = 0;
    virtual boost::asio::awaitable<void> remove() = 0;
    virtual void close() = 0;
};

std::unique_ptr<stock_data> make_redis_stock(boost::asio::io_context& context,
                                             const std::string& url, std::string key);

/// Also installs the tables and functions of the locks, as `leasehold schema | psql` does.
std::unique_ptr<stock_data> make_postgres_stock(boost::asio::io_context& context,
                                                const std::string& url, std::string key);

/// The same, as `leasehold schema --mysql | mysql` does.
std::unique_ptr<stock_data> make_mysql_stock(boost::asio::io_context& context,
                                             const std::string& url, std::string key);

std::unique_ptr<stock_data> make_zookeeper_stock(boost::asio::io_context& context,
                                                 const std::string& url, std::string key);

std::unique_ptr<stock_data> make_etcd_stock(boost::asio::io_context& context,
                                            const std::string& url, std::string key);

/// In the store that the URL names.
inline std::unique_ptr<stock_data> make_stock(boost::asio::io_context& context,
                                              const std::string& url, std::string key)
{
    if (url.starts_with("postgres"))
        return make_postgres_stock(context, url, std::move(key));
    if (url.starts_with("mysql") || url.starts_with("mariadb"))
        return make_mysql_stock(context, url, std::move(key));
    if (url.starts_with("zookeeper"))
        return make_zookeeper_stock(context, url, std::move(key));
    if (url.starts_with("etcd"))
        return make_etcd_stock(context, url, std::move(key));
    return make_redis_stock(context, url, std::move(key));
}

} // namespace example

#endif
