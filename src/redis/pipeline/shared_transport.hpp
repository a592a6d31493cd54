#ifndef LEASEHOLD_SRC_REDIS_PIPELINE_SHARED_TRANSPORT_HPP
#define LEASEHOLD_SRC_REDIS_PIPELINE_SHARED_TRANSPORT_HPP

#include "core/turn/time_source.hpp"
#include "redis/connection/connection.hpp"
#include "redis/pipeline/transport.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <memory>

namespace leasehold::redis_store {

/// A link over a connection that the application runs, on whatever executor it lives.
/// @param executor Where it lives.
/// @param pause Before the connection is asked again whether it serves.
std::shared_ptr<transport> make_shared_transport(std::shared_ptr<request_channel> connection,
                                                 const asio::any_io_executor& executor,
                                                 std::chrono::milliseconds pause,
                                                 std::unique_ptr<detail::time_source> time);

} // namespace leasehold::redis_store

#endif
