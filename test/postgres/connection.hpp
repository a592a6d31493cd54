#ifndef LEASEHOLD_TEST_POSTGRES_CONNECTION_HPP
#define LEASEHOLD_TEST_POSTGRES_CONNECTION_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

struct pg_conn;
struct pg_result;

namespace leasehold::test {

/// The server refused a statement.
struct postgresql_error : std::runtime_error
{
    postgresql_error(const std::string& text, std::string code)
        : std::runtime_error(text), state(std::move(code))
    {}
    std::string state; ///< SQLSTATE.
};

/// The rows of a statement. Values are texts; empty optionals are nulls.
class postgresql_rows
{
public:
    using value = std::optional<std::string>;

    /// Takes the result.
    explicit postgresql_rows(pg_result* from);

    [[nodiscard]] std::size_t size() const noexcept { return rows_.size(); }
    /// Throws `std::out_of_range` if there is no such column or row.
    [[nodiscard]] const value& get(const std::string& column, std::size_t row = 0) const;
    [[nodiscard]] std::int64_t number(const std::string& column, std::size_t row = 0) const;
    /// A bytea.
    [[nodiscard]] std::string bytes(const std::string& column, std::size_t row = 0) const;

private:
    std::vector<std::string> columns_;
    std::vector<std::vector<value>> rows_;
};

/// A bytea, or an array of them, as a parameter.
[[nodiscard]] std::string as_bytes(const std::string& value);
[[nodiscard]] std::string as_bytes(const std::vector<std::string>& values);

/// A connection to a PostgreSQL server: one thread at a time.
class postgresql_connection
{
public:
    using parameters = std::vector<std::optional<std::string>>;

    explicit postgresql_connection(const std::string& where);
    ~postgresql_connection();
    postgresql_connection(const postgresql_connection&) = delete;
    postgresql_connection& operator=(const postgresql_connection&) = delete;

    postgresql_rows run(const std::string& statement, const parameters& values = {});
    /// Several statements.
    void run_script(const std::string& text);

    /// Sends a statement. `receive` returns its rows.
    void send(const std::string& statement, const parameters& values = {});
    postgresql_rows receive();
    /// Whether `receive` returns without waiting.
    bool answered();

    /// The payload of the next notification. Empty after `limit`.
    std::optional<std::string> notification(std::chrono::milliseconds limit);

    [[nodiscard]] int pid() const;

private:
    pg_conn* handle_;
};

} // namespace leasehold::test

#endif
