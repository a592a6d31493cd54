#ifndef LEASEHOLD_ETCD_HPP
#define LEASEHOLD_ETCD_HPP

#include <leasehold/detail/export.hpp>
#include <leasehold/etcd_config.hpp>
#include <leasehold/make_store.hpp>
#include <leasehold/store.hpp>

#include <memory>

namespace leasehold {

/// Makes a store in etcd 3.4 or newer, which it uses through the JSON gateway of the server. The
/// holder of a lock and its waiters are the keys below the name of the lock, in the order of their
/// create revisions, and belong to the lease of their client. `concurrency.Mutex` of etcd's Go
/// client and `etcdctl lock` keep their keys in the same way. On the same prefix they exclude
/// each other and wait in the same queue.
///
/// The locks of a client end with its lease in etcd. A lease of this library counts only what a
/// majority has confirmed. So a client that is connected to a deposed leader loses its leases in
/// time.
///
/// The name of a lock may have any bytes. Printable characters of ASCII are in its keys as they
/// are. Others, `/` and `%` are percent-encoded.
/// @throws boost::system::system_error `errc::invalid_option` if `settings` is invalid.
[[nodiscard]] LEASEHOLD_ETCD_EXPORT std::shared_ptr<store> make_etcd_store(
    const etcd_config& settings);

namespace detail {

LEASEHOLD_ETCD_EXPORT bool register_etcd();

// A program that includes this header has the scheme `etcd` in `make_store`.
inline const bool etcd_is_registered = register_etcd();

} // namespace detail

} // namespace leasehold

#endif
