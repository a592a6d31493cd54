#ifndef LEASEHOLD_ZOOKEEPER_HPP
#define LEASEHOLD_ZOOKEEPER_HPP

#include <leasehold/detail/export.hpp>
#include <leasehold/make_store.hpp>
#include <leasehold/store.hpp>
#include <leasehold/zookeeper_config.hpp>

#include <memory>

namespace leasehold {

/// Makes a store in ZooKeeper 3.5 or newer, with its own session. A lock is the node of its name
/// below the root, and its holder and waiters are the ephemeral children of that node, in the order
/// of their sequence numbers. They have the names that `InterProcessMutex` of Apache Curator uses,
/// so services with Curator on the same path exclude each other and wait in the same queue. For
/// kazoo, pass `extra_lock_patterns=['-lock-']` to its `Lock`.
///
/// The locks of a client end with its session. A lease ends earlier than the session, because it
/// counts only what the leader has confirmed. So a client that is connected to a follower without a
/// leader loses its leases in time.
///
/// The name of a lock may have any bytes. Printable characters of ASCII are its node's name.
/// Others,
/// `/` and `%` are percent-encoded.
/// @throws boost::system::system_error `errc::invalid_option` if `settings` is invalid.
[[nodiscard]] LEASEHOLD_ZOOKEEPER_EXPORT std::shared_ptr<store> make_zookeeper_store(
    const zookeeper_config& settings);

namespace detail {

LEASEHOLD_ZOOKEEPER_EXPORT bool register_zookeeper();

// A program that includes this header has the scheme `zookeeper` in `make_store`.
inline const bool zookeeper_is_registered = register_zookeeper();

} // namespace detail

} // namespace leasehold

#endif
