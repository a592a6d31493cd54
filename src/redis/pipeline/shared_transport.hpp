#ifndef LEASEHOLD_SRC_REDIS_PIPELINE_SHARED_TRANSPORT_HPP
#define LEASEHOLD_SRC_REDIS_PIPELINE_SHARED_TRANSPORT_HPP

#include "core/turn/time_source.hpp"
#include "redis/connection/connection.hpp"
#include "redis/pipeline/transport.hpp"

#include <leasehold/redis_config.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <memory>

namespace leasehold::redis_store {

/// Returns a transport over a connection that the application runs, on any executor.
/// @param executor The executor of the connection.
/// @param settings `reconnect`: the time before the next check whether the connection can be used;
///                 `prefix`. The others have no effect.
std::shared_ptr<transport> make_shared_transport(std::shared_ptr<request_channel> connection,
                                                 const asio::any_io_executor& executor,
                                                 const redis_config& settings,
                                                 std::unique_ptr<detail::time_source> time);

} // namespace leasehold::redis_store

#endif
