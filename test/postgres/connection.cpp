#include "postgres/connection.hpp"

#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace leasehold::test {
namespace {

constexpr const char* digits = "0123456789abcdef";

/// A result that is no error.
PGresult* checked(PGconn* connection, PGresult* result)
{
    const ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK)
        return result;
    const char* const state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const postgresql_error error(PQerrorMessage(connection), state != nullptr ? state : "");
    PQclear(result);
    throw error;
}

std::vector<const char*> pointers(const postgresql_connection::parameters& values)
{
    std::vector<const char*> result;
    for (const auto& value : values)
        result.push_back(value ? value->c_str() : nullptr);
    return result;
}

} // namespace

postgresql_rows::postgresql_rows(pg_result* from)
{
    const std::unique_ptr<PGresult, void (*)(PGresult*)> owned(from, &PQclear);
    for (int column = 0; column < PQnfields(from); ++column)
        columns_.emplace_back(PQfname(from, column));
    for (int row = 0; row < PQntuples(from); ++row) {
        std::vector<value>& values = rows_.emplace_back();
        for (int column = 0; column < PQnfields(from); ++column)
            values.push_back(PQgetisnull(from, row, column) != 0
                                 ? value()
                                 : value(PQgetvalue(from, row, column)));
    }
}

const postgresql_rows::value& postgresql_rows::get(const std::string& column, std::size_t row) const
{
    const auto found = std::find(columns_.begin(), columns_.end(), column);
    return rows_.at(row).at(static_cast<std::size_t>(found - columns_.begin()));
}

std::int64_t postgresql_rows::number(const std::string& column, std::size_t row) const
{
    return std::stoll(get(column, row).value());
}

std::string postgresql_rows::bytes(const std::string& column, std::size_t row) const
{
    const std::string& text = get(column, row).value();
    std::string result;
    for (std::size_t i = 2; i + 1 < text.size(); i += 2) // after \x
        result.push_back(static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16)));
    return result;
}

std::string as_bytes(const std::string& value)
{
    std::string result = "\\x";
    for (const char each : value) {
        const auto byte = static_cast<unsigned char>(each);
        result += {digits[byte >> 4U], digits[byte & 15U]};
    }
    return result;
}

std::string as_bytes(const std::vector<std::string>& values)
{
    std::string result = "{";
    for (const std::string& value : values)
        result += (result.size() > 1 ? ",\"\\" : "\"\\") + as_bytes(value) + '"';
    return result + '}';
}

postgresql_connection::postgresql_connection(const std::string& where)
    : handle_(PQconnectdb(where.c_str()))
{
    if (PQstatus(handle_) != CONNECTION_OK) {
        const postgresql_error error(PQerrorMessage(handle_), {});
        PQfinish(handle_);
        throw error;
    }
    // Without this, notices go to the standard error output.
    PQsetNoticeProcessor(handle_, [](void*, const char*) {}, nullptr);
}

postgresql_connection::~postgresql_connection()
{
    PQfinish(handle_);
}

postgresql_rows postgresql_connection::run(const std::string& statement, const parameters& values)
{
    return postgresql_rows(
        checked(handle_, PQexecParams(handle_, statement.c_str(), static_cast<int>(values.size()),
                                      nullptr, pointers(values).data(), nullptr, nullptr, 0)));
}

void postgresql_connection::run_script(const std::string& text)
{
    PQclear(checked(handle_, PQexec(handle_, text.c_str())));
}

void postgresql_connection::send(const std::string& statement, const parameters& values)
{
    if (PQsendQueryParams(handle_, statement.c_str(), static_cast<int>(values.size()), nullptr,
                          pointers(values).data(), nullptr, nullptr, 0) != 1)
        throw postgresql_error(PQerrorMessage(handle_), {});
}

postgresql_rows postgresql_connection::receive()
{
    PGresult* const result = PQgetResult(handle_);
    while (PGresult* const more = PQgetResult(handle_))
        PQclear(more);
    return postgresql_rows(checked(handle_, result));
}

bool postgresql_connection::answered()
{
    PQconsumeInput(handle_);
    return PQisBusy(handle_) == 0;
}

std::optional<std::string> postgresql_connection::notification(std::chrono::milliseconds limit)
{
    const auto end = std::chrono::steady_clock::now() + limit;
    for (;;) {
        PQconsumeInput(handle_);
        if (PGnotify* const got = PQnotifies(handle_)) {
            std::string payload = got->extra;
            PQfreemem(got);
            return payload;
        }
        const auto rest = std::chrono::ceil<std::chrono::milliseconds>(
            end - std::chrono::steady_clock::now());
        pollfd readable{PQsocket(handle_), POLLIN, 0};
        if (rest.count() <= 0 || ::poll(&readable, 1, static_cast<int>(rest.count())) == 0)
            return std::nullopt;
    }
}

int postgresql_connection::pid() const
{
    return PQbackendPID(handle_);
}

} // namespace leasehold::test
