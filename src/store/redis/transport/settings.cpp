#include "store/redis/transport/settings.hpp"

#include <leasehold/error.hpp>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/system/system_error.hpp>

#include <openssl/ssl.h>

#include <memory>
#include <string>

namespace leasehold::redis_store {
namespace {

boost::redis::request hello(const std::string& user, const std::string& password)
{
    boost::redis::request result;
    if (user.empty() && password.empty())
        result.hello();
    else
        result.hello(user.empty() ? "default" : user, password);
    return result;
}

// Where the name of the host is kept for the handshake, with the settings that it belongs to.
int host_slot()
{
    static const int slot = ::SSL_CTX_get_ex_new_index(
        0, nullptr, nullptr, nullptr, [](void*, void* host, CRYPTO_EX_DATA*, int, long, void*) {
            delete static_cast<std::string*>(host);
        });
    return slot;
}

// Boost.Redis makes the TLS stream itself and sends no server name, which servers behind one
// address need.
void name_host(const SSL* stream, int where, int)
{
    if ((where & SSL_CB_HANDSHAKE_START) == 0)
        return;
    const auto* host = static_cast<const std::string*>(
        ::SSL_CTX_get_ex_data(::SSL_get_SSL_CTX(stream), host_slot()));
    if (host != nullptr)
        ::SSL_ctrl(const_cast<SSL*>(stream), SSL_CTRL_SET_TLSEXT_HOSTNAME,
                   TLSEXT_NAMETYPE_host_name, const_cast<char*>(host->c_str()));
}

} // namespace

std::string name_of(const config::address& at)
{
    const bool ipv6 = at.host.find(':') != std::string::npos;
    return (ipv6 ? '[' + at.host + ']' : at.host) + ':' + std::to_string(at.port);
}

boost::redis::config connection_settings(const config& settings)
{
    boost::redis::config result;
    result.use_ssl = settings.tls;
    result.unix_socket = settings.unix_socket;
    result.use_setup = true;
    result.setup = hello(settings.user, settings.password);
    if (settings.database != 0)
        result.setup.push("SELECT", settings.database);
    if (settings.store == config::kind::sentinel) {
        for (const config::address& each : settings.addresses)
            result.sentinel.addresses.push_back({each.host, std::to_string(each.port)});
        result.sentinel.master_name = settings.master;
        result.sentinel.setup = hello(settings.sentinel_user, settings.sentinel_password);
        result.sentinel.use_ssl = settings.tls;
        result.sentinel.resolve_timeout = settings.timeout;
        result.sentinel.connect_timeout = settings.timeout;
        result.sentinel.ssl_handshake_timeout = settings.timeout;
        result.sentinel.request_timeout = settings.timeout;
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

boost::asio::ssl::context tls_settings(const config& settings)
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
        throw boost::system::system_error(errc::invalid_option,
                                          "tls_ca_file is '" + settings.tls_ca_file +
                                              "', must be a readable file of PEM certificates");
    result.set_verify_mode(settings.tls_verify ? ssl::verify_peer : ssl::verify_none);
    const std::string& host = settings.addresses.front().host;
    if (settings.tls_verify)
        result.set_verify_callback(ssl::host_name_verification(host));
    boost::asio::ip::make_address(host, error);
    if (error && host_slot() >= 0) { // a name, not an address
        auto kept = std::make_unique<std::string>(host);
        if (::SSL_CTX_set_ex_data(result.native_handle(), host_slot(), kept.get()) == 1) {
            kept.release();
            ::SSL_CTX_set_info_callback(result.native_handle(), name_host);
        }
    }
    return result;
}

} // namespace leasehold::redis_store
