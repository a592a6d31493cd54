#include <leasehold/config.hpp>

#include "base/printable.hpp"
#include "config/config_check.hpp"

#include <leasehold/error.hpp>

#include <boost/asio/ip/address_v6.hpp>
#include <boost/system/system_error.hpp>

// Boost.URL is not used because it must be compiled. The library needs only header-only parts of
// Boost.

#include <charconv>
#include <set>
#include <string>
#include <string_view>

namespace leasehold {
namespace {

[[noreturn]] void refuse_url(const std::string& text)
{
    throw boost::system::system_error(errc::invalid_url, detail::printable(text));
}

[[noreturn]] void refuse_url(std::string_view part, std::string_view value,
                             std::string_view allowed)
{
    std::string text(part);
    text += " is '";
    text += value;
    text += "', must be ";
    text += allowed;
    refuse_url(text);
}

std::string lower(std::string_view text)
{
    std::string result(text);
    for (char& c : result) {
        if (c >= 'A' && c <= 'Z')
            c = static_cast<char>(c - 'A' + 'a');
    }
    return result;
}

template <class Number>
bool read(std::string_view text, Number& value)
{
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    return failure == std::errc() && end == text.data() + text.size();
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

/// Decodes percent-encoding. An error names only the part, because the text may be a secret.
std::string decode(std::string_view text, std::string_view part)
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

/// Returns the text before `mark`, and removes it and the mark from `text`. Without a mark it
/// returns all of `text`.
std::string_view take_until(std::string_view& text, char mark)
{
    const std::size_t at = text.find(mark);
    const std::string_view result = text.substr(0, at);
    text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
    return result;
}

[[noreturn]] void refuse_without_scheme()
{
    refuse_url(
        "URL has no scheme, must begin with redis://, rediss://, unix://, "
        "redis+sentinel://, redis+cluster://, rediss+cluster:// or redlock://, or be memory: and "
        "a name");
}

/// The parts of a URL, still encoded. `user` and `query` may contain secrets.
struct pieces
{
    std::string scheme;
    bool has_authority = false;
    std::string_view user; ///< The part before the '@'.
    std::string_view hosts;
    std::string_view path;
    std::string_view query;
};

pieces cut(std::string_view text)
{
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos)
        refuse_without_scheme();
    pieces result;
    result.scheme = lower(text.substr(0, colon));
    text.remove_prefix(colon + 1);
    if (text.find('#') != std::string_view::npos)
        refuse_url("URL has a fragment, must have none; write '#' as %23");
    if (text.starts_with("//")) {
        result.has_authority = true;
        text.remove_prefix(2);
        std::string_view authority = text.substr(0, text.find_first_of("/?"));
        text.remove_prefix(authority.size());
        // A secret that contains a '/' must not be shown as a path.
        if (text.find('@') != std::string_view::npos)
            refuse_url(
                "URL has an '@' after its hosts; '/', '?', '#' and '@' in a user, password or "
                "parameter must be "
                "percent-encoded (%2F, %3F, %23, %40)");
        if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
            result.user = authority.substr(0, at);
            authority.remove_prefix(at + 1);
        }
        result.hosts = authority;
    }
    result.path = take_until(text, '?');
    result.query = text;
    return result;
}

config::address read_host(std::string_view text, std::uint16_t port)
{
    const std::string_view whole = text;
    config::address result{{}, port};
    bool has_port = false;
    if (text.starts_with('[')) {
        text.remove_prefix(1);
        const std::size_t end = text.find(']');
        if (end == std::string_view::npos || (end + 1 < text.size() && text[end + 1] != ':'))
            refuse_url("host", whole, "an IPv6 address in brackets and, after a colon, a port");
        result.host = text.substr(0, end);
        error_code wrong;
        boost::asio::ip::make_address_v6(result.host, wrong);
        if (wrong)
            refuse_url("host", whole, "an IPv6 address in brackets and, after a colon, a port");
        text.remove_prefix(end + 1);
        has_port = text.starts_with(':');
        text.remove_prefix(has_port ? 1 : 0);
    }
    else {
        has_port = text.find(':') != std::string_view::npos;
        result.host = decode(take_until(text, ':'), "host");
    }
    if (result.host.empty())
        refuse_url("host", whole, "a name or an address");
    if (has_port && (!read(text, result.port) || result.port == 0))
        refuse_url("port", text, "1 to 65535");
    return result;
}

void read_database(config& to, std::string_view text)
{
    if (!read(text, to.database))
        refuse_url("database", text, "a number, 0 or larger");
}

std::chrono::milliseconds read_milliseconds(std::string_view name, std::string_view text)
{
    std::uint32_t value = 0;
    if (!read(text, value))
        refuse_url(name, text, "a number of milliseconds");
    return std::chrono::milliseconds(value);
}

void read_parameter(config& to, const std::string& scheme, const std::string& name,
                    const std::string& value)
{
    const bool sentinel = scheme == "redis+sentinel";
    const bool tls = scheme.starts_with("rediss");
    const bool redlock = scheme == "redlock";
    if (scheme == "memory" && name != "fence_retention")
        refuse_url("parameter", name, "fence_retention");
    if (name == "timeout")
        to.timeout = read_milliseconds(name, value);
    else if (name == "health_check")
        to.health_check = read_milliseconds(name, value);
    else if (name == "reconnect")
        to.reconnect = read_milliseconds(name, value);
    else if (name == "fence_retention") {
        std::uint32_t seconds = 0;
        if (value == "forever")
            to.fence_retention = config::forever;
        else if (read(std::string_view(value), seconds) && seconds > 0)
            to.fence_retention = std::chrono::seconds(seconds);
        else
            refuse_url(name, value, "forever, or a number of seconds, 1 or larger");
    }
    else if (name == "quorum" && redlock) {
        if (!read(std::string_view(value), to.quorum) || to.quorum == 0)
            refuse_url(name, value, "a number of hosts, at least a majority");
    }
    else if (name == "layout" && !redlock) {
        if (value != "redisson" && value != "native")
            refuse_url(name, value, "redisson or native");
        to.layout = value == "native" ? config::key_layout::native : config::key_layout::redisson;
    }
    else if (name == "client_info") {
        if (value != "on" && value != "off")
            refuse_url(name, value, "on or off");
        to.client_info = value == "on";
    }
    else if (name == "db" && scheme == "unix")
        read_database(to, value);
    else if (name == "ca" && tls)
        to.tls_ca_file = value;
    else if (name == "verify" && tls) {
        if (value != "full" && value != "none")
            refuse_url(name, value, "full or none");
        to.tls_verify = value == "full";
    }
    else if (name == "sentinel_user" && sentinel)
        to.sentinel_user = value;
    else if (name == "sentinel_password" && sentinel)
        to.sentinel_password = value;
    else {
        std::string allowed = "one of timeout, health_check, reconnect, fence_retention";
        allowed += redlock ? ", quorum" : ", layout";
        allowed += ", client_info";
        if (scheme == "unix")
            allowed += ", db";
        if (tls)
            allowed += ", ca, verify";
        if (sentinel)
            allowed += ", sentinel_user, sentinel_password";
        refuse_url("parameter", name, allowed);
    }
}

void read_parameters(config& to, const std::string& scheme, std::string_view query)
{
    std::set<std::string> seen;
    while (!query.empty()) {
        std::string_view value = take_until(query, '&');
        const std::string name = decode(take_until(value, '='), "parameter");
        if (!seen.insert(name).second)
            refuse_url("parameter", name, "given once");
        read_parameter(to, scheme, name, decode(value, "parameter " + name));
    }
}

void read_hosts(config& to, std::string_view hosts, std::uint16_t port)
{
    to.addresses.clear();
    for (;;) {
        const std::size_t comma = hosts.find(',');
        to.addresses.push_back(read_host(hosts.substr(0, comma), port));
        if (comma == std::string_view::npos)
            return;
        hosts.remove_prefix(comma + 1);
    }
}

// "/master", "/master/db"
void read_sentinel_path(config& to, std::string_view path)
{
    std::string_view rest = path;
    rest.remove_prefix(rest.empty() ? 0 : 1);
    to.master = decode(take_until(rest, '/'), "master");
    if (to.master.empty())
        refuse_url("master", path, "the name of the master, as in redis+sentinel://host/master");
    if (!rest.empty())
        read_database(to, rest);
}

void read_path(config& to, const pieces& given)
{
    if (given.scheme == "redis+sentinel")
        return read_sentinel_path(to, given.path);
    if (given.scheme == "unix") {
        to.unix_socket = decode(given.path, "path");
        if (to.unix_socket.size() < 2)
            refuse_url("path", to.unix_socket,
                       "the path of the socket, as in unix:///run/redis.sock");
    }
    else if (given.path.size() > 1) {
        read_database(to, given.path.substr(1));
    }
}

config read_memory(const pieces& given)
{
    if (given.has_authority)
        refuse_url("URL with scheme memory: has a '//', must be memory: and a name");
    config result;
    result.store = config::kind::memory;
    result.memory_name = decode(given.path, "name");
    read_parameters(result, given.scheme, given.query);
    if (const std::string wrong = problem_of(result); !wrong.empty())
        refuse_url(wrong);
    return result;
}

config parse(std::string_view text)
{
    const pieces given = cut(text);
    const std::string& scheme = given.scheme;
    constexpr std::string_view known = "redis, rediss, unix, redis+sentinel, redis+cluster, "
                                       "rediss+cluster, redlock or memory";
    const bool cluster = scheme == "redis+cluster" || scheme == "rediss+cluster";
    const bool redlock = scheme == "redlock";
    if (scheme == "memory")
        return read_memory(given);
    if (scheme != "redis" && scheme != "rediss" && scheme != "unix" && scheme != "redis+sentinel" &&
        !cluster && !redlock) {
        if (!given.has_authority) // host:port
            refuse_without_scheme();
        refuse_url("scheme", scheme, known);
    }
    if (!given.has_authority)
        refuse_url("URL has no '//' after its scheme, must begin with " + scheme + "://");

    config result;
    std::string_view secret = given.user;
    result.user = decode(take_until(secret, ':'), "user");
    result.password = decode(secret, "password");
    result.tls = scheme.starts_with("rediss");
    const bool sentinel = scheme == "redis+sentinel";
    if (sentinel)
        result.store = config::kind::sentinel;
    else if (cluster || redlock)
        result.store = cluster ? config::kind::cluster : config::kind::redlock;
    if (scheme != "unix")
        read_hosts(result, given.hosts, sentinel ? 26379 : 6379);
    else if (!given.hosts.empty())
        refuse_url("host", given.hosts, "absent in a unix: URL, as in unix:///run/redis.sock");
    read_path(result, given);
    read_parameters(result, scheme, given.query);
    if (const std::string wrong = problem_of(result); !wrong.empty())
        refuse_url(wrong);
    return result;
}

} // namespace

config::config(std::string_view url) : config(parse(url)) {}

} // namespace leasehold
