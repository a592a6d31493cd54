#ifndef LEASEHOLD_SRC_POSTGRES_CONNECTION_PQ_ROWS_HPP
#define LEASEHOLD_SRC_POSTGRES_CONNECTION_PQ_ROWS_HPP

#include "postgres/connection/pq.hpp"
#include "postgres/protocol/big_endian.hpp"
#include "sql/protocol/rows.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace leasehold::postgres_store {

/// A result in the binary format.
class pq_rows final : public sql_store::rows
{
public:
    explicit pq_rows(const PGresult& from) noexcept : from_(from) {}

    [[nodiscard]] std::size_t size() const noexcept override
    {
        return static_cast<std::size_t>(PQntuples(&from_));
    }
    [[nodiscard]] std::size_t columns() const noexcept override
    {
        return static_cast<std::size_t>(PQnfields(&from_));
    }
    [[nodiscard]] bool is_null(std::size_t row, std::size_t column) const noexcept override
    {
        return PQgetisnull(&from_, static_cast<int>(row), static_cast<int>(column)) != 0;
    }
    [[nodiscard]] std::string_view bytes(std::size_t row,
                                         std::size_t column) const noexcept override
    {
        const auto r = static_cast<int>(row), c = static_cast<int>(column);
        return {PQgetvalue(&from_, r, c), static_cast<std::size_t>(PQgetlength(&from_, r, c))};
    }
    /// A `boolean`, `smallint`, `integer` or `bigint`.
    [[nodiscard]] std::int64_t number(std::size_t row, std::size_t column) const noexcept override
    {
        return from_big_endian(bytes(row, column));
    }

private:
    const PGresult& from_;
};

} // namespace leasehold::postgres_store

#endif
