#include "postgres/protocol/statements.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

namespace leasehold::postgres_store {
namespace {

// The type of an element of an array of `bytea` or `bigint`.
constexpr std::uint32_t bytea_oid = 17;
constexpr std::uint32_t bigint_oid = 20;

constexpr std::chrono::milliseconds longest = std::chrono::years(100);

// Rows that one statement looks at.
constexpr std::int32_t sweep_size = 200;

std::int64_t milliseconds_of(std::chrono::milliseconds time) noexcept
{
    return std::clamp(time, std::chrono::milliseconds(1), longest).count();
}

std::int32_t count_of(std::uint32_t value) noexcept
{
    return static_cast<std::int32_t>(
        std::min<std::uint32_t>(value, std::numeric_limits<std::int32_t>::max()));
}

std::int64_t fence_of(std::uint64_t value) noexcept
{
    return static_cast<std::int64_t>(
        std::min<std::uint64_t>(value, std::numeric_limits<std::int64_t>::max()));
}

void add_wait(parameters& to, const acquire_request& request, std::int32_t listener)
{
    to.add(request.waits ? milliseconds_of(request.presence) : std::int64_t(0));
    to.add(request.waits ? milliseconds_of(request.claim) : std::int64_t(0));
    to.add(request.waits ? listener : std::int32_t(0));
}

} // namespace

const char* name_of(statement which) noexcept
{
    switch (which) {
    case statement::acquire: return "leasehold_acquire";
    case statement::release: return "leasehold_release";
    case statement::renew: return "leasehold_renew";
    case statement::introduce: return "leasehold_introduce";
    case statement::describe: return "leasehold_describe";
    case statement::sweep: break;
    }
    return "leasehold_sweep";
}

std::string text_of(statement which, const std::string& schema)
{
    const auto call = [&](const char* arguments) { return "select * from " + schema + arguments; };
    switch (which) {
    case statement::acquire:
        return call(".acquire($1::bytea, $2::bytea, $3::bytea, $4::bigint, $5::integer, "
                    "$6::bigint, $7::bigint, $8::bigint, $9::bigint, $10::integer, $11::boolean)");
    case statement::release:
        return call(".release($1::bytea, $2::bytea, $3::bytea, $4::bytea, $5::bigint, "
                    "$6::integer, $7::bigint, $8::bigint, $9::bigint, $10::bigint, $11::integer)");
    case statement::renew:
        return call(".renew($1::bytea[], $2::bytea[], $3::bytea[], $4::bigint[])");
    case statement::introduce: return call(".introduce($1::bytea, $2::text)");
    case statement::describe: return call(".describe($1::bytea)");
    case statement::sweep: break;
    }
    return call(".sweep($1::bytea, $2::bigint, $3::integer)");
}

parameters encode(const acquire_request& request, std::int64_t deadline, std::int32_t listener)
{
    parameters values;
    values.add(request.name);
    values.add(request.owner);
    values.add(request.entry);
    values.add(milliseconds_of(request.lease));
    values.add(count_of(request.fences));
    values.add(fence_of(request.fence_floor));
    values.add(deadline);
    add_wait(values, request, listener);
    values.add(request.needs_holder);
    return values;
}

parameters encode(const release_request& request, std::int64_t next_deadline, std::int32_t listener)
{
    parameters values;
    values.add(request.name);
    values.add(request.owner);
    values.add(request.entry);
    const acquire_request none{};
    const acquire_request& next = request.next != nullptr ? *request.next : none;
    values.add(next.owner);
    values.add(milliseconds_of(next.lease));
    values.add(count_of(next.fences));
    values.add(fence_of(next.fence_floor));
    values.add(next_deadline);
    add_wait(values, next, listener);
    return values;
}

parameters encode(std::span<const renewal> renewals)
{
    parameters values;
    const std::size_t n = renewals.size();
    values.add_array(bytea_oid, n, [&](std::size_t i) { return renewals[i].name; });
    values.add_array(bytea_oid, n, [&](std::size_t i) { return renewals[i].owner; });
    values.add_array(bytea_oid, n, [&](std::size_t i) { return renewals[i].entry; });
    element_bytes lease(0);
    values.add_array(bigint_oid, n, [&](std::size_t i) {
        lease = element_bytes(milliseconds_of(renewals[i].lease));
        return lease.view();
    });
    return values;
}

parameters encode_introduce(std::string_view client, std::string_view info)
{
    parameters values;
    values.add(client);
    values.add(info);
    return values;
}

parameters encode_describe(std::string_view prefix)
{
    parameters values;
    values.add(prefix);
    return values;
}

parameters encode_sweep(std::string_view after, std::chrono::milliseconds retention)
{
    parameters values;
    values.add(after);
    values.add(milliseconds_of(retention));
    values.add(sweep_size);
    return values;
}

std::string_view client_of(std::string_view owner) noexcept
{
    return owner.substr(0, owner.find(':'));
}

} // namespace leasehold::postgres_store
