#ifndef LEASEHOLD_EXTRAS_GUARD_SQL_HPP
#define LEASEHOLD_EXTRAS_GUARD_SQL_HPP

#include <leasehold/detail/export.hpp>
#include <leasehold/extras/guard/error.hpp>

#include <string>
#include <vector>

// The statements that let a database refuse a fence that is too small. They are texts with
// parameters, for whatever library the program speaks to its database with.
namespace leasehold::guard {

/// Whose words a statement is in, and which places its parameters have: `$1` for PostgreSQL, `?1`
/// for SQLite, `?` for MariaDB.
enum class sql_dialect
{
    postgresql, ///< 9.5 and later.
    sqlite,     ///< 3.35 and later.
    mariadb,    ///< 10.5 and later.
};

/// Where `fenced_row` finds what it needs. Names are as the database has them: they are quoted, so
/// that nothing is folded to lower case. The table may have a schema before it: `shop.account`.
struct sql_row
{
    std::string table;           ///< Where the row is.
    std::string key;             ///< The column that says which row; unique.
    std::string fence = "fence"; ///< The column of the fence.
};

/// The fence is a column of the row that it guards: one statement compares and writes.
///
/// Bind the fence as a signed 64-bit number, after `check_fence` has accepted it.
/// @par Threads
/// Const functions may be called from any thread.
class fenced_row
{
public:
    /// @throws boost::system::system_error `errc::invalid_identifier`
    /// @param names Of the table and its columns.
    LEASEHOLD_EXPORT fenced_row(sql_dialect dialect, const sql_row& names);

    /// The statement, once, that adds the column. Rows that exist begin with 0.
    [[nodiscard]] LEASEHOLD_EXPORT std::string add_column() const;

    /// Writes `columns` of one row, unless a larger fence has written it. Parameters: a value for
    /// each column, the fence, the key; in MariaDB, whose parameters have no numbers, the fence
    /// once more.
    ///
    /// It was written when the statement affected one row. It was refused, or there is no such row,
    /// when it affected none. MariaDB counts a row that already had these values, fence included,
    /// as not affected, unless the connection was opened with `CLIENT_FOUND_ROWS`: open it so.
    /// @throws boost::system::system_error `errc::invalid_identifier`; also when there is no
    /// column.
    [[nodiscard]] LEASEHOLD_EXPORT std::string update(
        const std::vector<std::string>& columns) const;

private:
    sql_dialect dialect_;
    std::string table_;
    std::string key_;
    std::string fence_;
};

/// The fences are rows of a table of their own: for a transaction that writes any number of rows.
///
/// `raise` is the first statement of the transaction. It locks the row of its name until the end of
/// the transaction, so others of the same name wait. Bind the fence as a signed 64-bit number,
/// after `check_fence` has accepted it.
/// @par Threads
/// Const functions may be called from any thread.
class fence_table
{
public:
    /// @param table The name of the table, with or without a schema.
    /// @throws boost::system::system_error `errc::invalid_identifier`
    LEASEHOLD_EXPORT explicit fence_table(sql_dialect dialect,
                                          const std::string& table = "leasehold_fence");

    /// The statement, once, that makes the table where it does not exist.
    [[nodiscard]] LEASEHOLD_EXPORT std::string create() const;

    /// Raises the fence of a name. Parameters: the name, the fence. The answer is one row with one
    /// number, the largest fence of the name: when it is not the own one, roll back.
    [[nodiscard]] LEASEHOLD_EXPORT std::string raise() const;

private:
    sql_dialect dialect_;
    std::string table_;
};

} // namespace leasehold::guard

#endif
