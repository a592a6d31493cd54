#ifndef LEASEHOLD_SRC_POSTGRES_PROTOCOL_SCHEMA_VERSION_HPP
#define LEASEHOLD_SRC_POSTGRES_PROTOCOL_SCHEMA_VERSION_HPP

#include <leasehold/postgres_config.hpp>

#include <cstdint>
#include <string>

namespace leasehold::postgres_store {

/// The version of the schema that this library uses.
inline constexpr std::int64_t schema_version = 1;

/// The command that installs the schema, for texts of errors.
[[nodiscard]] std::string how_to_install(const postgres_config& settings);

} // namespace leasehold::postgres_store

#endif
