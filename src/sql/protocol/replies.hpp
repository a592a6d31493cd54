#ifndef LEASEHOLD_SRC_SQL_PROTOCOL_REPLIES_HPP
#define LEASEHOLD_SRC_SQL_PROTOCOL_REPLIES_HPP

#include "sql/protocol/rows.hpp"

#include <leasehold/store.hpp>

#include <cstdint>
#include <optional>

namespace leasehold::sql_store {

// Read the rows of the functions. Nothing: the row is not one of theirs.

/// A reply, and the time of the server's clock, in microseconds.
template <class Reply>
struct timed
{
    Reply reply;
    std::int64_t server_us = 0;
};

/// @param listening The client gets its grant.
[[nodiscard]] std::optional<timed<acquire_reply>> read_acquire(const rows& from, bool listening);
/// The same for the request and its `next`.
[[nodiscard]] std::optional<timed<release_reply>> read_release(const rows& from, bool listening);
/// A row with a number for each renewal, or one text with a digit for each.
/// @param size The number of renewals.
[[nodiscard]] std::optional<renew_reply> read_renew(const rows& from, std::size_t size);

} // namespace leasehold::sql_store

#endif
