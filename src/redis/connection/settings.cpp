#include "redis/connection/settings.hpp"

#include "base/tls.hpp"
#include "redis/config/credentials.hpp"

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
    if (!settings.tls)
        return boost::asio::ssl::context(boost::asio::ssl::context::tls_client);
    return detail::make_tls_context({.ca_file = settings.tls_ca_file,
                                     .cert_file = settings.tls_cert_file,
                                     .key_file = settings.tls_key_file,
                                     .verify = settings.tls_verify});
}

} // namespace leasehold::redis_store
