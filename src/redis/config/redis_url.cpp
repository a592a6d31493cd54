#include <leasehold/redis_config.hpp>

#include "base/connection_config.hpp"
#include "base/fence_retention.hpp"
#include "base/url.hpp"
#include "redis/config/config_check.hpp"
#include "redis/config/redis_schemes.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace leasehold {
namespace {

using detail::decode_url;
using detail::read_milliseconds;
using detail::read_number;
using detail::refuse_url;
using detail::take_until;

void read_database(redis_config& to, std::string_view text)
{
    if (!read_number(text, to.database))
        refuse_url("database", text, "a number, 0 or larger");
}

void read_parameter(redis_config& to, const std::string& scheme, const std::string& name,
                    const std::string& value)
{
    const bool sentinel = scheme.ends_with("+sentinel");
    const bool tls = scheme.starts_with("rediss");
    const bool redlock = scheme.ends_with("redlock");
    if (name == "timeout")
        to.timeout = read_milliseconds(name, value);
    else if (name == "health_check")
        to.health_check = read_milliseconds(name, value);
    else if (name == "reconnect")
        to.reconnect = read_milliseconds(name, value);
    else if (name == "fence_retention")
        to.fence_retention = detail::read_fence_retention(value);
    else if (name == "quorum" && redlock) {
        if (!read_number(value, to.quorum) || to.quorum == 0)
            refuse_url(name, value, "a number of hosts, at least a majority");
    }
    else if (name == "layout" && !redlock) {
        if (value != "redisson" && value != "native")
            refuse_url(name, value, "redisson or native");
        to.layout = value == "native" ? redis_config::key_layout::native
                                      : redis_config::key_layout::redisson;
    }
    else if (name == "client_info")
        to.client_info = detail::read_on_off(name, value);
    else if (name == "password_file")
        to.password_file = value;
    else if (name == "prefix")
        to.prefix = value;
    else if (name == "db" && scheme == "unix")
        read_database(to, value);
    else if (name == "ca" && tls)
        to.tls_ca_file = value;
    else if (name == "cert" && tls)
        to.tls_cert_file = value;
    else if (name == "key" && tls)
        to.tls_key_file = value;
    else if (name == "verify" && tls) {
        if (value != "full" && value != "none")
            refuse_url(name, value, "full or none");
        to.tls_verify = value == "full";
    }
    else if (name == "sentinel_user" && sentinel)
        to.sentinel_user = value;
    else if (name == "sentinel_password" && sentinel)
        to.sentinel_password = value;
    else if (name == "sentinel_password_file" && sentinel)
        to.sentinel_password_file = value;
    else {
        std::string allowed = "one of timeout, health_check, reconnect, fence_retention";
        allowed += redlock ? ", quorum" : ", layout";
        allowed += ", client_info, password_file, prefix";
        if (scheme == "unix")
            allowed += ", db";
        if (tls)
            allowed += ", ca, cert, key, verify";
        if (sentinel)
            allowed += ", sentinel_user, sentinel_password, sentinel_password_file";
        refuse_url("parameter", name, allowed);
    }
}

// "/master", "/master/db"
void read_sentinel_path(redis_config& to, std::string_view path)
{
    std::string_view rest = path;
    rest.remove_prefix(rest.empty() ? 0 : 1);
    to.master = decode_url(take_until(rest, '/'), "master");
    if (to.master.empty())
        refuse_url("master", path, "the name of the master, as in redis+sentinel://host/master");
    if (!rest.empty())
        read_database(to, rest);
}

void read_path(redis_config& to, const detail::url_parts& given)
{
    if (given.scheme.ends_with("+sentinel"))
        return read_sentinel_path(to, given.path);
    if (given.scheme == "unix") {
        to.unix_socket = decode_url(given.path, "path");
        if (to.unix_socket.size() < 2)
            refuse_url("path", to.unix_socket,
                       "the path of the socket, as in unix:///run/redis.sock");
    }
    else if (given.path.size() > 1) {
        read_database(to, given.path.substr(1));
    }
}

/// The scheme in the words of Redis: `valkeys+cluster` is `rediss+cluster`.
std::string without_valkey(const std::string& scheme)
{
    constexpr std::string_view valkey = "valkey";
    return scheme.starts_with(valkey) ? "redis" + scheme.substr(valkey.size()) : scheme;
}

redis_config parse(std::string_view url)
{
    detail::url_parts given = detail::split_url(url);
    const auto& known = redis_store::schemes;
    if (std::find(known.begin(), known.end(), given.scheme) == known.end()) {
        if (!given.has_authority) // also "host:port"
            refuse_url("URL has no scheme, must begin with one and '://': " +
                       detail::one_of(known));
        refuse_url("scheme", given.scheme, detail::one_of(known));
    }
    if (!given.has_authority)
        refuse_url("URL has no '//' after its scheme, must begin with " + given.scheme + "://");
    given.scheme = without_valkey(given.scheme);
    const std::string& scheme = given.scheme;
    const bool sentinel = scheme.ends_with("+sentinel");

    redis_config result;
    detail::read_user(result, given);
    result.tls = scheme.starts_with("rediss");
    if (sentinel)
        result.kind = redis_config::deployment::sentinel;
    else if (scheme.ends_with("+cluster"))
        result.kind = redis_config::deployment::cluster;
    else if (scheme.ends_with("redlock"))
        result.kind = redis_config::deployment::quorum;
    if (scheme != "unix") {
        detail::read_addresses(result, given, sentinel ? 26379 : 6379);
    }
    else if (!given.hosts.empty()) {
        refuse_url("host", given.hosts, "absent in a unix: URL, as in unix:///run/redis.sock");
    }
    read_path(result, given);
    detail::each_parameter(given.query, [&](const std::string& name, const std::string& value) {
        read_parameter(result, scheme, name, value);
    });
    if (const std::string wrong = problem_of(result); !wrong.empty())
        refuse_url(wrong);
    return result;
}

} // namespace

redis_config::redis_config(std::string_view url) : redis_config(parse(url)) {}

} // namespace leasehold
