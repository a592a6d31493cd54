#include <leasehold/postgres_config.hpp>

#include "base/connection_config.hpp"
#include "base/fence_retention.hpp"
#include "base/url.hpp"
#include "postgres/config/config_check.hpp"

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace leasehold {
namespace {

using detail::decode_url;
using detail::read_milliseconds;
using detail::refuse_url;
using detail::take_until;

/// Finds the value with this name.
template <class Value, std::size_t N>
Value read_choice(std::string_view name, std::string_view text, const std::array<Value, N>& all)
{
    std::array<std::string_view, N> names;
    for (std::size_t i = 0; i < N; ++i) {
        names[i] = postgres_store::name_of(all[i]);
        if (text == names[i])
            return all[i];
    }
    refuse_url(name, text, detail::one_of(names));
}

void read_parameter(postgres_config& to, const std::string& name, const std::string& value)
{
    using tls = postgres_config::tls_mode;
    using durability = postgres_config::commit_durability;
    if (name == "timeout")
        to.timeout = read_milliseconds(name, value);
    else if (name == "health_check")
        to.health_check = read_milliseconds(name, value);
    else if (name == "reconnect")
        to.reconnect = read_milliseconds(name, value);
    else if (name == "schema")
        to.schema = value;
    else if (name == "durability")
        to.durability = read_choice(
            name, value, std::array{durability::full, durability::local, durability::relaxed});
    else if (name == "password_file")
        to.password_file = value;
    else if (name == "application_name")
        to.application_name = value;
    else if (name == "fence_retention")
        to.fence_retention = detail::read_fence_retention(value);
    else if (name == "client_info")
        to.client_info = detail::read_on_off(name, value);
    else if (name == "sslmode")
        to.tls = read_choice(
            name, value,
            std::array{tls::disable, tls::prefer, tls::require, tls::verify_ca, tls::verify_full});
    else if (name == "sslrootcert")
        to.tls_ca_file = value;
    else if (name == "sslcert")
        to.tls_cert_file = value;
    else if (name == "sslkey")
        to.tls_key_file = value;
    else
        refuse_url("parameter", name,
                   "one of timeout, health_check, reconnect, schema, durability, password_file, "
                   "application_name, client_info, fence_retention, sslmode, sslrootcert, sslcert, "
                   "sslkey");
}

postgres_config parse(std::string_view url)
{
    const detail::url_parts given = detail::split_url(url);
    if (given.scheme != "postgres" && given.scheme != "postgresql") {
        if (!given.has_authority) // also "host:port"
            refuse_url("URL has no scheme, must begin with postgres://");
        refuse_url("scheme", given.scheme, "postgres or postgresql");
    }
    if (!given.has_authority)
        refuse_url("URL has no '//' after its scheme, must begin with " + given.scheme + "://");
    if (given.hosts.empty())
        refuse_url("host", "",
                   "a name, an address, or the directory of a socket, as in "
                   "postgres://%2Fvar%2Frun%2Fpostgresql/database");

    postgres_config result;
    std::string_view secret = given.user;
    result.user = decode_url(take_until(secret, ':'), "user");
    result.password = decode_url(secret, "password");
    result.addresses.clear();
    for (detail::url_host& each : detail::read_hosts(given.hosts, 5432))
        result.addresses.push_back({std::move(each.name), each.port});
    if (!given.path.empty()) // after its '/'
        result.database = decode_url(given.path.substr(1), "database");
    detail::each_parameter(given.query, [&](const std::string& name, const std::string& value) {
        read_parameter(result, name, value);
    });
    if (const std::string wrong = postgres_store::problem_of(result); !wrong.empty())
        refuse_url(wrong);
    return result;
}

} // namespace

postgres_config::postgres_config(std::string_view url) : postgres_config(parse(url)) {}

} // namespace leasehold
