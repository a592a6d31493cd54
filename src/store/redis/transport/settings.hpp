#ifndef LEASEHOLD_SRC_STORE_REDIS_TRANSPORT_SETTINGS_HPP
#define LEASEHOLD_SRC_STORE_REDIS_TRANSPORT_SETTINGS_HPP

#include <leasehold/config.hpp>
#include <leasehold/detail/export.hpp>

#include <boost/asio/ssl/context.hpp>
#include <boost/redis/config.hpp>

#include <string>

namespace leasehold::redis_store {

/// How Boost.Redis is told where to connect to. Its own reconnecting is off: see
/// `reconnecting_connection`.
[[nodiscard]] LEASEHOLD_REDIS_EXPORT boost::redis::config connection_settings(
    const config& settings);

/// As a log should name it: "10.0.0.1:6379", "[::1]:6379".
[[nodiscard]] std::string name_of(const config::address& at);

/// @throws boost::system::system_error `errc::invalid_option` when the trusted certificates cannot
/// be read.
boost::asio::ssl::context tls_settings(const config& settings);

} // namespace leasehold::redis_store

#endif
