#ifndef LEASEHOLD_TOOL_DOCTOR_POSTGRES_DOCTOR_HPP
#define LEASEHOLD_TOOL_DOCTOR_POSTGRES_DOCTOR_HPP

#include "report.hpp"

#include <leasehold/postgres_config.hpp>

#include <chrono>
#include <string>

namespace leasehold::tool::doctor {

/// Checks if a database is fit to keep locks. Then acquires and releases the lock `key`.
/// @param admin The same database, with a user that may see the sessions of others.
/// @param slow  A round trip that takes longer is reported.
[[nodiscard]] report examine_postgres(const postgres_config& where, const postgres_config& admin,
                                      std::chrono::milliseconds slow, const std::string& key);

} // namespace leasehold::tool::doctor

#endif
