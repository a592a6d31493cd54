#include "base/connection_config.hpp"

#include <algorithm>

namespace leasehold::detail {
namespace {

using std::chrono::milliseconds;

std::string milliseconds_between(std::string_view part, milliseconds value, milliseconds least,
                                 milliseconds most)
{
    if (value >= least && value <= most)
        return {};
    return wrong_value(part, std::to_string(value.count()) + " ms",
                       std::to_string(least.count()) + " to " + std::to_string(most.count()) +
                           " ms");
}

} // namespace

bool has_nul(std::string_view text) noexcept
{
    return text.find('\0') != std::string_view::npos;
}

std::string problem_of_address(std::string_view host, std::uint16_t port, std::string_view allowed)
{
    if (host.empty() || has_nul(host))
        return wrong_value("host", has_nul(host) ? "(with a NUL)" : "", allowed);
    if (port == 0)
        return wrong_value("port", "0", "1 to 65535");
    return {};
}

std::string problem_of_texts(
    std::string_view password,
    std::initializer_list<std::pair<const char*, const std::string*>> texts)
{
    if (has_nul(password))
        return "password contains a NUL, must be a text";
    for (const auto& [name, value] : texts) {
        if (has_nul(*value))
            return std::string(name) + " contains a NUL, must be a text";
    }
    return {};
}

std::string problem_of_times(milliseconds timeout, milliseconds health_check,
                             milliseconds reconnect)
{
    using namespace std::chrono_literals;
    for (std::string text : {milliseconds_between("timeout", timeout, 10ms, 10min),
                             milliseconds_between("health_check", health_check, 10ms, 10min),
                             milliseconds_between("reconnect", reconnect, 1ms, 10min)}) {
        if (!text.empty())
            return text;
    }
    return {};
}

std::string problem_of_certificate(std::string_view cert_file, std::string_view key_file)
{
    if (cert_file.empty() == key_file.empty())
        return {};
    return wrong_value("tls_key_file", key_file,
                       cert_file.empty() ? "empty without tls_cert_file"
                                         : "the file of the key of tls_cert_file");
}

void check_place(const url_parts& given, std::initializer_list<std::string_view> schemes,
                 std::string_view hosts)
{
    if (std::find(schemes.begin(), schemes.end(), given.scheme) == schemes.end()) {
        if (!given.has_authority) // also "host:port"
            refuse_url("URL has no scheme, must begin with " + std::string(*schemes.begin()) +
                       "://");
        refuse_url("scheme", given.scheme, one_of(schemes));
    }
    if (!given.has_authority)
        refuse_url("URL has no '//' after its scheme, must begin with " + given.scheme + "://");
    if (given.hosts.empty())
        refuse_url("host", "", hosts);
}

milliseconds read_milliseconds(std::string_view name, std::string_view text)
{
    std::uint32_t value = 0;
    if (!read_number(text, value))
        refuse_url(name, text, "a number of milliseconds");
    return milliseconds(value);
}

bool read_on_off(std::string_view name, std::string_view text)
{
    if (text != "on" && text != "off")
        refuse_url(name, text, "on or off");
    return text == "on";
}

std::string host_and_port(const std::string& host, std::uint16_t port)
{
    const bool ipv6 = host.find(':') != std::string::npos;
    return (ipv6 ? '[' + host + ']' : host) + ':' + std::to_string(port);
}

} // namespace leasehold::detail
