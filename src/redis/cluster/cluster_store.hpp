#ifndef LEASEHOLD_SRC_REDIS_CLUSTER_CLUSTER_STORE_HPP
#define LEASEHOLD_SRC_REDIS_CLUSTER_CLUSTER_STORE_HPP

#include "redis/connection/environment.hpp"

#include <leasehold/redis_config.hpp>
#include <leasehold/store.hpp>

#include <memory>

namespace leasehold::redis_store::cluster {

/// As `make_store`, for the masters of a cluster.
[[nodiscard]] std::shared_ptr<store> make_cluster_store(const redis_config& settings,
                                                        std::shared_ptr<environment> from);

} // namespace leasehold::redis_store::cluster

#endif
