#ifndef LEASEHOLD_EXTRAS_GUARD_SQL_HPP
#define LEASEHOLD_EXTRAS_GUARD_SQL_HPP

#include <leasehold/detail/export.hpp>
#include <leasehold/extras/guard/error.hpp>

#include <string>
#include <vector>

// Statements with which a database rejects a fence that is too small. They are texts with
// parameters, for any database library.
namespace leasehold::guard {

/// The dialect of a statement. It also decides the form of the parameters: `$1` for PostgreSQL,
/// `?1` for SQLite, `?` for MariaDB.
enum class sql_dialect
{
    postgresql, ///< 9.5 and later.
    sqlite,     ///< 3.35 and later.
    mariadb,    ///< 10.5 and later.
};

/// The names for a `fenced_row`, as in the database. They are quoted, so their case is kept. The
/// table may have a schema: `shop.account`.
struct sql_row
{
    std::string table;           ///< The table of the row.
    std::string key;             ///< The column that identifies the row; unique.
    std::string fence = "fence"; ///< The column of the fence.
};

/// Statements for a fence in a column of the guarded row: one statement compares and writes.
///
/// Bind the fence as a signed 64-bit number, after `check_fence` has accepted it.
/// @par Threads
/// Const functions may be called from any thread.
class fenced_row
{
public:
    /// @throws boost::system::system_error `errc::invalid_identifier`
    /// @param names The names of the table and its columns.
    LEASEHOLD_EXPORT fenced_row(sql_dialect dialect, const sql_row& names);

    /// Returns the statement that adds the column. Run it once. Existing rows start with 0.
    [[nodiscard]] LEASEHOLD_EXPORT std::string add_column() const;

    /// Returns the statement that writes `columns` of one row, unless a larger fence has written
    /// it. Parameters: a value for each column, the fence, the key. In MariaDB, which has no
    /// numbered parameters, the fence once more.
    ///
    /// The write succeeded if one row was affected. If none was, it was rejected, or the row does
    /// not exist. MariaDB does not count a row that already had these values, including the fence.
    /// Open the connection with `CLIENT_FOUND_ROWS` to count it.
    /// @throws boost::system::system_error `errc::invalid_identifier`, also if `columns` is empty.
    [[nodiscard]] LEASEHOLD_EXPORT std::string update(
        const std::vector<std::string>& columns) const;

private:
    sql_dialect dialect_;
    std::string table_;
    std::string key_;
    std::string fence_;
};

/// Statements for fences in a table of their own, for transactions that write any number of rows.
///
/// `raise` is the first statement of the transaction. It locks the row of its name until the end of
/// the transaction, so other transactions of this name wait. Bind the fence as a signed 64-bit
/// number, after `check_fence` has accepted it.
/// @par Threads
/// Const functions may be called from any thread.
class fence_table
{
public:
    /// @param table The name of the table, with or without a schema.
    /// @throws boost::system::system_error `errc::invalid_identifier`
    LEASEHOLD_EXPORT explicit fence_table(sql_dialect dialect,
                                          const std::string& table = "leasehold_fence");

    /// Returns the statement that creates the table if it does not exist. Run it once.
    [[nodiscard]] LEASEHOLD_EXPORT std::string create() const;

    /// Returns the statement that raises the fence of a name. Parameters: the name, the fence. Its
    /// result is one number, the largest fence of the name. If it differs from your fence, roll
    /// back.
    [[nodiscard]] LEASEHOLD_EXPORT std::string raise() const;

private:
    sql_dialect dialect_;
    std::string table_;
};

} // namespace leasehold::guard

#endif
