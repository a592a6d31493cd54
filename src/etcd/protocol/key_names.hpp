#ifndef LEASEHOLD_SRC_ETCD_PROTOCOL_KEY_NAMES_HPP
#define LEASEHOLD_SRC_ETCD_PROTOCOL_KEY_NAMES_HPP

#include <leasehold/detail/export.hpp>

#include <optional>
#include <string>
#include <string_view>

// The names of keys. The holder of a lock and its waiters are the keys with the same prefix:
//   <root>/<name>/<owner>
// In the place of <owner>, concurrency.Mutex of etcd and `etcdctl lock` have their lease in
// hexadecimal digits.
namespace leasehold::etcd_store {

/// The prefix of the keys of a lock, with the root. None of two different names contains the
/// other's.
[[nodiscard]] LEASEHOLD_ETCD_EXPORT std::string lock_prefix(std::string_view root,
                                                            std::string_view name);

/// The name of the lock of a key; nothing: it is not the key of a lock.
[[nodiscard]] LEASEHOLD_ETCD_EXPORT std::optional<std::string> lock_of_key(std::string_view root,
                                                                           std::string_view key);

/// The key of an owner.
/// @param prefix Of the lock.
[[nodiscard]] LEASEHOLD_ETCD_EXPORT std::string owner_key(std::string_view prefix,
                                                          std::string_view owner);

/// The owner of a key, or an empty text: the key is another library's.
[[nodiscard]] LEASEHOLD_ETCD_EXPORT std::string owner_of_key(std::string_view key);

/// The prefix of the keys of the clients.
[[nodiscard]] LEASEHOLD_ETCD_EXPORT std::string clients_prefix(std::string_view root);

/// The key of a client.
[[nodiscard]] LEASEHOLD_ETCD_EXPORT std::string client_key(std::string_view root,
                                                           std::string_view client);

/// The end of the range of all keys with this prefix, which is not empty.
[[nodiscard]] LEASEHOLD_ETCD_EXPORT std::string end_of_prefix(std::string_view prefix);

/// The part of an owner's id before its first colon, which is the id of its client.
[[nodiscard]] inline std::string_view client_of(std::string_view owner) noexcept
{
    return owner.substr(0, owner.find(':'));
}

} // namespace leasehold::etcd_store

#endif
