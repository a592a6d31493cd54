#ifndef LEASEHOLD_MYSQL_HPP
#define LEASEHOLD_MYSQL_HPP

#include <leasehold/detail/export.hpp>
#include <leasehold/make_store.hpp>
#include <leasehold/mysql_config.hpp>
#include <leasehold/store.hpp>

#include <memory>
#include <string>

namespace leasehold {

/// Makes a store in a MySQL or MariaDB database, with its own connections. A lock is a row of a
/// table. The first wait opens a second connection, on which the server announces grants.
///
/// The schema must be installed: see `mysql_schema`. If it is missing or has another version,
/// operations fail with `errc::not_supported`, and `diagnostics::server_message` names the command
/// that installs it.
///
/// The store needs sessions of its own, because they hold user-level locks. A proxy that shares
/// sessions between clients cannot be used.
/// @throws boost::system::system_error `errc::invalid_option` if `settings` is invalid.
[[nodiscard]] LEASEHOLD_MYSQL_EXPORT std::shared_ptr<store> make_mysql_store(
    const mysql_config& settings);

/// The SQL text that creates the tables and procedures of the locks in the current database, for
/// the programs `mysql` and `mariadb`. It can be executed again, and then replaces the procedures
/// of an earlier version.
[[nodiscard]] LEASEHOLD_MYSQL_EXPORT std::string mysql_schema();

namespace detail {

LEASEHOLD_MYSQL_EXPORT bool register_mysql();

// A program that includes this header has the schemes `mysql` and `mariadb` in `make_store`.
inline const bool mysql_is_registered = register_mysql();

} // namespace detail

} // namespace leasehold

#endif
