#ifndef LEASEHOLD_SRC_REDIS_REDLOCK_REDIS_MEMBER_HPP
#define LEASEHOLD_SRC_REDIS_REDLOCK_REDIS_MEMBER_HPP

#include "redis/connection/environment.hpp"
#include "redis/redlock/member.hpp"

#include <leasehold/redis_config.hpp>

#include <chrono>
#include <memory>

namespace leasehold::quorum {

/// One Redis server.
/// @param settings With only its address.
[[nodiscard]] std::unique_ptr<member> make_redis_member(
    const redis_config& settings, const std::shared_ptr<redis_store::environment>& from);

} // namespace leasehold::quorum

#endif
