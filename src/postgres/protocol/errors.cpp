#include "postgres/protocol/errors.hpp"

#include <algorithm>
#include <array>

namespace leasehold::postgres_store {
namespace {

struct row
{
    std::string_view beginning; ///< Of the SQLSTATE: a class of two characters, or all five.
    errc code;
};

// The first match applies. Without a match: `store_refused`.
constexpr std::array rows{
    row{"08", errc::store_unavailable},    // connection exception
    row{"0A", errc::not_supported},        // feature not supported
    row{"0P", errc::permission_denied},    // invalid role
    row{"25006", errc::store_refused},     // read-only transaction
    row{"28", errc::permission_denied},    // invalid authorization, wrong password
    row{"3D000", errc::invalid_option},    // no such database
    row{"3F000", errc::not_supported},     // no such schema
    row{"40", errc::store_refused},        // serialization failure, deadlock
    row{"42501", errc::permission_denied}, // insufficient privilege
    row{"42", errc::not_supported},        // no such table, function or column
    row{"53", errc::store_refused},        // too many connections, disk full, out of memory
    row{"55P03", errc::store_refused},     // lock timeout
    row{"57", errc::store_refused},        // shutdown, starting up, cancelled statement
};

} // namespace

error_code classify(std::string_view sqlstate) noexcept
{
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const row& each) {
        return sqlstate.starts_with(each.beginning);
    });
    return found == rows.end() ? errc::store_refused : found->code;
}

sql_store::cause cause_of(std::string_view sqlstate) noexcept
{
    using sql_store::cause;
    if (sqlstate == "40001" || sqlstate == "40P01") // serialization failure, deadlock
        return cause::conflict;
    if (sqlstate == "25006")
        return cause::read_only;
    if (sqlstate.starts_with("28"))
        return cause::login_rejected;
    if (sqlstate == "3F000" || (sqlstate.starts_with("42") && sqlstate != "42501"))
        return cause::schema_missing;
    // The statement was prepared for functions that were replaced since.
    if (sqlstate == "0A000" || sqlstate == "26000")
        return cause::outdated;
    return cause::other;
}

} // namespace leasehold::postgres_store
