#ifndef LEASEHOLD_SRC_POSTGRES_CONNECTION_REPLIES_HPP
#define LEASEHOLD_SRC_POSTGRES_CONNECTION_REPLIES_HPP

#include "postgres/connection/pq.hpp"

#include <leasehold/store.hpp>

#include <cstdint>
#include <optional>

namespace leasehold::postgres_store {

// Read the rows of the functions. Nothing: the row is not one of theirs.

/// A reply, and the time of the server's clock, in microseconds.
template <class Reply>
struct timed
{
    Reply reply;
    std::int64_t server_us = 0;
};

/// @param listening The request named the session for notifications.
[[nodiscard]] std::optional<timed<acquire_reply>> read_acquire(const PGresult& from,
                                                               bool listening);
/// The same for the request and its `next`.
[[nodiscard]] std::optional<timed<release_reply>> read_release(const PGresult& from,
                                                               bool listening);
/// @param size The number of renewals.
[[nodiscard]] std::optional<renew_reply> read_renew(const PGresult& from, std::size_t size);

} // namespace leasehold::postgres_store

#endif
