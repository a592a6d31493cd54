#ifndef LEASEHOLD_SRC_REDIS_MAKE_STORE_HPP
#define LEASEHOLD_SRC_REDIS_MAKE_STORE_HPP

#include "redis/connection/environment.hpp"

#include <leasehold/detail/export.hpp>
#include <leasehold/redis_config.hpp>
#include <leasehold/store.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <memory>

namespace leasehold::redis_store {

/// As `make_redis_store`, with connections and time from an environment.
[[nodiscard]] LEASEHOLD_REDIS_EXPORT std::shared_ptr<store> make_store(
    const redis_config& settings, std::shared_ptr<environment> from);

/// A store over a connection of the application.
/// @param executor The executor of that connection.
/// @param wakeups  Whether there is a connection for wake-ups, to the server in `limits`.
[[nodiscard]] LEASEHOLD_REDIS_EXPORT std::shared_ptr<store> make_store(
    std::shared_ptr<request_channel> connection, const asio::any_io_executor& executor,
    const redis_config& limits, bool wakeups, std::shared_ptr<environment> from);

} // namespace leasehold::redis_store

#endif
