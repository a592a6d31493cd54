#ifndef LEASEHOLD_SRC_REDIS_REPLICAS_CONFIRMED_REQUESTS_HPP
#define LEASEHOLD_SRC_REDIS_REPLICAS_CONFIRMED_REQUESTS_HPP

#include "redis/pipeline/pipeline.hpp"
#include "redis/replicas/replica_confirmations.hpp"

#include <leasehold/store.hpp>

#include <memory>
#include <span>

namespace leasehold::redis_store {

// Requests that count only if replicas have their effect. `asking`: as for `pipeline`.

void acquire_confirmed(const std::shared_ptr<pipeline>& way,
                       const std::shared_ptr<replica_confirmations>& replicas,
                       const acquire_request& request, store::acquire_handler handler,
                       bool asking = false);

void renew_confirmed(const std::shared_ptr<pipeline>& way,
                     const std::shared_ptr<replica_confirmations>& replicas,
                     std::span<const renewal> renewals, store::renew_handler handler,
                     bool asking = false);

} // namespace leasehold::redis_store

#endif
