#include <leasehold/redis_config.hpp>

#include "base/connection_config.hpp"
#include "base/fence_retention.hpp"
#include "base/printable.hpp"
#include "base/url.hpp"
#include "fsm/quorum/quorum_size.hpp"
#include "redis/config/config_check.hpp"

#include <leasehold/error.hpp>

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <cstddef>

namespace leasehold {
namespace {

using detail::has_nul;
using detail::wrong_value;

std::string problem_of_place(const redis_config& c)
{
    if (!c.unix_socket.empty()) {
        if (c.kind == redis_config::deployment::sentinel)
            return wrong_value("unix_socket", c.unix_socket, "empty with Sentinel");
        if (c.kind == redis_config::deployment::cluster)
            return wrong_value("unix_socket", c.unix_socket, "empty with a cluster");
        if (c.kind == redis_config::deployment::quorum)
            return wrong_value("unix_socket", c.unix_socket, "empty with redlock");
        if (c.tls)
            return wrong_value("tls", "true", "false with a local socket");
        if (has_nul(c.unix_socket))
            return "unix_socket contains a NUL, must be a path";
        // The longest path that fits into a socket address on every system.
        if (c.unix_socket.size() > 103)
            return wrong_value("unix_socket", c.unix_socket, "103 bytes at most");
        return {};
    }
    if (c.kind == redis_config::deployment::server && c.addresses.size() > 1)
        return wrong_value("addresses", std::to_string(c.addresses.size()) + " hosts", "one host");
    return detail::problem_of_addresses(c.addresses, "a name or an address");
}

std::string problem_of_sentinel(const redis_config& c)
{
    if (c.kind != redis_config::deployment::sentinel)
        return {};
    if (c.master.empty())
        return wrong_value("master", "", "the name of the master in the Sentinels");
    return {};
}

std::string problem_of_tls(const redis_config& c)
{
    if (!c.tls && !c.tls_cert_file.empty())
        return wrong_value("tls_cert_file", c.tls_cert_file, "empty without TLS");
    return detail::problem_of_certificate(c.tls_cert_file, c.tls_key_file);
}

/// The problem of several sources of one password. It never contains a password.
std::string problem_of_credentials(const std::string& of, const std::string& user,
                                   const std::string& password, const std::string& file,
                                   const redis_config::get_credentials& source)
{
    if (has_nul(file))
        return of + "password_file contains a NUL, must be a path";
    if (!file.empty() && !password.empty())
        return wrong_value(of + "password_file", file, "empty with a " + of + "password");
    if (source && !file.empty())
        return wrong_value(of + "password_file", file, "empty with " + of + "credentials_source");
    if (source && (!user.empty() || !password.empty()))
        return of + "user or " + of + "password is given, must be empty with " + of +
               "credentials_source";
    return {};
}

std::string problem_of_credentials(const redis_config& c)
{
    if (c.kind == redis_config::deployment::sentinel) {
        if (std::string text = problem_of_credentials("sentinel_", c.sentinel_user,
                                                      c.sentinel_password, c.sentinel_password_file,
                                                      c.sentinel_credentials_source);
            !text.empty())
            return text;
    }
    return problem_of_credentials({}, c.user, c.password, c.password_file, c.credentials_source);
}

std::string problem_of_cluster(const redis_config& c)
{
    if (c.kind == redis_config::deployment::cluster && c.database != 0)
        return wrong_value("database", std::to_string(c.database), "0 in a cluster");
    return {};
}

std::string problem_of_address_map(const redis_config& c)
{
    if (!c.address_map.empty() && c.kind != redis_config::deployment::cluster &&
        c.kind != redis_config::deployment::sentinel)
        return wrong_value("address_map", std::to_string(c.address_map.size()) + " addresses",
                           "empty without Sentinel or a cluster");
    for (const redis_config::mapped_address& each : c.address_map) {
        for (const std::string& host : {each.announced.host, each.reached.host}) {
            if (host.empty() || has_nul(host))
                return wrong_value("host in address_map", has_nul(host) ? "(with a NUL)" : "",
                                   "a name or an address");
        }
    }
    return {};
}

std::string problem_of_quorum(const redis_config& c)
{
    if (c.kind != redis_config::deployment::quorum) {
        return c.quorum == 0 ? std::string()
                             : wrong_value("quorum", std::to_string(c.quorum), "0 without redlock");
    }
    const std::size_t n = c.addresses.size();
    const std::string hosts = std::to_string(n) + " hosts";
    if (n < 3 || n > fsm::quorum_size::most_members)
        return wrong_value("addresses", hosts, "3, 5, 7 or 9 hosts with redlock");
    // One more member than an odd number raises the majority and tolerates no more failures.
    if (n % 2 == 0)
        return wrong_value("addresses", hosts, "an odd number of hosts with redlock");
    for (std::size_t i = 0; i < n; ++i) {
        const auto first = c.addresses.begin();
        if (std::find(first, first + static_cast<std::ptrdiff_t>(i), c.addresses[i]) !=
            first + static_cast<std::ptrdiff_t>(i))
            return wrong_value("host",
                               c.addresses[i].host + ':' + std::to_string(c.addresses[i].port),
                               "named once: each member has one vote");
    }
    if (c.quorum != 0 && (c.quorum < n / 2 + 1 || c.quorum > n))
        return wrong_value("quorum", std::to_string(c.quorum),
                           std::to_string(n / 2 + 1) + " to " + std::to_string(n));
    return {};
}

std::string problem_of_times(const redis_config& c)
{
    return detail::problem_of_times(c.timeout, c.health_check, c.reconnect);
}

std::string problem_of_retention(const redis_config& c)
{
    if (std::string text = detail::problem_of(c.fence_retention); !text.empty())
        return text;
    // The layout `native` keeps no counter for each name.
    if (c.kind != redis_config::deployment::quorum &&
        c.layout == redis_config::key_layout::native &&
        c.fence_retention != redis_config().fence_retention)
        return wrong_value("fence_retention", std::to_string(c.fence_retention.count()) + " ms",
                           "left out, or used with layout=redisson");
    return {};
}

std::string problem_of_prefix(const redis_config& c)
{
    constexpr std::size_t longest = 64;
    constexpr std::string_view reserved = "leasehold:";
    if (c.prefix.empty())
        return {};
    if (c.prefix.size() > longest)
        return wrong_value("prefix", std::to_string(c.prefix.size()) + " bytes",
                           std::to_string(longest) + " bytes at most");
    // Braces would change the slot of a key, and the others are special in patterns of keys.
    const auto is_allowed = [](char each) {
        return each > ' ' && each <= '~' &&
               std::string_view("{}*?[]\\").find(each) == std::string_view::npos;
    };
    if (!std::all_of(c.prefix.begin(), c.prefix.end(), is_allowed))
        return wrong_value("prefix", c.prefix, "printable ASCII without spaces and *?[]{}\\");
    // With the beginning of that, a name could complete it.
    if (c.prefix.starts_with(reserved) || reserved.starts_with(c.prefix))
        return wrong_value("prefix", c.prefix,
                           "one that neither begins with leasehold: nor is its beginning");
    if (c.kind != redis_config::deployment::quorum &&
        c.layout == redis_config::key_layout::redisson)
        return wrong_value("prefix", c.prefix,
                           "empty with layout=redisson: Redisson knows no prefix, so use names "
                           "that begin with it");
    return {};
}

} // namespace

std::string problem_of(const redis_config& c)
{
    // Servers and some clients store a larger number as a negative one.
    if (c.database > 0x7fffffff)
        return wrong_value("database", std::to_string(c.database), "0 to 2147483647");
    using check_type = std::string (*)(const redis_config&);
    for (const check_type check :
         {check_type(problem_of_credentials), problem_of_place, problem_of_sentinel, problem_of_tls,
          problem_of_cluster, problem_of_address_map, problem_of_quorum, problem_of_times,
          problem_of_retention, problem_of_prefix}) {
        if (std::string text = check(c); !text.empty())
            return text;
    }
    return {};
}

void redis_config::validate() const
{
    if (const std::string text = problem_of(*this); !text.empty())
        throw boost::system::system_error(errc::invalid_option, detail::printable(text));
}

} // namespace leasehold
