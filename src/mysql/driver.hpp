#ifndef LEASEHOLD_SRC_MYSQL_DRIVER_HPP
#define LEASEHOLD_SRC_MYSQL_DRIVER_HPP

#include "sql/connection/session.hpp"

#include <leasehold/detail/export.hpp>
#include <leasehold/mysql_config.hpp>

#include <memory>

namespace leasehold::mysql_store {

/// @pre The settings are valid.
[[nodiscard]] LEASEHOLD_MYSQL_EXPORT std::shared_ptr<const sql_store::driver> make_driver(
    const mysql_config& settings);

} // namespace leasehold::mysql_store

#endif
