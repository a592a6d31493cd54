#ifndef LEASEHOLD_TOOL_DOCTOR_MYSQL_DOCTOR_HPP
#define LEASEHOLD_TOOL_DOCTOR_MYSQL_DOCTOR_HPP

#include "report.hpp"

#include <leasehold/mysql_config.hpp>

#include <chrono>
#include <string>

namespace leasehold::tool::doctor {

/// As `examine_postgres`.
[[nodiscard]] report examine_mysql(const mysql_config& where, const mysql_config& admin,
                                   std::chrono::milliseconds slow, const std::string& key);

} // namespace leasehold::tool::doctor

#endif
