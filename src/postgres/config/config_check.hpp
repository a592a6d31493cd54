#ifndef LEASEHOLD_SRC_POSTGRES_CONFIG_CONFIG_CHECK_HPP
#define LEASEHOLD_SRC_POSTGRES_CONFIG_CONFIG_CHECK_HPP

#include <leasehold/postgres_config.hpp>

#include <string>

namespace leasehold::postgres_store {

/// Names the first invalid field, its value, and the allowed values; empty if all are valid.
/// Contains no password.
[[nodiscard]] std::string problem_of(const postgres_config& c);

/// The names of `sslmode` and `durability` in URLs.
[[nodiscard]] const char* name_of(postgres_config::tls_mode mode) noexcept;
[[nodiscard]] const char* name_of(postgres_config::commit_durability durability) noexcept;

} // namespace leasehold::postgres_store

#endif
