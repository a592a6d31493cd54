#ifndef LEASEHOLD_TEST_MYSQL_CONNECTION_HPP
#define LEASEHOLD_TEST_MYSQL_CONNECTION_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

struct st_mysql;

namespace leasehold::test {

/// The server rejected a statement.
struct mysql_failure : std::runtime_error
{
    mysql_failure(const std::string& text, unsigned number)
        : std::runtime_error(text + " (" + std::to_string(number) + ")"), code(number)
    {}
    unsigned code;
};

/// The rows of a statement. Values are bytes; empty optionals are nulls.
class mysql_rows
{
public:
    using value = std::optional<std::string>;

    mysql_rows() = default;
    /// Takes the next result of the connection.
    explicit mysql_rows(st_mysql* from);

    [[nodiscard]] std::size_t size() const noexcept { return rows_.size(); }
    /// Throws `std::out_of_range` if there is no such column or row.
    [[nodiscard]] const value& get(const std::string& column, std::size_t row = 0) const;
    [[nodiscard]] std::int64_t number(const std::string& column, std::size_t row = 0) const;
    [[nodiscard]] std::string bytes(const std::string& column, std::size_t row = 0) const
    {
        return get(column, row).value();
    }

private:
    std::vector<std::string> columns_;
    std::vector<std::vector<value>> rows_;
};

/// Bytes as a literal.
[[nodiscard]] std::string literal(const std::string& bytes);

/// A connection to a MySQL or MariaDB server over its local socket: one thread at a time.
class mysql_connection
{
public:
    explicit mysql_connection(const std::string& socket, const std::string& user = "root",
                              const std::string& database = {});
    ~mysql_connection();
    mysql_connection(const mysql_connection&) = delete;
    mysql_connection& operator=(const mysql_connection&) = delete;

    /// Executes one or more statements. Returns the first result with columns.
    mysql_rows run(const std::string& text);

    [[nodiscard]] std::int64_t id();

private:
    [[noreturn]] void refuse();

    st_mysql* handle_;
};

} // namespace leasehold::test

#endif
