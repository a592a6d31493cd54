#ifndef LEASEHOLD_SRC_STORE_REDIS_TRANSPORT_OWNED_TRANSPORT_HPP
#define LEASEHOLD_SRC_STORE_REDIS_TRANSPORT_OWNED_TRANSPORT_HPP

#include "store/redis/transport/environment.hpp"
#include "store/redis/transport/transport.hpp"

#include <leasehold/config.hpp>

#include <memory>

namespace leasehold::redis_store {

/// A link over a connection of the library's own, on the strand itself.
std::shared_ptr<transport> make_owned_transport(const config& settings,
                                                std::shared_ptr<environment> from);

} // namespace leasehold::redis_store

#endif
