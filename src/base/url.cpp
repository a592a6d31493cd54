#include "base/url.hpp"

#include "base/printable.hpp"

#include <leasehold/error.hpp>

#include <boost/asio/ip/address_v6.hpp>
#include <boost/system/system_error.hpp>

namespace leasehold::detail {
namespace {

std::string lower(std::string_view text)
{
    std::string result(text);
    for (char& c : result) {
        if (c >= 'A' && c <= 'Z')
            c = static_cast<char>(c - 'A' + 'a');
    }
    return result;
}

int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

url_host read_host(std::string_view text, std::uint16_t port)
{
    const std::string_view whole = text;
    url_host result{{}, port};
    bool has_port = false;
    if (text.starts_with('[')) {
        text.remove_prefix(1);
        const std::size_t end = text.find(']');
        if (end == std::string_view::npos || (end + 1 < text.size() && text[end + 1] != ':'))
            refuse_url("host", whole, "an IPv6 address in brackets and, after a colon, a port");
        result.name = text.substr(0, end);
        error_code wrong;
        boost::asio::ip::make_address_v6(result.name, wrong);
        if (wrong)
            refuse_url("host", whole, "an IPv6 address in brackets and, after a colon, a port");
        text.remove_prefix(end + 1);
        has_port = text.starts_with(':');
        text.remove_prefix(has_port ? 1 : 0);
    }
    else {
        has_port = text.find(':') != std::string_view::npos;
        result.name = decode_url(take_until(text, ':'), "host");
    }
    if (result.name.empty())
        refuse_url("host", whole, "a name or an address");
    if (has_port && (!read_number(text, result.port) || result.port == 0))
        refuse_url("port", text, "1 to 65535");
    return result;
}

} // namespace

std::string wrong_value(std::string_view part, std::string_view value, std::string_view allowed)
{
    std::string text(part);
    text += " is '";
    text += value;
    text += "', must be ";
    text += allowed;
    return text;
}

void refuse_url(const std::string& text)
{
    throw boost::system::system_error(errc::invalid_url, printable(text));
}

void refuse_url(std::string_view part, std::string_view value, std::string_view allowed)
{
    refuse_url(wrong_value(part, value, allowed));
}

std::string decode_url(std::string_view text, std::string_view part)
{
    std::string result;
    result.reserve(text.size());
    while (!text.empty()) {
        const char c = text.front();
        if (static_cast<unsigned char>(c) <= ' ' || c == '\x7f')
            refuse_url(std::string(part) +
                       " contains a space or control character, must percent-encode it (%20)");
        text.remove_prefix(1);
        if (c != '%') {
            result += c;
            continue;
        }
        const int high = text.size() >= 2 ? hex_digit(text[0]) : -1;
        const int low = text.size() >= 2 ? hex_digit(text[1]) : -1;
        if (high < 0 || low < 0)
            refuse_url(
                std::string(part) +
                " contains a '%' without two hexadecimal digits after it, must write it as %25");
        result += static_cast<char>(high * 16 + low);
        text.remove_prefix(2);
    }
    return result;
}

void append_encoded(std::string& to, char c)
{
    constexpr char digits[] = "0123456789ABCDEF";
    const auto byte = static_cast<unsigned char>(c);
    to.append({'%', digits[byte >> 4], digits[byte & 15]});
}

void append_encoded(std::string& to, std::string_view text, std::string_view marks)
{
    for (const char c : text) {
        const bool stays = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                           (c >= 'A' && c <= 'Z') || marks.find(c) != marks.npos;
        if (stays)
            to += c;
        else
            append_encoded(to, c);
    }
}

std::string_view take_until(std::string_view& text, char mark)
{
    const std::size_t at = text.find(mark);
    const std::string_view result = text.substr(0, at);
    text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
    return result;
}

url_parts split_url(std::string_view url)
{
    const std::size_t colon = url.find(':');
    if (colon == std::string_view::npos)
        return {};
    url_parts result;
    result.scheme = lower(url.substr(0, colon));
    url.remove_prefix(colon + 1);
    if (url.find('#') != std::string_view::npos)
        refuse_url("URL has a fragment, must have none; write '#' as %23");
    if (url.starts_with("//")) {
        result.has_authority = true;
        url.remove_prefix(2);
        std::string_view authority = url.substr(0, url.find_first_of("/?"));
        url.remove_prefix(authority.size());
        // A secret that contains a '/' must not be shown as a path.
        if (url.find('@') != std::string_view::npos)
            refuse_url("URL has an '@' after its hosts; '/', '?', '#' and '@' in a user, password "
                       "or parameter must be percent-encoded (%2F, %3F, %23, %40)");
        if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
            result.user = authority.substr(0, at);
            authority.remove_prefix(at + 1);
        }
        result.hosts = authority;
    }
    result.path = take_until(url, '?');
    result.query = url;
    return result;
}

std::vector<url_host> read_hosts(std::string_view hosts, std::uint16_t port)
{
    std::vector<url_host> result;
    for (;;) {
        const std::size_t comma = hosts.find(',');
        result.push_back(read_host(hosts.substr(0, comma), port));
        if (comma == std::string_view::npos)
            return result;
        hosts.remove_prefix(comma + 1);
    }
}

} // namespace leasehold::detail
