#include "redis/connection/settings.hpp"

#include "base/url.hpp"
#include "redis/config/credentials.hpp"

#include <leasehold/error.hpp>

#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/system/system_error.hpp>

#include <openssl/ssl.h>

#include <string>

namespace leasehold::redis_store {
namespace {

boost::redis::request hello(const redis_config::credentials& as)
{
    boost::redis::request result;
    if (as.user.empty() && as.password.empty())
        result.hello();
    else
        result.hello(as.user.empty() ? "default" : as.user, as.password);
    return result;
}

[[noreturn]] void refuse_file(const std::string& field, const std::string& file,
                              const std::string& contents)
{
    throw boost::system::system_error(
        errc::invalid_option, detail::wrong_value(field, file, "a readable file of " + contents));
}

} // namespace

void limit_sentinels(boost::redis::config& of, std::chrono::milliseconds patience) noexcept
{
    of.sentinel.resolve_timeout = patience;
    of.sentinel.connect_timeout = patience;
    of.sentinel.ssl_handshake_timeout = patience;
    of.sentinel.request_timeout = patience;
}

boost::redis::config connection_settings(const redis_config& settings)
{
    boost::redis::config result;
    result.use_ssl = settings.tls;
    result.unix_socket = settings.unix_socket;
    result.use_setup = true;
    if (settings.kind == redis_config::deployment::sentinel) {
        for (const redis_config::address& each : settings.addresses)
            result.sentinel.addresses.push_back({each.host, std::to_string(each.port)});
        result.sentinel.master_name = settings.master;
        result.sentinel.use_ssl = settings.tls;
        limit_sentinels(result, settings.timeout);
    }
    else if (settings.unix_socket.empty()) {
        result.addr = {settings.addresses.front().host,
                       std::to_string(settings.addresses.front().port)};
    }
    result.resolve_timeout = settings.timeout;
    result.connect_timeout = settings.timeout;
    result.ssl_handshake_timeout = settings.timeout;
    result.health_check_interval = settings.health_check;
    result.reconnect_wait_interval = {};
    return result;
}

void write_setup(boost::redis::config& to, const redis_config& settings)
{
    to.setup = hello(credentials_for(settings));
    if (settings.database != 0)
        to.setup.push("SELECT", settings.database);
    if (settings.kind == redis_config::deployment::sentinel)
        to.sentinel.setup = hello(sentinel_credentials_for(settings));
}

boost::asio::ssl::context tls_settings(const redis_config& settings)
{
    namespace ssl = boost::asio::ssl;
    ssl::context result(ssl::context::tls_client);
    if (!settings.tls)
        return result;
    result.set_options(ssl::context::default_workarounds | ssl::context::no_sslv2 |
                       ssl::context::no_sslv3 | ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1);
    error_code error;
    if (settings.tls_ca_file.empty())
        result.set_default_verify_paths(error);
    else
        result.load_verify_file(settings.tls_ca_file, error);
    if (error && settings.tls_verify)
        refuse_file("tls_ca_file", settings.tls_ca_file, "PEM certificates");
    if (!settings.tls_cert_file.empty()) {
        if (result.use_certificate_chain_file(settings.tls_cert_file, error))
            refuse_file("tls_cert_file", settings.tls_cert_file, "a PEM certificate chain");
        // Without it, OpenSSL asks on the terminal for the password of an encrypted key.
        result.set_password_callback([](std::size_t, auto) { return std::string(); });
        if (result.use_private_key_file(settings.tls_key_file, ssl::context::pem, error))
            refuse_file("tls_key_file", settings.tls_key_file,
                        "the PEM key of tls_cert_file, without a password");
    }
    result.set_verify_mode(settings.tls_verify ? ssl::verify_peer : ssl::verify_none);
    return result;
}

void ask_for_name(SSL* stream, const std::string& host)
{
    error_code is_name;
    boost::asio::ip::make_address(host, is_name);
    if (is_name)
        ::SSL_ctrl(stream, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                   const_cast<char*>(host.c_str()));
}

std::string tls_failure(SSL* stream, error_code failed, bool other_host, bool verified)
{
    if (other_host)
        return "the server's certificate is for another host";
    const long verdict = ::SSL_get_verify_result(stream);
    if (verified && verdict != X509_V_OK)
        return std::string("the server's certificate is not trusted: ") +
               ::X509_verify_cert_error_string(verdict);
    const bool closed = failed == boost::asio::error::eof ||
                        failed == boost::asio::error::connection_reset ||
                        failed == boost::asio::ssl::error::stream_truncated;
    return "the server does not answer in TLS: " +
           (closed ? "it closed the connection" : failed.message());
}

} // namespace leasehold::redis_store
