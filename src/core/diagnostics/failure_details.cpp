#include "core/diagnostics/failure_details.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <string>

namespace leasehold::detail {

details_ptr make_details(const turn_context& client, const failure& of) noexcept
{
    try {
        const auto made = of.reported != nullptr ? std::make_shared<diagnostics>(*of.reported)
                                                 : std::make_shared<diagnostics>();
        made->key = of.name;
        if (made->server.empty())
            made->server = client.server_of(of.name);
        if (!of.holder.empty()) {
            made->holder = holder_name(of.holder);
            made->holder_info = client.own_info();
        }
        else {
            made->holder = shown_holder(*made);
            if (const client_info* info = client.holders.find(made->holder))
                made->holder_info = *info;
        }
        if (of.cause != of.error)
            made->cause = of.cause;
        const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(of.waited);
        made->waited = std::max(waited, std::chrono::milliseconds::zero());
        made->attempts = of.attempts;
        return made;
    }
    catch (const std::bad_alloc&) {
        return nullptr;
    }
}

std::string shown_holder(const diagnostics& details) noexcept
{
    try {
        // A store may report a full owner, of which only the client's id may be shown.
        std::string name = holder_name(details.holder);
        return name.empty() ? details.holder : name;
    }
    catch (const std::bad_alloc&) {
        return {};
    }
}

details_ptr copy_details(const diagnostics& from) noexcept
{
    try {
        return std::make_shared<const diagnostics>(from);
    }
    catch (const std::bad_alloc&) {
        return nullptr;
    }
}

const diagnostics& shown(const details_ptr& known) noexcept
{
    static const diagnostics nothing;
    return known ? *known : nothing;
}

} // namespace leasehold::detail
