#ifndef LEASEHOLD_SRC_MYSQL_PROTOCOL_SCHEMA_VERSION_HPP
#define LEASEHOLD_SRC_MYSQL_PROTOCOL_SCHEMA_VERSION_HPP

#include "base/printable.hpp"

#include <cstdint>
#include <string>

namespace leasehold::mysql_store {

/// The version of the schema that this library uses.
inline constexpr std::int64_t schema_version = 1;

/// The command that installs the schema, for texts of errors.
[[nodiscard]] inline std::string how_to_install(const std::string& database)
{
    return "install it: leasehold schema --mysql | mysql '" + detail::printable(database) + "'";
}

} // namespace leasehold::mysql_store

#endif
