#include <leasehold/diagnostics.hpp>

#include "config/printable.hpp"

#include <string_view>

namespace leasehold {

std::string diagnostics::to_string() const
{
    std::string result;
    const auto add = [&](std::string_view what, std::string_view value, std::string_view quote) {
        if (value.empty())
            return;
        if (!result.empty())
            result += ", ";
        result.append(what).append(" ").append(quote);
        result.append(detail::printable(value)).append(quote);
    };
    add("server", server, "");
    add("key", key, "'");
    add("answered", server_message, "'");
    if (waited.count() != 0) {
        const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(waited);
        add("waited", std::to_string(ms.count()) + " ms", "");
    }
    return result;
}

} // namespace leasehold
