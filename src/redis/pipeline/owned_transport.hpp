#ifndef LEASEHOLD_SRC_REDIS_PIPELINE_OWNED_TRANSPORT_HPP
#define LEASEHOLD_SRC_REDIS_PIPELINE_OWNED_TRANSPORT_HPP

#include "redis/connection/environment.hpp"
#include "redis/pipeline/transport.hpp"

#include <leasehold/redis_config.hpp>

#include <memory>

namespace leasehold::redis_store {

/// Returns a transport over a connection of the library, on the strand itself.
std::shared_ptr<transport> make_owned_transport(const redis_config& settings,
                                                std::shared_ptr<environment> from);

} // namespace leasehold::redis_store

#endif
