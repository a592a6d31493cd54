#ifndef LEASEHOLD_SRC_ETCD_PROTOCOL_REPLIES_HPP
#define LEASEHOLD_SRC_ETCD_PROTOCOL_REPLIES_HPP

#include <leasehold/detail/export.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Replies of etcd's gateway. A function returns nothing if the text is no such reply.
namespace leasehold::etcd_store {

/// A member, and the term of the last entry that it has applied.
struct leader_mark
{
    std::uint64_t member = 0;
    std::uint64_t term = 0;
    friend bool operator==(const leader_mark&, const leader_mark&) = default;
};

struct reply_header
{
    leader_mark at;
    std::uint64_t revision = 0;
};

struct key_value
{
    std::string key;
    std::string value;
    std::uint64_t created = 0;  ///< The revision that has created it.
    std::uint64_t modified = 0; ///< The revision of its last change.
    std::int64_t lease = 0;
};

struct operation_reply;

struct transaction_reply
{
    bool succeeded = false; ///< The conditions held.
    std::vector<operation_reply> operations;

    /// The keys that an operation has found. Empty: there is no such operation.
    [[nodiscard]] const std::vector<key_value>& keys(std::size_t operation) const noexcept;
};

struct operation_reply
{
    std::vector<key_value> keys;
    std::uint64_t deleted = 0;
    transaction_reply nested;
};

struct whole_transaction_reply
{
    reply_header header;
    transaction_reply result;
};
[[nodiscard]] LEASEHOLD_ETCD_EXPORT std::optional<whole_transaction_reply> read_transaction(
    std::string_view text);

struct range_reply
{
    reply_header header;
    std::vector<key_value> keys;
    bool more = false;
};
[[nodiscard]] LEASEHOLD_ETCD_EXPORT std::optional<range_reply> read_range(std::string_view text);

struct lease_reply
{
    reply_header header;
    std::int64_t lease = 0;
    std::int64_t seconds = 0; ///< The TTL. 0 or less: the lease has ended.
};
[[nodiscard]] LEASEHOLD_ETCD_EXPORT std::optional<lease_reply> read_grant(std::string_view text);
[[nodiscard]] std::optional<lease_reply> read_keep_alive(std::string_view text);

/// The header of a reply that has nothing else of interest.
[[nodiscard]] std::optional<reply_header> read_header(std::string_view text);

[[nodiscard]] LEASEHOLD_ETCD_EXPORT std::optional<std::string> read_token(std::string_view text);

/// A message of a watch stream.
struct watch_reply
{
    std::int64_t watch = -1;
    std::uint64_t revision = 0; ///< Of the server.
    bool created = false;
    bool canceled = false; ///< There are no more events, or there never were.
    bool removed = false;  ///< The key was removed.
};
[[nodiscard]] std::optional<watch_reply> read_watch(std::string_view text);

} // namespace leasehold::etcd_store

#endif
