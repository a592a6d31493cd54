#ifndef LEASEHOLD_SRC_REDIS_PIPELINE_SHARED_TRANSPORT_HPP
#define LEASEHOLD_SRC_REDIS_PIPELINE_SHARED_TRANSPORT_HPP

#include "core/turn/time_source.hpp"
#include "redis/connection/connection.hpp"
#include "redis/pipeline/transport.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <memory>

namespace leasehold::redis_store {

/// Returns a transport over a connection that the application runs, on any executor.
/// @param executor The executor of the connection.
/// @param pause Time before the next check whether the connection can be used.
std::shared_ptr<transport> make_shared_transport(std::shared_ptr<request_channel> connection,
                                                 const asio::any_io_executor& executor,
                                                 std::chrono::milliseconds pause,
                                                 std::unique_ptr<detail::time_source> time);

} // namespace leasehold::redis_store

#endif
