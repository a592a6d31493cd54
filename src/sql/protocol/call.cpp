#include "sql/protocol/call.hpp"

#include <algorithm>
#include <limits>

namespace leasehold::sql_store {
namespace {

constexpr std::chrono::milliseconds longest = std::chrono::years(100);

// Rows that one statement looks at.
constexpr std::int64_t sweep_size = 200;

std::int64_t milliseconds_of(std::chrono::milliseconds time) noexcept
{
    return std::clamp(time, std::chrono::milliseconds(1), longest).count();
}

std::int64_t count_of(std::uint32_t value) noexcept
{
    return std::min<std::uint32_t>(value, std::numeric_limits<std::int32_t>::max());
}

std::int64_t fence_of(std::uint64_t value) noexcept
{
    return static_cast<std::int64_t>(
        std::min<std::uint64_t>(value, std::numeric_limits<std::int64_t>::max()));
}

/// The values that an acquire and the next one of a release have in common.
void add_request(std::vector<argument>& to, const acquire_request& request, std::int64_t deadline,
                 grant_listener listener)
{
    to.emplace_back(milliseconds_of(request.lease));
    to.emplace_back(count_of(request.fences));
    to.emplace_back(fence_of(request.fence_floor));
    to.emplace_back(deadline);
    to.emplace_back(request.waits ? milliseconds_of(request.presence) : std::int64_t(0));
    to.emplace_back(request.waits ? milliseconds_of(request.claim) : std::int64_t(0));
    to.emplace_back(request.waits ? listener.number : std::int64_t(0));
}

void add_owner(std::vector<argument>& to, std::string_view name, std::string_view owner,
               std::string_view entry)
{
    to.emplace_back(std::string(name));
    to.emplace_back(std::string(owner));
    to.emplace_back(std::string(entry));
}

} // namespace

call encode(const acquire_request& request, std::int64_t deadline, grant_listener listener)
{
    call made{procedure::acquire};
    made.arguments.reserve(11);
    add_owner(made.arguments, request.name, request.owner, request.entry);
    add_request(made.arguments, request, deadline, listener);
    made.arguments.emplace_back(std::int64_t(request.needs_holder));
    return made;
}

call encode(const release_request& request, std::int64_t next_deadline, grant_listener listener)
{
    call made{procedure::release};
    made.arguments.reserve(11);
    add_owner(made.arguments, request.name, request.owner, request.entry);
    const acquire_request none{};
    const acquire_request& next = request.next != nullptr ? *request.next : none;
    made.arguments.emplace_back(std::string(next.owner));
    add_request(made.arguments, next, next_deadline, listener);
    return made;
}

call encode(std::span<const renewal> renewals)
{
    call made{procedure::renew};
    made.arguments.reserve(4 * renewals.size());
    for (const renewal& each : renewals) {
        add_owner(made.arguments, each.name, each.owner, each.entry);
        made.arguments.emplace_back(milliseconds_of(each.lease));
    }
    return made;
}

call encode_sweep(std::string_view after, std::chrono::milliseconds retention)
{
    return {procedure::sweep, {std::string(after), milliseconds_of(retention), sweep_size}};
}

std::string_view client_of(std::string_view owner) noexcept
{
    return owner.substr(0, owner.find(':'));
}

} // namespace leasehold::sql_store
