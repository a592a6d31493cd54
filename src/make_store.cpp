#include <leasehold/make_store.hpp>

#include "base/printable.hpp"
#include "base/url.hpp"
#include "memory/memory_url.hpp"

#include <leasehold/client.hpp>
#include <leasehold/error.hpp>

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace leasehold {
namespace {

/// The registered schemes, in their order. They are few, and never removed.
struct scheme_table
{
    struct row
    {
        std::string scheme;
        store_factory make;
    };

    [[nodiscard]] store_factory find(std::string_view scheme) const noexcept
    {
        const auto found = std::find_if(rows.begin(), rows.end(),
                                        [&](const row& each) { return each.scheme == scheme; });
        return found == rows.end() ? nullptr : found->make;
    }

    [[nodiscard]] std::string names() const
    {
        std::vector<std::string_view> all;
        for (const row& each : rows)
            all.push_back(each.scheme);
        return detail::one_of(all);
    }

    std::mutex mutex;
    std::vector<row> rows{{"memory", &detail::make_memory_store_of}};
};

scheme_table& the_table()
{
    static scheme_table table;
    return table;
}

/// The scheme is not registered.
[[noreturn]] void refuse(const detail::url_parts& parts, const scheme_table& table)
{
    const bool of_redis = parts.scheme.starts_with("redis") || parts.scheme.starts_with("valkey") ||
                          parts.scheme == "unix" || parts.scheme == "redlock";
    if (of_redis && table.find("redis") == nullptr)
        throw boost::system::system_error(
            errc::not_supported,
            detail::printable("scheme is '" + parts.scheme +
                              "', must include <leasehold/redis.hpp> and link leasehold::redis"));
    const char* component = nullptr;
    if (parts.scheme == "postgres" || parts.scheme == "postgresql")
        component = "<leasehold/postgres.hpp> and link leasehold::postgres, which the CMake option "
                    "LEASEHOLD_POSTGRES builds with libpq (Debian: libpq-dev)";
    else if (parts.scheme == "mysql" || parts.scheme == "mariadb")
        component = "<leasehold/mysql.hpp> and link leasehold::mysql, which the CMake option "
                    "LEASEHOLD_MYSQL builds with Boost.MySQL";
    else if (parts.scheme == "zookeeper")
        component = "<leasehold/zookeeper.hpp> and link leasehold::zookeeper, which the CMake "
                    "option LEASEHOLD_ZOOKEEPER builds";
    else if (parts.scheme == "etcd")
        component = "<leasehold/etcd.hpp> and link leasehold::etcd, which the CMake option "
                    "LEASEHOLD_ETCD builds";
    if (component != nullptr)
        throw boost::system::system_error(
            errc::not_supported,
            detail::printable("scheme is '" + parts.scheme + "', must include " + component));
    if (!parts.has_authority) // also "host:port"
        detail::refuse_url("URL has no scheme, must begin with one and a colon: " + table.names());
    detail::refuse_url("scheme", parts.scheme, table.names());
}

} // namespace

bool register_scheme(std::string_view scheme, store_factory factory)
{
    scheme_table& table = the_table();
    const std::scoped_lock lock(table.mutex);
    if (table.find(scheme) != nullptr)
        return false;
    table.rows.push_back({std::string(scheme), factory});
    return true;
}

std::shared_ptr<store> make_store(std::string_view url)
{
    const detail::url_parts parts = detail::split_url(url);
    scheme_table& table = the_table();
    std::unique_lock lock(table.mutex);
    const store_factory make = table.find(parts.scheme);
    if (make == nullptr)
        refuse(parts, table);
    lock.unlock();
    return make(url);
}

// Here, so that the other functions of a client need no store.
client::client(asio::any_io_executor executor, std::string_view url,
               std::shared_ptr<observer> observer)
    : client(std::move(executor), make_store(url), std::move(observer))
{}

} // namespace leasehold
