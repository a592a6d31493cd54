#ifndef LEASEHOLD_SRC_BASE_CONNECTION_CONFIG_HPP
#define LEASEHOLD_SRC_BASE_CONNECTION_CONFIG_HPP

#include "base/url.hpp"

#include <leasehold/detail/export.hpp>

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The settings that connections to every server have. A function `problem_of_...` names the first
// invalid field, its value, and the allowed values; empty if all are valid.
namespace leasehold::detail {

[[nodiscard]] LEASEHOLD_EXPORT bool has_nul(std::string_view text) noexcept;

/// @param allowed The kinds of hosts.
[[nodiscard]] LEASEHOLD_EXPORT std::string problem_of_address(std::string_view host,
                                                              std::uint16_t port,
                                                              std::string_view allowed);

template <class Address>
std::string problem_of_addresses(const std::vector<Address>& addresses, std::string_view allowed)
{
    if (addresses.empty())
        return "addresses is empty, must contain a host";
    for (const Address& each : addresses) {
        if (std::string text = problem_of_address(each.host, each.port, allowed); !text.empty())
            return text;
    }
    return {};
}

/// @param texts Names and values. The password is not among them, because it is not shown.
[[nodiscard]] LEASEHOLD_EXPORT std::string problem_of_texts(
    std::string_view password,
    std::initializer_list<std::pair<const char*, const std::string*>> texts);

[[nodiscard]] LEASEHOLD_EXPORT std::string problem_of_times(std::chrono::milliseconds timeout,
                                                            std::chrono::milliseconds health_check,
                                                            std::chrono::milliseconds reconnect);

/// The files of a client certificate and its key.
[[nodiscard]] LEASEHOLD_EXPORT std::string problem_of_certificate(std::string_view cert_file,
                                                                  std::string_view key_file);

// These read a part of a URL.
/// Refuses a URL without one of the schemes, or without a host.
/// @param hosts The kinds of hosts.
/// @throws boost::system::system_error
LEASEHOLD_EXPORT void check_place(const url_parts& given,
                                  std::initializer_list<std::string_view> schemes,
                                  std::string_view hosts);
/// Reads the user and the password.
template <class Config>
void read_user(Config& to, const url_parts& given)
{
    std::string_view secret = given.user;
    to.user = decode_url(take_until(secret, ':'), "user");
    to.password = decode_url(secret, "password");
}
/// @param port Used where none is given.
template <class Config>
void read_addresses(Config& to, const url_parts& given, std::uint16_t port)
{
    to.addresses.clear();
    for (url_host& each : read_hosts(given.hosts, port))
        to.addresses.push_back({std::move(each.name), each.port});
}
/// @throws boost::system::system_error
[[nodiscard]] LEASEHOLD_EXPORT std::chrono::milliseconds read_milliseconds(std::string_view name,
                                                                           std::string_view text);
/// @throws boost::system::system_error
[[nodiscard]] LEASEHOLD_EXPORT bool read_on_off(std::string_view name, std::string_view text);

/// An address in the form for logs: "10.0.0.1:6379", "[::1]:6379".
[[nodiscard]] LEASEHOLD_EXPORT std::string host_and_port(const std::string& host,
                                                         std::uint16_t port);

} // namespace leasehold::detail

#endif
