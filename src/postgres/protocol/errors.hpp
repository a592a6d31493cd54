#ifndef LEASEHOLD_SRC_POSTGRES_PROTOCOL_ERRORS_HPP
#define LEASEHOLD_SRC_POSTGRES_PROTOCOL_ERRORS_HPP

#include <leasehold/error.hpp>

#include <string>
#include <string_view>

namespace leasehold::postgres_store {

/// The meaning of an SQLSTATE, by Appendix A of the PostgreSQL documentation. An unknown one is
/// `errc::store_refused`.
[[nodiscard]] error_code classify(std::string_view sqlstate) noexcept;

/// The transaction was rolled back because of other transactions: it is worth another try.
[[nodiscard]] bool is_conflict(std::string_view sqlstate) noexcept;

/// The tables or functions of the locks are missing, or have another version.
[[nodiscard]] bool is_schema_missing(std::string_view sqlstate) noexcept;

/// The server is a standby, or accepts no writes for another reason.
[[nodiscard]] bool is_read_only(std::string_view sqlstate) noexcept;

/// The server rejected the user or the password.
[[nodiscard]] bool is_login_rejected(std::string_view sqlstate) noexcept;

/// Why a connection or a statement failed.
struct trouble
{
    error_code code{};         ///< For the client.
    std::string sqlstate{};    ///< Empty: it does not come from the server.
    std::string from_server{}; ///< The text of the server.
    std::string from_here{};   ///< Without one: why there is no connection.
    bool fatal = false;        ///< The server ends the session.
};

} // namespace leasehold::postgres_store

#endif
