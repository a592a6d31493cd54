#ifndef LEASEHOLD_SRC_REDIS_CONFIG_CREDENTIALS_HPP
#define LEASEHOLD_SRC_REDIS_CONFIG_CREDENTIALS_HPP

#include <leasehold/detail/export.hpp>
#include <leasehold/redis_config.hpp>

namespace leasehold::redis_store {

/// Whether the next connection may have other credentials than this one.
[[nodiscard]] bool may_change_credentials(const redis_config& settings) noexcept;
[[nodiscard]] bool may_change_sentinel_credentials(const redis_config& settings) noexcept;

/// The credentials for a connection that is made now.
/// @throws std::runtime_error The file cannot be read, or it has no password. Also the exceptions
/// of
///     the user's function.
[[nodiscard]] LEASEHOLD_REDIS_EXPORT redis_config::credentials credentials_for(
    const redis_config& settings);
/// The same for the Sentinels.
[[nodiscard]] LEASEHOLD_REDIS_EXPORT redis_config::credentials sentinel_credentials_for(
    const redis_config& settings);

} // namespace leasehold::redis_store

#endif
