#ifndef LEASEHOLD_SRC_SQL_STORE_SQL_STORE_HPP
#define LEASEHOLD_SRC_SQL_STORE_SQL_STORE_HPP

#include "sql/connection/session.hpp"

#include <leasehold/detail/export.hpp>
#include <leasehold/store.hpp>

#include <memory>

namespace leasehold::sql_store {

/// A store whose procedures run in a database.
[[nodiscard]] LEASEHOLD_EXPORT std::shared_ptr<store> make_store(std::shared_ptr<const driver> how);

} // namespace leasehold::sql_store

#endif
