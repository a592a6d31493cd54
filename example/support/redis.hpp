#ifndef LEASEHOLD_EXAMPLE_REDIS_HPP
#define LEASEHOLD_EXAMPLE_REDIS_HPP

#include <leasehold/redis.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/redis/connection.hpp>

#include <memory>
#include <string>

namespace example {

/// The server of a leasehold URL, for a `boost::redis::connection` of the example's own.
boost::redis::config connection_config(const leasehold::redis_config& where);

/// Opens such a connection, which runs until it is cancelled.
std::shared_ptr<boost::redis::connection> connect(const boost::asio::any_io_executor& executor,
                                                  const leasehold::redis_config& where);

/// If the server does not answer within 5 s, throws `std::runtime_error` with advice.
boost::asio::awaitable<void> expect_server(boost::redis::connection& connection);

/// A key that no other run of an example uses: "leasehold-example:", `of`, and random digits.
std::string new_key(const std::string& of = {});

} // namespace example

#endif
