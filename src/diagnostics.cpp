#include <leasehold/diagnostics.hpp>

#include "base/printable.hpp"
#include "base/process_text.hpp"

#include <new>
#include <utility>

namespace leasehold {
namespace {

/// "orders on web-3, pid 4711, since 2026-11-23 02:04:05 UTC"
std::string text_of(const client_info& info)
{
    std::string text = detail::process_text(info);
    if (const std::string since = detail::time_text(info.since, " ", " UTC"); !since.empty())
        text.append(text.empty() ? "since " : ", since ").append(since);
    return text;
}

} // namespace

std::string diagnostics::to_string() const
{
    std::string result;
    const auto add = [&](std::string_view label, std::string_view value, std::string_view quote) {
        if (value.empty())
            return;
        if (!result.empty())
            result += ", ";
        result.append(label).append(label.empty() ? "" : " ").append(quote);
        result.append(detail::printable(value)).append(quote);
    };
    add("server", server, "");
    if (!connection_error.empty())
        result.append(result.empty() ? "(" : " (")
            .append(detail::printable(connection_error))
            .append(")");
    add("key", key, "'");
    add("answered", server_message, "'");
    std::string shown = holder;
    if (const std::string info = text_of(holder_info); !info.empty())
        shown.append(shown.empty() ? "" : " ").append("(").append(info).append(")");
    add("held by client", shown, "");
    if (cause)
        add("last request:", cause.message(), "");
    if (waited.count() != 0)
        add("waited", std::to_string(waited.count()) + " ms", "");
    if (attempts != 0)
        add("", std::to_string(attempts) + (attempts == 1 ? " attempt" : " attempts"), "");
    return result;
}

std::string holder_name(std::string_view owner_id)
{
    constexpr std::size_t uuid = 36;
    constexpr std::size_t shown = 8;
    const auto is_hex = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    };
    if (owner_id.size() <= uuid + 1 || owner_id[uuid] != ':')
        return {};
    for (std::size_t i = 0; i < uuid; ++i) {
        const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? owner_id[i] != '-' : !is_hex(owner_id[i]))
            return {};
    }
    return std::string(owner_id.substr(0, shown));
}

error_with_diagnostics::error_with_diagnostics(error_code code,
                                               std::shared_ptr<const diagnostics> details)
    : system_error(code, details->to_string()), details_(std::move(details))
{}

namespace detail {

std::exception_ptr to_exception(error_code code, const details_ptr& details) noexcept
{
    if (!code)
        return nullptr;
    try {
        if (details)
            return std::make_exception_ptr(error_with_diagnostics(code, details));
        return std::make_exception_ptr(boost::system::system_error(code));
    }
    catch (...) {
        return std::current_exception();
    }
}

void report(diagnostics& to, const details_ptr& from) noexcept
{
    try {
        if (from) {
            to = *from;
            return;
        }
    }
    catch (const std::bad_alloc&) {
        // The error itself is still reported.
    }
    to.clear();
}

} // namespace detail
} // namespace leasehold
