#ifndef LEASEHOLD_SRC_ETCD_PROTOCOL_REQUESTS_HPP
#define LEASEHOLD_SRC_ETCD_PROTOCOL_REQUESTS_HPP

#include <leasehold/detail/export.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

// Requests of etcd's gateway, as JSON. Keys and values are bytes.
namespace leasehold::etcd_store {

/// @name Operations of a transaction
/// @{
[[nodiscard]] LEASEHOLD_ETCD_EXPORT std::string put_key(std::string_view key,
                                                        std::string_view value, std::int64_t lease);
[[nodiscard]] LEASEHOLD_ETCD_EXPORT std::string delete_key(std::string_view key);
[[nodiscard]] LEASEHOLD_ETCD_EXPORT std::string get_key(std::string_view key);
/// The keys with this prefix that were created before a revision, the last one first, without their
/// values.
/// @param before 0: all.
[[nodiscard]] std::string keys_before(std::string_view prefix, std::uint64_t before,
                                      std::size_t most);
/// The key with this prefix that was created first.
[[nodiscard]] std::string first_key(std::string_view prefix);
/// @}

/// @name Conditions of a transaction
/// @{
/// @param revision 0: there is no such key.
[[nodiscard]] LEASEHOLD_ETCD_EXPORT std::string created_at(std::string_view key,
                                                           std::uint64_t revision);
[[nodiscard]] std::string modified_at(std::string_view key, std::uint64_t revision);
[[nodiscard]] std::string attached_to(std::string_view key, std::int64_t lease);
/// There is a key with this prefix, and none was created before the revision.
[[nodiscard]] std::string none_created_before(std::string_view prefix, std::uint64_t revision);
/// There is no key with this prefix.
[[nodiscard]] std::string none_exists(std::string_view prefix);
/// @}

/// If all conditions hold, the server executes the operations of `success`, else those of
/// `failure`. Each text is a list with commas.
struct transaction
{
    std::string conditions{};
    std::string success{};
    std::string failure{};
    /// Created with the lease of the session, after the operations of `success`. Empty: none.
    std::string own_key{};
    std::string own_value{};    ///< Of this key.
    bool writes_anyway = false; ///< `failure` changes keys.
};

/// The body of `kv/txn`.
[[nodiscard]] LEASEHOLD_ETCD_EXPORT std::string text_of(const transaction& what);

/// A transaction as an operation of another one.
[[nodiscard]] std::string as_operation(const transaction& what);

/// A list of two parts, of which either may be empty.
[[nodiscard]] std::string both(std::string_view a, std::string_view b);

/// @name Bodies of other requests
/// @{
[[nodiscard]] LEASEHOLD_ETCD_EXPORT std::string put_request(std::string_view key,
                                                            std::string_view value,
                                                            std::int64_t lease);
[[nodiscard]] LEASEHOLD_ETCD_EXPORT std::string grant_request(std::int64_t seconds);
[[nodiscard]] LEASEHOLD_ETCD_EXPORT std::string lease_request(std::int64_t lease);
[[nodiscard]] LEASEHOLD_ETCD_EXPORT std::string authenticate_request(std::string_view user,
                                                                     std::string_view password);

/// A range of keys, in their alphabetic order.
struct range_request
{
    std::string_view prefix; ///< Empty: all keys.
    std::string_view from{}; ///< The first key. Empty: the prefix.
    std::size_t most = 0;    ///< 0: all.
    bool keys_only = false;
};
[[nodiscard]] LEASEHOLD_ETCD_EXPORT std::string text_of(const range_request& what);
/// @}

/// @name Messages of a watch stream
/// @{
/// Watches for the removal of a key, from a revision on.
/// @param revision 0: from now on.
[[nodiscard]] std::string watch_request(std::int64_t id, std::string_view key,
                                        std::uint64_t revision);
[[nodiscard]] std::string unwatch_request(std::int64_t id);
/// @}

} // namespace leasehold::etcd_store

#endif
