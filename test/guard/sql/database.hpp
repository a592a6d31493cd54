#ifndef LEASEHOLD_TEST_GUARD_SQL_DATABASE_HPP
#define LEASEHOLD_TEST_GUARD_SQL_DATABASE_HPP

#include <leasehold/extras/guard/sql.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

// A database as the tests of the guard use it, so that all databases run the same tests.
namespace leasehold::test {

using sql_value = std::variant<std::int64_t, std::string>;

struct sql_result
{
    std::uint64_t affected = 0;
    std::optional<std::string> first; ///< The first column of the first row.
};

/// The database refused a statement.
struct sql_error : std::runtime_error
{
    using std::runtime_error::runtime_error;
};

/// A connection: one thread at a time.
class sql_connection
{
public:
    sql_connection() = default;
    sql_connection(const sql_connection&) = delete;
    sql_connection& operator=(const sql_connection&) = delete;
    virtual ~sql_connection() = default;

    virtual sql_result run(const std::string& statement,
                           const std::vector<sql_value>& parameters = {}) = 0;
};

/// A server that belongs to the test, or a file. Any thread may connect.
class sql_database
{
public:
    sql_database() = default;
    sql_database(const sql_database&) = delete;
    sql_database& operator=(const sql_database&) = delete;
    virtual ~sql_database() = default;

    [[nodiscard]] virtual guard::sql_dialect dialect() const = 0;
    [[nodiscard]] virtual std::unique_ptr<sql_connection> connect() = 0;
};

/// The database that this program was linked with.
[[nodiscard]] std::unique_ptr<sql_database> start_database();

/// The reason why it cannot be started here; empty: it can.
[[nodiscard]] std::string missing_for_database();

} // namespace leasehold::test

#endif
