#ifndef LEASEHOLD_REDIS_HPP
#define LEASEHOLD_REDIS_HPP

#include <leasehold/config.hpp>
#include <leasehold/detail/export.hpp>
#include <leasehold/store.hpp>

#include <memory>
#include <optional>

namespace boost::redis {
class connection;
}

namespace leasehold {

/// A store in one Redis or Valkey server, or the master that Sentinels name, over a connection of
/// its own. Wake-ups come through a second one, made when the first waiter appears.
/// @throws boost::system::system_error `errc::invalid_option` when `where` is not valid or names
/// another kind of store.
[[nodiscard]] LEASEHOLD_REDIS_EXPORT std::shared_ptr<store> make_redis_store(
    const config& settings);

/// A store over a connection that the application has and runs already: commands are sent through
/// it, so that no second connection is needed for them. The application keeps calling `async_run`
/// on it and keeps its push messages.
///
/// Push messages of a connection go to one receiver, and that is the application's. So wake-ups
/// come through a small second connection, made from `wakeups` when the first waiter appears.
/// `wakeups` says the layout of the keys and the time limits, too.
///
/// The store's own connections end when a server sends what is not the Redis protocol. This one
/// does what its version of Boost.Redis does: 1.92 can end the process over a malformed reply
/// (docs/internals/boost_redis_parser.md), so connect it to servers that are trusted.
///
/// The connection may live on any executor; each call goes there and back. It is kept alive by the
/// store.
/// @param connection Runs already, or soon.
/// @param wakeups    Nothing: none, as below.
/// @throws boost::system::system_error `errc::invalid_option` when `connection` is null, or
/// `wakeups` is not valid or names another kind of store.
[[nodiscard]] LEASEHOLD_REDIS_EXPORT std::shared_ptr<store> make_redis_store(
    std::shared_ptr<boost::redis::connection> connection, std::optional<config> wakeups);

/// The same without wake-ups: waiters look again with backoff, and at the latest when the holder's
/// time to live has passed.
[[nodiscard]] LEASEHOLD_REDIS_EXPORT std::shared_ptr<store> make_redis_store(
    std::shared_ptr<boost::redis::connection> connection,
    config::key_layout layout = config::key_layout::native);

} // namespace leasehold

#endif
