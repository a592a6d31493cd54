#include <leasehold/extras/guard/sql.hpp>

#include <boost/system/system_error.hpp>

#include <cstddef>
#include <string_view>

namespace leasehold::guard {
namespace {

/// PostgreSQL truncates longer names, MariaDB rejects them.
constexpr std::size_t longest_identifier = 63;

[[noreturn]] void refuse_write(std::string_view name, std::string_view why)
{
    throw boost::system::system_error(errc::invalid_identifier,
                                      '"' + std::string(name) + "\": " + std::string(why));
}

std::string quoted(sql_dialect dialect, std::string_view name)
{
    if (name.empty())
        refuse_write(name, "an empty name");
    if (name.size() > longest_identifier)
        refuse_write(name, "longer than 63 bytes");
    if (name.find('\0') != std::string_view::npos)
        refuse_write(name, "a zero byte in the name");
    const char quote = dialect == sql_dialect::mariadb ? '`' : '"';
    std::string result(1, quote);
    for (const char c : name) {
        if (c == quote)
            result += quote;
        result += c;
    }
    return result += quote;
}

std::string quoted_table(sql_dialect dialect, std::string_view name)
{
    const std::size_t dot = name.find('.');
    if (dot == std::string_view::npos)
        return quoted(dialect, name);
    return quoted(dialect, name.substr(0, dot)) + '.' + quoted(dialect, name.substr(dot + 1));
}

std::string parameter(sql_dialect dialect, std::size_t number)
{
    switch (dialect) {
    case sql_dialect::postgresql: return '$' + std::to_string(number);
    case sql_dialect::sqlite: return '?' + std::to_string(number);
    case sql_dialect::mariadb: break;
    }
    return "?";
}

} // namespace

fenced_row::fenced_row(sql_dialect dialect, const sql_row& names)
    : dialect_(dialect),
      table_(quoted_table(dialect, names.table)),
      key_(quoted(dialect, names.key)),
      fence_(quoted(dialect, names.fence))
{}

std::string fenced_row::add_column() const
{
    return "ALTER TABLE " + table_ + " ADD COLUMN " + fence_ + " BIGINT NOT NULL DEFAULT 0";
}

std::string fenced_row::update(const std::vector<std::string>& columns) const
{
    if (columns.empty())
        refuse_write("", "no column to write");
    std::string result = "UPDATE " + table_ + " SET ";
    std::size_t number = 0;
    for (const std::string& column : columns)
        result += quoted(dialect_, column) + " = " + parameter(dialect_, ++number) + ", ";
    const std::string fence = parameter(dialect_, ++number);
    result += fence_ + " = " + fence;
    result += " WHERE " + key_ + " = " + parameter(dialect_, ++number);
    return result += " AND " + fence_ + " <= " + fence;
}

fence_table::fence_table(sql_dialect dialect, const std::string& table)
    : dialect_(dialect), table_(quoted_table(dialect, table))
{}

std::string fence_table::create() const
{
    // MariaDB's own collations take "a" for "A", and a text without a length cannot be a key.
    const char* name = dialect_ == sql_dialect::mariadb ? "VARBINARY(1024)" : "TEXT";
    return "CREATE TABLE IF NOT EXISTS " + table_ + " (name " + name +
           " NOT NULL PRIMARY KEY, fence BIGINT NOT NULL)";
}

std::string fence_table::raise() const
{
    const char* alias = dialect_ == sql_dialect::mariadb ? "" : " AS kept";
    const std::string insert = "INSERT INTO " + table_ + alias + " (name, fence) VALUES (" +
                               parameter(dialect_, 1) + ", " + parameter(dialect_, 2) + ") ";
    switch (dialect_) {
    case sql_dialect::postgresql:
        return insert + "ON CONFLICT (name) DO UPDATE "
                        "SET fence = GREATEST(kept.fence, excluded.fence) RETURNING fence";
    case sql_dialect::sqlite:
        return insert + "ON CONFLICT (name) DO UPDATE "
                        "SET fence = max(kept.fence, excluded.fence) RETURNING fence";
    case sql_dialect::mariadb: break;
    }
    return insert + "ON DUPLICATE KEY UPDATE fence = GREATEST(fence, VALUES(fence)) "
                    "RETURNING fence";
}

} // namespace leasehold::guard
