#ifndef LEASEHOLD_SRC_SQL_CONFIG_DATABASE_URL_HPP
#define LEASEHOLD_SRC_SQL_CONFIG_DATABASE_URL_HPP

#include "base/connection_config.hpp"
#include "base/fence_retention.hpp"
#include "base/url.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

// The common part of the configurations of databases. `Config` has the members of
// `postgres_config` that are named here.
namespace leasehold::sql_store {

/// The name of a TLS mode in URLs.
template <class Mode>
const char* name_of_tls(Mode mode) noexcept
{
    switch (mode) {
    case Mode::disable: return "disable";
    case Mode::prefer: return "prefer";
    case Mode::require: return "require";
    case Mode::verify_ca: return "verify-ca";
    case Mode::verify_full: break;
    }
    return "verify-full";
}

/// Finds the value with this name.
template <class Value, std::size_t N, class NameOf>
Value read_choice(std::string_view parameter, std::string_view text,
                  const std::array<Value, N>& all, NameOf name)
{
    std::array<std::string_view, N> names;
    for (std::size_t i = 0; i < N; ++i) {
        names[i] = name(all[i]);
        if (text == names[i])
            return all[i];
    }
    detail::refuse_url(parameter, text, detail::one_of(names));
}

/// Reads a parameter that each database has. False: it is another one.
template <class Config>
bool read_common_parameter(Config& to, const std::string& name, const std::string& value)
{
    using tls = typename Config::tls_mode;
    if (name == "timeout")
        to.timeout = detail::read_milliseconds(name, value);
    else if (name == "health_check")
        to.health_check = detail::read_milliseconds(name, value);
    else if (name == "reconnect")
        to.reconnect = detail::read_milliseconds(name, value);
    else if (name == "password_file")
        to.password_file = value;
    else if (name == "fence_retention")
        to.fence_retention = detail::read_fence_retention(value);
    else if (name == "client_info")
        to.client_info = detail::read_on_off(name, value);
    else if (name == "sslmode")
        to.tls = read_choice(
            name, value,
            std::array{tls::disable, tls::prefer, tls::require, tls::verify_ca, tls::verify_full},
            &name_of_tls<tls>);
    else if (name == "sslrootcert")
        to.tls_ca_file = value;
    else if (name == "sslcert")
        to.tls_cert_file = value;
    else if (name == "sslkey")
        to.tls_key_file = value;
    else
        return false;
    return true;
}

/// Reads the parts before the parameters. Returns the parameters.
/// @param socket_example A URL with a local socket, for an error.
template <class Config>
std::string_view read_database_url(Config& to, std::string_view url, std::string_view scheme,
                                   std::string_view other_scheme, std::uint16_t port,
                                   std::string_view socket_example)
{
    const detail::url_parts given = detail::split_url(url);
    detail::check_place(given, {scheme, other_scheme}, socket_example);
    detail::read_user(to, given);
    detail::read_addresses(to, given, port);
    if (given.path.size() > 1) // after its '/'
        to.database = detail::decode_url(given.path.substr(1), "database");
    return given.query;
}

/// Names the first invalid field, its value, and the allowed values; empty if all are valid.
/// @param more Further texts: names and values.
template <class Config>
std::string problem_of_database(
    const Config& c, std::string_view kinds_of_hosts,
    std::initializer_list<std::pair<const char*, const std::string*>> more)
{
    for (std::string text :
         {detail::problem_of_addresses(c.addresses, kinds_of_hosts),
          detail::problem_of_texts(c.password, {{"user", &c.user},
                                                {"database", &c.database},
                                                {"password_file", &c.password_file},
                                                {"tls_ca_file", &c.tls_ca_file},
                                                {"tls_cert_file", &c.tls_cert_file},
                                                {"tls_key_file", &c.tls_key_file}}),
          detail::problem_of_texts({}, more)}) {
        if (!text.empty())
            return text;
    }
    if (!c.password_file.empty() && !c.password.empty())
        return detail::wrong_value("password_file", c.password_file, "empty with a password");
    for (std::string text : {detail::problem_of_certificate(c.tls_cert_file, c.tls_key_file),
                             detail::problem_of_times(c.timeout, c.health_check, c.reconnect),
                             detail::problem_of(c.fence_retention)}) {
        if (!text.empty())
            return text;
    }
    return {};
}

} // namespace leasehold::sql_store

#endif
