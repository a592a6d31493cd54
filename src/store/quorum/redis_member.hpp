#ifndef LEASEHOLD_SRC_STORE_QUORUM_REDIS_MEMBER_HPP
#define LEASEHOLD_SRC_STORE_QUORUM_REDIS_MEMBER_HPP

#include "store/quorum/member.hpp"
#include "store/redis/transport/environment.hpp"

#include <leasehold/config.hpp>

#include <chrono>
#include <memory>

namespace leasehold::quorum {

/// A Redis server, alone.
/// @param settings With its address only.
[[nodiscard]] std::unique_ptr<member> make_redis_member(
    const config& settings, const std::shared_ptr<redis_store::environment>& from);

} // namespace leasehold::quorum

#endif
