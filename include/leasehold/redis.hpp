#ifndef LEASEHOLD_REDIS_HPP
#define LEASEHOLD_REDIS_HPP

#include <leasehold/detail/export.hpp>
#include <leasehold/make_store.hpp>
#include <leasehold/redis_config.hpp>
#include <leasehold/store.hpp>

#include <memory>
#include <optional>
#include <string_view>

namespace boost::redis {
class connection;
}

namespace leasehold {

/// Makes a store in a deployment of Redis or Valkey, with its own connections. A second connection
/// for wake-ups is made when the first waiter appears.
/// @throws boost::system::system_error `errc::invalid_option` if `settings` is invalid.
[[nodiscard]] LEASEHOLD_REDIS_EXPORT std::shared_ptr<store> make_redis_store(
    const redis_config& settings);

/// Makes a store over a connection that the application already runs. The store sends its commands
/// over it. The application still calls `async_run` on it and receives its push messages.
///
/// Push messages of a connection have one receiver, the application. So wake-ups need a second
/// connection, which is made from `wakeups` when the first waiter appears. `wakeups` also sets the
/// layout and the prefix of the keys, and the timeouts.
///
/// If a server sends data that is not the Redis protocol, the store closes its own connections. The
/// application's connection behaves as its version of Boost.Redis does: 1.92 may end the process
/// over a malformed reply (docs/internals/boost_redis_parser.md). Use it only with trusted servers.
///
/// The connection may have any executor; each request is posted there and back. The store shares
/// ownership of it.
/// @param connection The application runs it now or later.
/// @param wakeups    Empty: no wake-ups, as below.
/// @throws boost::system::system_error `errc::invalid_option` if `connection` is null, or if
///     `wakeups` is invalid or names neither one server nor Sentinels.
[[nodiscard]] LEASEHOLD_REDIS_EXPORT std::shared_ptr<store> make_redis_store(
    std::shared_ptr<boost::redis::connection> connection, std::optional<redis_config> wakeups);

/// Makes the same store without wake-ups: waiters poll with backoff, and at the latest when the TTL
/// of the holder ends.
/// @param prefix As in `redis_config`.
/// @throws boost::system::system_error `errc::invalid_option` if `connection` is null, or if
///     `prefix` is invalid.
[[nodiscard]] LEASEHOLD_REDIS_EXPORT std::shared_ptr<store> make_redis_store(
    std::shared_ptr<boost::redis::connection> connection,
    redis_config::key_layout layout = redis_config::key_layout::native,
    std::string_view prefix = {});

namespace detail {

LEASEHOLD_REDIS_EXPORT bool register_redis();

// A program that includes this header has the schemes of `redis_config` in `make_store`.
inline const bool redis_is_registered = register_redis();

} // namespace detail

} // namespace leasehold

#endif
