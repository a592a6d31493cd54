#ifndef LEASEHOLD_SRC_BASE_CONNECTION_CONFIG_HPP
#define LEASEHOLD_SRC_BASE_CONNECTION_CONFIG_HPP

#include <leasehold/detail/export.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

// The settings that connections to every server have. A function `problem_of_...` names the first
// invalid field, its value, and the allowed values; empty if all are valid.
namespace leasehold::detail {

[[nodiscard]] LEASEHOLD_EXPORT bool has_nul(std::string_view text) noexcept;

/// @param allowed The kinds of hosts.
[[nodiscard]] LEASEHOLD_EXPORT std::string problem_of_address(std::string_view host,
                                                              std::uint16_t port,
                                                              std::string_view allowed);

[[nodiscard]] LEASEHOLD_EXPORT std::string problem_of_times(std::chrono::milliseconds timeout,
                                                            std::chrono::milliseconds health_check,
                                                            std::chrono::milliseconds reconnect);

/// The files of a client certificate and its key.
[[nodiscard]] LEASEHOLD_EXPORT std::string problem_of_certificate(std::string_view cert_file,
                                                                  std::string_view key_file);

// These read a parameter of a URL.
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
