#ifndef LEASEHOLD_SRC_SESSION_STORE_CONFIG_SESSION_URL_HPP
#define LEASEHOLD_SRC_SESSION_STORE_CONFIG_SESSION_URL_HPP

#include "base/connection_config.hpp"
#include "base/url.hpp"

#include <cstdint>
#include <string>
#include <string_view>

// The common part of the configurations of ZooKeeper and etcd. `Config` has the members of
// `etcd_config` that are named here.
namespace leasehold::session_store {

/// Reads a parameter that both have. False: it is another one.
template <class Config>
bool read_common_parameter(Config& to, const std::string& name, const std::string& value)
{
    if (name == "session")
        to.session = detail::read_milliseconds(name, value);
    else if (name == "timeout")
        to.timeout = detail::read_milliseconds(name, value);
    else if (name == "reconnect")
        to.reconnect = detail::read_milliseconds(name, value);
    else if (name == "password_file")
        to.password_file = value;
    else if (name == "client_info")
        to.client_info = detail::read_on_off(name, value);
    else if (name == "tls")
        to.tls = detail::read_on_off(name, value);
    else if (name == "ca")
        to.tls_ca_file = value;
    else if (name == "cert")
        to.tls_cert_file = value;
    else if (name == "key")
        to.tls_key_file = value;
    else if (name == "verify" && (value == "full" || value == "none"))
        to.tls_verify = value == "full";
    else if (name == "verify")
        detail::refuse_url(name, value, "full or none");
    else
        return false;
    return true;
}

/// Reads all but the path, which it returns.
/// @param read_own Reads a parameter that the other store does not have. False: it is another one.
/// @param names    All parameters.
template <class Config, class ReadOwn>
std::string_view read_session_url(Config& to, std::string_view url, std::string_view scheme,
                                  std::uint16_t port, ReadOwn read_own, std::string_view names)
{
    const detail::url_parts given = detail::split_url(url);
    detail::check_place(given, {scheme}, "a name or an address");
    detail::read_user(to, given);
    detail::read_addresses(to, given, port);
    detail::each_parameter(given.query, [&](const std::string& name, const std::string& value) {
        if (!read_own(name, value) && !read_common_parameter(to, name, value))
            detail::refuse_url("parameter", name, names);
    });
    return given.path;
}

/// Names the first invalid text, its value, and the allowed values; empty if all are valid.
template <class Config>
std::string problem_of_texts(const Config& c)
{
    if (std::string text = detail::problem_of_texts(c.password,
                                                    {{"user", &c.user},
                                                     {"password_file", &c.password_file},
                                                     {"tls_ca_file", &c.tls_ca_file},
                                                     {"tls_cert_file", &c.tls_cert_file},
                                                     {"tls_key_file", &c.tls_key_file}});
        !text.empty())
        return text;
    if (c.user.empty() && !(c.password.empty() && c.password_file.empty()))
        return "user is empty, must be a name with a password";
    if (!c.password_file.empty() && !c.password.empty())
        return detail::wrong_value("password_file", c.password_file, "empty with a password");
    if (!c.tls && !(c.tls_ca_file.empty() && c.tls_cert_file.empty()))
        return "tls is off, must be on with tls_ca_file or tls_cert_file";
    return detail::problem_of_certificate(c.tls_cert_file, c.tls_key_file);
}

} // namespace leasehold::session_store

#endif
