#ifndef LEASEHOLD_POSTGRES_HPP
#define LEASEHOLD_POSTGRES_HPP

#include <leasehold/detail/export.hpp>
#include <leasehold/make_store.hpp>
#include <leasehold/postgres_config.hpp>
#include <leasehold/store.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace leasehold {

/// Makes a store in a PostgreSQL database, with its own connections. A lock is a row of a table.
/// The first wait opens a second connection, on which the server announces grants.
///
/// The schema must be installed: see `postgres_schema`. If it is missing or has another version,
/// operations fail with `errc::not_supported`, and `diagnostics::server_message` names the command
/// that installs it.
///
/// The store needs sessions of its own. A pooler must be in session mode, because a pooler in
/// transaction mode loses the settings of a session and its notifications.
/// @throws boost::system::system_error `errc::invalid_option` if `settings` is invalid.
[[nodiscard]] LEASEHOLD_POSTGRES_EXPORT std::shared_ptr<store> make_postgres_store(
    const postgres_config& settings);

/// The SQL text that creates the tables and functions of the locks in a schema. It can be executed
/// again, and then replaces the functions of an earlier version.
/// @param schema The name of the schema, which is created if it is missing.
[[nodiscard]] LEASEHOLD_POSTGRES_EXPORT std::string postgres_schema(
    std::string_view schema = "leasehold");

namespace detail {

LEASEHOLD_POSTGRES_EXPORT bool register_postgres();

// A program that includes this header has the schemes `postgres` and `postgresql` in `make_store`.
inline const bool postgres_is_registered = register_postgres();

} // namespace detail

} // namespace leasehold

#endif
