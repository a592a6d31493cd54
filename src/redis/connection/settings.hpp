#ifndef LEASEHOLD_SRC_REDIS_CONNECTION_SETTINGS_HPP
#define LEASEHOLD_SRC_REDIS_CONNECTION_SETTINGS_HPP

#include <leasehold/detail/export.hpp>
#include <leasehold/redis_config.hpp>

#include <boost/asio/ssl/context.hpp>
#include <boost/redis/config.hpp>

#include <chrono>

namespace leasehold::redis_store {

/// The settings of Boost.Redis for a connection, without `write_setup`. Its own reconnecting is
/// off: see `reconnecting_connection`.
[[nodiscard]] LEASEHOLD_REDIS_EXPORT boost::redis::config connection_settings(
    const redis_config& settings);

/// Writes the first commands of a connection, with the credentials of now.
/// @throws As `credentials_for`.
LEASEHOLD_REDIS_EXPORT void write_setup(boost::redis::config& to, const redis_config& settings);

/// Limits each step of the answer of one Sentinel.
void limit_sentinels(boost::redis::config& of, std::chrono::milliseconds patience) noexcept;

/// @throws boost::system::system_error `errc::invalid_option` if a file cannot be read.
LEASEHOLD_REDIS_EXPORT boost::asio::ssl::context tls_settings(const redis_config& settings);

} // namespace leasehold::redis_store

#endif
