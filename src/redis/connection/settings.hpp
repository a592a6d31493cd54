#ifndef LEASEHOLD_SRC_REDIS_CONNECTION_SETTINGS_HPP
#define LEASEHOLD_SRC_REDIS_CONNECTION_SETTINGS_HPP

#include <leasehold/config.hpp>
#include <leasehold/detail/export.hpp>
#include <leasehold/error.hpp>

#include <boost/asio/ssl/context.hpp>
#include <boost/redis/config.hpp>

#include <openssl/ssl.h>

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

/// Sends the name of the host with the TLS handshake, which servers behind one address need. An
/// address is no name.
void ask_for_name(SSL* stream, const std::string& host);

/// Why a TLS handshake failed, in words.
/// @param other_host The certificate is trusted, and for another host.
std::string tls_failure(SSL* stream, error_code failed, bool other_host, bool verified);

} // namespace leasehold::redis_store

#endif
