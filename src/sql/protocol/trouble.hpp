#ifndef LEASEHOLD_SRC_SQL_PROTOCOL_TROUBLE_HPP
#define LEASEHOLD_SRC_SQL_PROTOCOL_TROUBLE_HPP

#include <leasehold/error.hpp>

#include <cstdint>
#include <string>

namespace leasehold::sql_store {

/// The causes that the store reacts to.
enum class cause : std::uint8_t
{
    other,
    conflict,       ///< Rolled back because of other transactions: it is worth another try.
    read_only,      ///< The server is a standby, or accepts no writes for another reason.
    login_rejected, ///< The server rejected the user or the password.
    schema_missing, ///< The tables or procedures of the locks are missing or have another version.
    outdated,       ///< Another version has replaced the prepared statements.
};

/// Why a connection or a call failed.
struct trouble
{
    error_code code{}; ///< For the client.
    cause why = cause::other;
    std::string from_server{}; ///< The text of the server. Empty: it does not come from there.
    std::string from_here{};   ///< Without one: why there is no connection.
    bool fatal = false;        ///< The server ends the session.
    bool located = true;       ///< The call of the batch that failed is known.
};

} // namespace leasehold::sql_store

#endif
