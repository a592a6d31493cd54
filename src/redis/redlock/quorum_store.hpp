#ifndef LEASEHOLD_SRC_REDIS_REDLOCK_QUORUM_STORE_HPP
#define LEASEHOLD_SRC_REDIS_REDLOCK_QUORUM_STORE_HPP

#include "core/turn/time_source.hpp"
#include "redis/redlock/member.hpp"

#include <leasehold/detail/export.hpp>
#include <leasehold/store.hpp>

#include <memory>
#include <vector>

namespace leasehold::quorum {

/// A store of independent members, of which `grants` have to grant a lock.
[[nodiscard]] LEASEHOLD_REDIS_EXPORT std::shared_ptr<store> make_store(
    std::vector<std::unique_ptr<member>> members, unsigned grants,
    std::unique_ptr<detail::time_source> time);

} // namespace leasehold::quorum

#endif
