#ifndef LEASEHOLD_SRC_POSTGRES_CONNECTION_PQ_HPP
#define LEASEHOLD_SRC_POSTGRES_CONNECTION_PQ_HPP

#include "postgres/protocol/big_endian.hpp"
#include "postgres/protocol/errors.hpp"

#include <leasehold/detail/export.hpp>

#include <libpq-fe.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace leasehold::postgres_store {

struct pq_finish
{
    void operator()(PGconn* connection) const noexcept { PQfinish(connection); }
};
using pq_connection = std::unique_ptr<PGconn, pq_finish>;

struct pq_clear
{
    void operator()(PGresult* result) const noexcept { PQclear(result); }
};
using pq_result = std::unique_ptr<PGresult, pq_clear>;

/// The texts of libpq end with a line break, and may have several lines.
[[nodiscard]] std::string one_line(std::string_view text);

/// The error of a statement, or a message without one.
[[nodiscard]] LEASEHOLD_POSTGRES_EXPORT trouble trouble_of(const PGresult& result);

/// The failure of an attempt to connect. libpq reports the server's SQLSTATE only in its text, with
/// `PQERRORS_VERBOSE`: "FATAL:  28P01: password authentication failed". The first word may be
/// translated.
[[nodiscard]] trouble trouble_of_login(std::string_view text);

/// A result in the binary format. A NULL is 0 or empty.
class row_reader
{
public:
    row_reader(const PGresult& from, int row) noexcept : from_(from), row_(row) {}

    [[nodiscard]] bool is_null(int column) const noexcept
    {
        return PQgetisnull(&from_, row_, column) != 0;
    }

    [[nodiscard]] std::string_view bytes(int column) const noexcept
    {
        return {PQgetvalue(&from_, row_, column),
                static_cast<std::size_t>(PQgetlength(&from_, row_, column))};
    }

    /// A `boolean`, `smallint`, `integer` or `bigint`.
    [[nodiscard]] std::int64_t number(int column) const noexcept
    {
        return from_big_endian(bytes(column));
    }

private:
    const PGresult& from_;
    const int row_;
};

} // namespace leasehold::postgres_store

#endif
