#ifndef LEASEHOLD_EXAMPLE_REDIS_HPP
#define LEASEHOLD_EXAMPLE_REDIS_HPP

#include <leasehold/config.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/redis/connection.hpp>

#include <memory>
#include <string>

namespace example {

/// The server of a leasehold URL, for a `boost::redis::connection` of the example's own.
boost::redis::config redis_config(const leasehold::config& where);

/// Such a connection, running until it is cancelled.
std::shared_ptr<boost::redis::connection> connect(const boost::asio::any_io_executor& executor,
                                                  const leasehold::config& where);

/// Throws `std::runtime_error` that says what to do when the server does not answer within 5 s.
boost::asio::awaitable<void> expect_server(boost::redis::connection& connection);

/// A key that no other run of an example has: "leasehold-example:", what is given, and some digits.
std::string new_key(const std::string& of = {});

} // namespace example

#endif
