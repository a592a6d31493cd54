#ifndef LEASEHOLD_SRC_STORE_REDIS_TRANSPORT_SHARED_TRANSPORT_HPP
#define LEASEHOLD_SRC_STORE_REDIS_TRANSPORT_SHARED_TRANSPORT_HPP

#include "store/redis/transport/transport.hpp"

#include <chrono>
#include <memory>

namespace boost::redis {
class connection;
}

namespace leasehold::redis_store {

/// A link over a connection that the application runs, on whatever executor it lives.
/// @param pause Before the connection is asked again whether it serves.
std::shared_ptr<transport> make_shared_transport(
    std::shared_ptr<boost::redis::connection> connection, std::chrono::milliseconds pause);

} // namespace leasehold::redis_store

#endif
