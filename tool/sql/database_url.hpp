#ifndef LEASEHOLD_TOOL_SQL_DATABASE_URL_HPP
#define LEASEHOLD_TOOL_SQL_DATABASE_URL_HPP

#include "../locks/lock_state.hpp"

#include "sql/connection/session.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace leasehold::tool {

[[nodiscard]] bool is_postgres(std::string_view url);
[[nodiscard]] bool is_mysql(std::string_view url);
[[nodiscard]] inline bool is_database(std::string_view url)
{
    return is_postgres(url) || is_mysql(url);
}

/// A database that keeps locks.
struct database_place
{
    lock_kind kind;
    std::shared_ptr<const sql_store::driver> how;
};

/// The database of a URL; none: it is the URL of another store, or was not built.
/// @throws boost::system::system_error (an invalid URL)
[[nodiscard]] std::optional<database_place> database_of(const std::string& url);

} // namespace leasehold::tool

#endif
