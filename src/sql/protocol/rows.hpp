#ifndef LEASEHOLD_SRC_SQL_PROTOCOL_ROWS_HPP
#define LEASEHOLD_SRC_SQL_PROTOCOL_ROWS_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace leasehold::sql_store {

/// The result of a call. A NULL is 0 or empty.
class rows
{
public:
    [[nodiscard]] virtual std::size_t size() const noexcept = 0;
    [[nodiscard]] virtual std::size_t columns() const noexcept = 0;
    [[nodiscard]] virtual bool is_null(std::size_t row, std::size_t column) const noexcept = 0;
    [[nodiscard]] virtual std::string_view bytes(std::size_t row,
                                                 std::size_t column) const noexcept = 0;
    [[nodiscard]] virtual std::int64_t number(std::size_t row,
                                              std::size_t column) const noexcept = 0;

protected:
    ~rows() = default;
};

/// One row of a result.
class row_reader
{
public:
    row_reader(const rows& from, std::size_t row) noexcept : from_(from), row_(row) {}

    [[nodiscard]] bool is_null(std::size_t column) const noexcept
    {
        return from_.is_null(row_, column);
    }
    [[nodiscard]] std::string_view bytes(std::size_t column) const noexcept
    {
        return from_.bytes(row_, column);
    }
    [[nodiscard]] std::int64_t number(std::size_t column) const noexcept
    {
        return from_.number(row_, column);
    }

private:
    const rows& from_;
    const std::size_t row_;
};

} // namespace leasehold::sql_store

#endif
