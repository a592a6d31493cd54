#include "fuzz/targets.hpp"

#include <leasehold/error.hpp>
#include <leasehold/redis.hpp>

#include <boost/system/system_error.hpp>

#include <optional>
#include <string>

namespace leasehold::fuzz {
namespace {

struct outcome
{
    std::optional<redis_config> understood;
    error_code code;
    std::string text;
};

outcome read(std::string_view url)
{
    try {
        if (url.starts_with("memory:")) {
            static_cast<void>(make_store(url));
            return {redis_config(), {}, {}};
        }
        return {redis_config(url), {}, {}};
    }
    catch (const boost::system::system_error& refused) {
        return {std::nullopt, refused.code(), refused.what()};
    }
}

bool same(const redis_config& a, const redis_config& b)
{
    return a.kind == b.kind && a.addresses == b.addresses && a.unix_socket == b.unix_socket &&
           a.user == b.user && a.password == b.password && a.database == b.database &&
           a.master == b.master && a.sentinel_user == b.sentinel_user &&
           a.sentinel_password == b.sentinel_password && a.password_file == b.password_file &&
           a.sentinel_password_file == b.sentinel_password_file && a.quorum == b.quorum &&
           a.tls == b.tls && a.tls_verify == b.tls_verify && a.tls_ca_file == b.tls_ca_file &&
           a.timeout == b.timeout && a.health_check == b.health_check &&
           a.reconnect == b.reconnect && a.fence_retention == b.fence_retention;
}

std::string encoded(std::string_view text)
{
    constexpr char digits[] = "0123456789ABCDEF";
    std::string result;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if ((byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
            (byte >= '0' && byte <= '9'))
            result += c;
        else
            result.append({'%', digits[byte >> 4], digits[byte & 15]});
    }
    return result;
}

// The first '/' of the text ends the part of the hosts.
std::string path(std::string_view text)
{
    return '/' + encoded(text.substr(1));
}

std::string host(const redis_config::address& at)
{
    const bool bare = at.host.find(':') == std::string::npos;
    return (bare ? encoded(at.host) : '[' + at.host + ']') + ':' + std::to_string(at.port);
}

// Writes a URL with all values of a config. It follows docs/details/options.md, not the parser.
std::string write(const redis_config& c)
{
    const std::string retention = "fence_retention=" +
                                  (c.fence_retention == redis_config::forever
                                       ? "forever"
                                       : std::to_string(c.fence_retention.count() / 1000));
    const bool sentinel = c.kind == redis_config::deployment::sentinel;
    const bool cluster = c.kind == redis_config::deployment::cluster;
    const bool redlock = c.kind == redis_config::deployment::quorum;
    const bool local = !c.unix_socket.empty();
    std::string url = sentinel && c.tls  ? "rediss+sentinel://"
                      : sentinel         ? "redis+sentinel://"
                      : redlock && c.tls ? "rediss+redlock://"
                      : redlock          ? "redlock://"
                      : local            ? "unix://"
                      : cluster && c.tls ? "rediss+cluster://"
                      : cluster          ? "redis+cluster://"
                      : c.tls            ? "rediss://"
                                         : "redis://";
    url += encoded(c.user) + ':' + encoded(c.password) + '@';
    if (!local) {
        for (const redis_config::address& each : c.addresses)
            url += (&each == &c.addresses.front() ? "" : ",") + host(each);
    }
    const std::string database = std::to_string(c.database);
    url += sentinel ? '/' + encoded(c.master) + '/' + database
           : local  ? path(c.unix_socket)
                    : '/' + database;
    url += "?timeout=" + std::to_string(c.timeout.count()) +
           "&health_check=" + std::to_string(c.health_check.count()) +
           "&reconnect=" + std::to_string(c.reconnect.count()) + '&' + retention;
    if (local)
        url += "&db=" + database;
    if (c.tls)
        url += std::string("&verify=") + (c.tls_verify ? "full" : "none") +
               "&ca=" + encoded(c.tls_ca_file);
    if (!c.tls_cert_file.empty())
        url += "&cert=" + encoded(c.tls_cert_file) + "&key=" + encoded(c.tls_key_file);
    if (redlock && c.quorum != 0)
        url += "&quorum=" + std::to_string(c.quorum);
    if (!c.password_file.empty())
        url += "&password_file=" + encoded(c.password_file);
    if (!c.sentinel_password_file.empty())
        url += "&sentinel_password_file=" + encoded(c.sentinel_password_file);
    if (sentinel)
        url += "&sentinel_user=" + encoded(c.sentinel_user) +
               "&sentinel_password=" + encoded(c.sentinel_password);
    return url;
}

bool says(const std::string& text, std::string_view part)
{
    return text.find(part) != std::string::npos;
}

} // namespace

void url(std::string_view input)
{
    const outcome first = read(input);
    const outcome again = read(input);
    require(first.understood.has_value() == again.understood.has_value() &&
                first.text == again.text &&
                (!first.understood || same(*first.understood, *again.understood)),
            "the same URL is understood in two ways");

    if (first.understood) {
        first.understood->validate();
        const std::string written = write(*first.understood);
        const outcome back = read(written);
        if (!back.understood)
            fail("what was understood cannot be written: " + written + ": " + back.text);
        require(same(*first.understood, *back.understood), "written and read, it is another",
                written);
    }
    else {
        require(first.code == errc::invalid_url || first.code == errc::not_supported,
                "refused for another reason", first.text);
        require(says(first.text, "must ") || says(first.text, "percent-encoded"),
                "does not say what is allowed", first.text);
        for (const char c : first.text)
            require(static_cast<unsigned char>(c) >= ' ' && c != '\x7f',
                    "a control character is shown", first.text);
    }

    // A password is never shown, whatever text surrounds it.
    constexpr std::string_view secret = "Xsecret9";
    if (input.find(secret) != std::string_view::npos)
        return; // the fuzzer has found the secret, which is now a host
    constexpr const char* schemes[] = {"redis", "rediss", "unix", "redis+sentinel",
                                       "redis+cluster"};
    const std::string before = std::string(schemes[input.size() % 5]) +
                               "://u:" + std::string(secret);
    if (input.find('@') != std::string_view::npos)
        require(!says(read(before + std::string(input)).text, secret), "a password is shown");
    require(!says(read(before + '@' + std::string(input)).text, secret), "a password is shown");
    require(!says(read("redis+sentinel://h/m?sentinel_password=" + std::string(secret) +
                       std::string(input))
                      .text,
                  secret) ||
                input.find_first_of("&?/") != std::string_view::npos,
            "the password of the Sentinels is shown");
}

} // namespace leasehold::fuzz
