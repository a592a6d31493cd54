#include "mysql/connection.hpp"

#include <mysql.h>

#include <algorithm>
#include <memory>

namespace leasehold::test {

mysql_rows::mysql_rows(st_mysql* from)
{
    const std::unique_ptr<MYSQL_RES, void (*)(MYSQL_RES*)> result(mysql_store_result(from),
                                                                  &mysql_free_result);
    if (!result)
        return;
    const unsigned columns = mysql_num_fields(result.get());
    for (unsigned i = 0; i < columns; ++i)
        columns_.emplace_back(mysql_fetch_field_direct(result.get(), i)->name);
    while (MYSQL_ROW row = mysql_fetch_row(result.get())) {
        const unsigned long* const sizes = mysql_fetch_lengths(result.get());
        std::vector<value>& values = rows_.emplace_back();
        for (unsigned i = 0; i < columns; ++i)
            values.push_back(row[i] == nullptr ? value() : value(std::string(row[i], sizes[i])));
    }
}

const mysql_rows::value& mysql_rows::get(const std::string& column, std::size_t row) const
{
    const auto found = std::find(columns_.begin(), columns_.end(), column);
    return rows_.at(row).at(static_cast<std::size_t>(found - columns_.begin()));
}

std::int64_t mysql_rows::number(const std::string& column, std::size_t row) const
{
    return std::stoll(get(column, row).value());
}

std::string literal(const std::string& bytes)
{
    constexpr const char* digits = "0123456789ABCDEF";
    std::string text = "x'";
    for (const char each : bytes) {
        const auto byte = static_cast<unsigned char>(each);
        text += {digits[byte >> 4U], digits[byte & 15U]};
    }
    return text + '\'';
}

mysql_connection::mysql_connection(const std::string& socket, const std::string& user,
                                   const std::string& database)
{
    static const int initialized = mysql_library_init(0, nullptr, nullptr); // not in two threads
    static_cast<void>(initialized);
    handle_ = mysql_init(nullptr);
    if (mysql_real_connect(handle_, nullptr, user.c_str(), nullptr,
                           database.empty() ? nullptr : database.c_str(), 0, socket.c_str(),
                           CLIENT_MULTI_STATEMENTS) == nullptr) {
        const mysql_failure failure(mysql_error(handle_), mysql_errno(handle_));
        mysql_close(handle_);
        throw failure;
    }
    run("set time_zone = '+00:00'; set session transaction isolation level read committed");
}

mysql_connection::~mysql_connection()
{
    mysql_close(handle_);
}

void mysql_connection::refuse()
{
    throw mysql_failure(mysql_error(handle_), mysql_errno(handle_));
}

mysql_rows mysql_connection::run(const std::string& text)
{
    if (mysql_real_query(handle_, text.data(), static_cast<unsigned long>(text.size())) != 0)
        refuse();
    std::optional<mysql_rows> first;
    for (;;) {
        const bool has_columns = mysql_field_count(handle_) != 0;
        mysql_rows rows(handle_);
        if (has_columns && !first)
            first = std::move(rows);
        const int more = mysql_next_result(handle_);
        if (more > 0)
            refuse();
        if (more < 0)
            return first.value_or(mysql_rows());
    }
}

std::int64_t mysql_connection::id()
{
    return static_cast<std::int64_t>(mysql_thread_id(handle_));
}

} // namespace leasehold::test
