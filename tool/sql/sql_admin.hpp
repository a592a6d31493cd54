#ifndef LEASEHOLD_TOOL_SQL_SQL_ADMIN_HPP
#define LEASEHOLD_TOOL_SQL_SQL_ADMIN_HPP

#include "../locks/lock_admin.hpp"

#include "sql/connection/session.hpp"

#include <memory>

namespace leasehold::tool {

/// The locks of a store in a database.
[[nodiscard]] std::unique_ptr<lock_admin> make_sql_admin(
    boost::asio::io_context& context, lock_kind kind, std::shared_ptr<const sql_store::driver> how);

} // namespace leasehold::tool

#endif
