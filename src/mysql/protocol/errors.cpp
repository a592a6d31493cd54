#include "mysql/protocol/errors.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace leasehold::mysql_store {
namespace {

using sql_store::cause;

struct error_row
{
    int number;
    errc code;
    cause why = cause::other;
    bool fatal = false;
};

// By the lists of errors of MySQL and MariaDB. Other numbers: `store_refused`.
constexpr std::array error_rows{
    error_row{1044, errc::permission_denied},                        // no right to the database
    error_row{1045, errc::permission_denied, cause::login_rejected}, // wrong user or password
    error_row{1049, errc::invalid_option},                           // no such database
    error_row{1053, errc::store_refused, cause::other, true},        // shutdown
    error_row{1142, errc::permission_denied},                        // no right to a table
    error_row{1143, errc::permission_denied},                        // no right to a column
    error_row{1146, errc::not_supported, cause::schema_missing},     // no such table
    error_row{1205, errc::store_refused},                            // timeout of a row lock
    error_row{1213, errc::store_refused, cause::conflict},           // deadlock
    error_row{1227, errc::permission_denied},                        // no such privilege
    error_row{1290, errc::store_refused, cause::read_only},          // --read-only
    error_row{1305, errc::not_supported, cause::schema_missing},     // no such procedure
    error_row{1318, errc::not_supported, cause::schema_missing},     // its number of arguments
    error_row{1370, errc::permission_denied},                        // no right to a procedure
    error_row{1406, errc::invalid_name},                             // an argument is too long
    error_row{1698, errc::permission_denied, cause::login_rejected}, // wrong user
    error_row{1792, errc::store_refused, cause::read_only},          // read-only transaction
    error_row{1836, errc::store_refused, cause::read_only},          // read-only mode
    error_row{1927, errc::store_refused, cause::other, true},        // killed connection
    error_row{3100, errc::store_refused, cause::conflict},           // conflict of a cluster
    error_row{3101, errc::store_refused, cause::conflict},           // the same
    error_row{3169, errc::store_refused, cause::other, true},        // killed session
    error_row{4031, errc::store_refused, cause::other, true},        // idle for too long
};

} // namespace

sql_store::trouble trouble_of(int number, std::string_view text)
{
    const auto* const found = std::find_if(
        error_rows.begin(), error_rows.end(),
        [&](const error_row& each) { return each.number == number; });
    const error_row row = found == error_rows.end() ? error_row{number, errc::store_refused}
                                                    : *found;
    sql_store::trouble known;
    known.code = row.code;
    known.why = row.why;
    known.fatal = row.fatal;
    known.located = false;
    known.from_server = text;
    known.from_server.append(" (").append(std::to_string(number)).append(")");
    return known;
}

} // namespace leasehold::mysql_store
