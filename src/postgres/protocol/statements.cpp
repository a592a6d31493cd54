#include "postgres/protocol/statements.hpp"

#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

namespace leasehold::postgres_store {
namespace {

using sql_store::argument;

// The type of an element of an array of `bytea` or `bigint`.
constexpr std::uint32_t bytea_oid = 17;
constexpr std::uint32_t bigint_oid = 20;

parameters encode_renewals(const std::vector<argument>& values)
{
    constexpr std::size_t each = 4; // name, owner, entry, lease
    const std::size_t n = values.size() / each;
    parameters result;
    for (std::size_t column = 0; column + 1 < each; ++column)
        result.add_array(bytea_oid, n, [&](std::size_t i) {
            return std::string_view(std::get<std::string>(values[each * i + column]));
        });
    element_bytes lease(0);
    result.add_array(bigint_oid, n, [&](std::size_t i) {
        lease = element_bytes(std::get<std::int64_t>(values[each * i + each - 1]));
        return lease.view();
    });
    return result;
}

} // namespace

const char* name_of(procedure which) noexcept
{
    switch (which) {
    case procedure::acquire: return "leasehold_acquire";
    case procedure::release: return "leasehold_release";
    case procedure::renew: return "leasehold_renew";
    case procedure::introduce: return "leasehold_introduce";
    case procedure::describe: return "leasehold_describe";
    case procedure::sweep: return "leasehold_sweep";
    default: return nullptr;
    }
}

std::string text_of(const sql_store::call& made, const std::string& schema)
{
    const auto call = [&](const char* arguments) { return "select * from " + schema + arguments; };
    switch (made.what) {
    case procedure::acquire:
        return call(".acquire($1::bytea, $2::bytea, $3::bytea, $4::bigint, $5::bigint::integer, "
                    "$6::bigint, $7::bigint, $8::bigint, $9::bigint, $10::bigint::integer, "
                    "$11::bigint <> 0)");
    case procedure::release:
        return call(".release($1::bytea, $2::bytea, $3::bytea, $4::bytea, $5::bigint, "
                    "$6::bigint::integer, $7::bigint, $8::bigint, $9::bigint, $10::bigint, "
                    "$11::bigint::integer)");
    case procedure::renew:
        return call(".renew($1::bytea[], $2::bytea[], $3::bytea[], $4::bigint[])");
    case procedure::introduce: return call(".introduce($1::bytea, $2::text)");
    case procedure::describe: return call(".describe($1::bytea)");
    case procedure::sweep: return call(".sweep($1::bytea, $2::bigint, $3::bigint::integer)");
    case procedure::held: return call(".held($1::bytea)");
    case procedure::queue: return call(".queue($1::bytea)");
    case procedure::remove: return call(".remove($1::bytea, $2::bytea)");
    case procedure::query: break;
    }
    return std::get<std::string>(made.arguments.at(0));
}

parameters encode(const sql_store::call& made)
{
    if (made.what == procedure::renew)
        return encode_renewals(made.arguments);
    parameters result;
    if (made.what == procedure::query)
        return result;
    for (const argument& each : made.arguments) {
        if (const auto* const number = std::get_if<std::int64_t>(&each))
            result.add(*number);
        else if (const auto* const bytes = std::get_if<std::string>(&each))
            result.add(*bytes);
        else
            result.add_null();
    }
    return result;
}

} // namespace leasehold::postgres_store
