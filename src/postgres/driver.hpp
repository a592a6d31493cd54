#ifndef LEASEHOLD_SRC_POSTGRES_DRIVER_HPP
#define LEASEHOLD_SRC_POSTGRES_DRIVER_HPP

#include "sql/connection/session.hpp"

#include <leasehold/detail/export.hpp>
#include <leasehold/postgres_config.hpp>

#include <memory>

namespace leasehold::postgres_store {

/// @pre The settings are valid.
[[nodiscard]] LEASEHOLD_POSTGRES_EXPORT std::shared_ptr<const sql_store::driver> make_driver(
    const postgres_config& settings);

} // namespace leasehold::postgres_store

#endif
