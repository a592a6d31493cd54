#include <leasehold/make_store.hpp>

#include "base/printable.hpp"
#include "base/url.hpp"
#include "memory/memory_url.hpp"

#include <leasehold/client.hpp>
#include <leasehold/error.hpp>

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace leasehold {
namespace {

/// The registered schemes, in their order.
struct scheme_table
{
    std::mutex mutex;
    std::vector<std::string> schemes{"memory"};
    std::vector<store_factory> factories{&detail::make_memory_store_of};

    [[nodiscard]] store_factory find(std::string_view scheme) const noexcept
    {
        const auto found = std::find(schemes.begin(), schemes.end(), scheme);
        return found == schemes.end() ? nullptr : factories[std::size_t(found - schemes.begin())];
    }
};

scheme_table& the_table()
{
    static scheme_table table;
    return table;
}

/// A scheme of this library whose header the program does not include.
[[noreturn]] void refuse_without_header(const std::string& scheme, std::string_view component)
{
    std::string text = "scheme is '" + scheme + "', must include <leasehold/";
    text.append(component).append(".hpp> and link leasehold::").append(component);
    throw boost::system::system_error(errc::not_supported, text);
}

} // namespace

bool register_scheme(std::string_view scheme, store_factory factory)
{
    scheme_table& table = the_table();
    const std::scoped_lock lock(table.mutex);
    if (table.find(scheme) != nullptr)
        return false;
    table.factories.push_back(factory);
    table.schemes.emplace_back(scheme);
    return true;
}

std::shared_ptr<store> make_store(std::string_view url)
{
    const detail::url_parts parts = detail::split_url(url);
    store_factory make = nullptr;
    std::string known;
    {
        scheme_table& table = the_table();
        const std::scoped_lock lock(table.mutex);
        make = table.find(parts.scheme);
        known = detail::one_of(table.schemes);
    }
    if (make != nullptr)
        return make(url);
    if (parts.scheme.starts_with("redis") || parts.scheme.starts_with("valkey") ||
        parts.scheme == "unix" || parts.scheme == "redlock")
        refuse_without_header(parts.scheme, "redis");
    if (!parts.has_authority) // also "host:port"
        detail::refuse_url("URL has no scheme, must begin with one and a colon: " + known);
    detail::refuse_url("scheme", parts.scheme, known);
}

// Here, so that the other functions of a client need no store.
client::client(asio::any_io_executor executor, std::string_view url,
               std::shared_ptr<observer> observer)
    : client(std::move(executor), make_store(url), std::move(observer))
{}

} // namespace leasehold
