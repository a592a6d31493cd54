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

/// The registered schemes, in their order.
struct scheme_table
{
    std::mutex mutex;
    std::vector<std::pair<std::string, store_factory>> schemes{
        {"memory", &detail::make_memory_store_of}};

    [[nodiscard]] store_factory find(std::string_view scheme) const noexcept
    {
        const auto found = std::find_if(schemes.begin(), schemes.end(),
                                        [&](const auto& each) { return each.first == scheme; });
        return found == schemes.end() ? nullptr : found->second;
    }

    /// "memory, redis or unix"
    [[nodiscard]] std::string names() const
    {
        std::string text = schemes.front().first;
        for (std::size_t i = 1; i < schemes.size(); ++i)
            text.append(i + 1 < schemes.size() ? ", " : " or ").append(schemes[i].first);
        return text;
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
    table.schemes.emplace_back(scheme, factory);
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
        known = table.names();
    }
    if (make != nullptr)
        return make(url);
    for (const char* const redis : {"redis", "rediss", "unix", "redis+sentinel", "redis+cluster",
                                    "rediss+cluster", "redlock"}) {
        if (parts.scheme == redis)
            refuse_without_header(parts.scheme, "redis");
    }
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
