#include "url_option.hpp"

#include "sql/database_url.hpp"

#include "base/connection_config.hpp"
#include "redis/config/address.hpp"

#include <leasehold/make_store.hpp>
#ifdef LEASEHOLD_HAS_ETCD
#include <leasehold/etcd.hpp>
#endif
#ifdef LEASEHOLD_HAS_MYSQL
#include <leasehold/mysql.hpp>
#endif
#ifdef LEASEHOLD_HAS_POSTGRES
#include <leasehold/postgres.hpp>
#endif
#ifdef LEASEHOLD_HAS_ZOOKEEPER
#include <leasehold/zookeeper.hpp>
#endif

#include <cstdlib>
#include <string_view>

namespace leasehold::tool {
namespace {

void refuse_memory(const std::string& url)
{
    if (url.starts_with("memory:"))
        throw usage_error("the URL is '" + url +
                          "'; memory: keeps the locks in this process, and no other process sees "
                          "them; allowed: the URL of a server");
}

template <class Addresses, class ToText>
std::string joined(const Addresses& all, ToText text_of)
{
    std::string text;
    for (const auto& each : all)
        text.append(text.empty() ? "" : ", ").append(text_of(each));
    return text;
}

} // namespace

void declare_url(command_line& options, std::string& url)
{
    const char* const given = std::getenv("LEASEHOLD_URL");
    url = given == nullptr || *given == '\0' ? "redis://127.0.0.1:6379" : given;
    options.value("--url", "URL",
                  "The store of the locks (default: LEASEHOLD_URL from the\n"
                  "environment, else redis://127.0.0.1:6379). Users who can list\n"
                  "processes see a password in it, but not in the environment.",
                  [&url](std::string_view value) { url = value; });
}

bool is_zookeeper(std::string_view url)
{
    return url.starts_with("zookeeper://");
}

bool is_etcd(std::string_view url)
{
    return url.starts_with("etcd://");
}

void check_url(const std::string& url)
{
    refuse_memory(url);
    static_cast<void>(make_store(url));
}

std::string servers_of(const std::string& url)
{
    if (const auto place = database_of(url))
        return joined(place->how->common().servers, [](const auto& each) { return each; });
    [[maybe_unused]] const auto text_of = [](const auto& each) {
        return detail::host_and_port(each.host, each.port);
    };
#ifdef LEASEHOLD_HAS_ZOOKEEPER
    if (is_zookeeper(url))
        return joined(zookeeper_config(url).addresses, text_of);
#endif
#ifdef LEASEHOLD_HAS_ETCD
    if (is_etcd(url))
        return joined(etcd_config(url).addresses, text_of);
#endif
    const redis_config where(url);
    if (!where.unix_socket.empty())
        return where.unix_socket;
    return joined(where.addresses, [](const auto& each) { return redis_store::name_of(each); });
}

redis_config read_url(const std::string& url)
{
    refuse_memory(url);
    if (is_database(url))
        throw usage_error("the URL is of a database, which this command does not support");
    if (is_zookeeper(url))
        throw usage_error("the URL is of ZooKeeper, which this command does not support");
    if (is_etcd(url))
        throw usage_error("the URL is of etcd, which this command does not support");
    return redis_config(url);
}

} // namespace leasehold::tool
