#include "postgres/connection/pq.hpp"

#include <algorithm>

namespace leasehold::postgres_store {
namespace {

std::string_view field(const PGresult& of, int code) noexcept
{
    const char* const text = PQresultErrorField(&of, code);
    return text != nullptr ? text : std::string_view();
}

} // namespace

std::string one_line(std::string_view text)
{
    std::string result;
    for (const char c : text) {
        if (c != '\n')
            result += c;
        else if (!result.empty())
            result += "; ";
    }
    while (result.ends_with("; "))
        result.resize(result.size() - 2);
    return result;
}

trouble trouble_of(const PGresult& result)
{
    trouble known;
    const std::string sqlstate(field(result, PG_DIAG_SQLSTATE));
    // libpq reports the loss of a connection as a result, too.
    if (sqlstate.empty()) {
        known.code = errc::store_unavailable;
        known.from_here = one_line(PQresultErrorMessage(&result));
        return known;
    }
    known.code = classify(sqlstate);
    known.why = cause_of(sqlstate);
    known.from_server = one_line(field(result, PG_DIAG_MESSAGE_PRIMARY));
    for (const int more : {PG_DIAG_MESSAGE_DETAIL, PG_DIAG_MESSAGE_HINT}) {
        if (const std::string_view text = field(result, more); !text.empty())
            known.from_server.append("; ").append(one_line(text));
    }
    known.from_server.append(" (").append(sqlstate).append(")");
    const std::string_view severity = field(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    known.fatal = severity == "FATAL" || severity == "PANIC";
    return known;
}

bool is_warning(const PGresult& notice) noexcept
{
    return field(notice, PG_DIAG_SEVERITY_NONLOCALIZED) == "WARNING";
}

trouble trouble_of_login(std::string_view text)
{
    const auto is_code = [](std::string_view word) {
        return std::all_of(word.begin(), word.end(),
                           [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z'); });
    };
    constexpr std::size_t length = 5;
    trouble known;
    known.code = errc::store_unavailable;
    for (std::size_t at = text.find(":  "); at != text.npos; at = text.find(":  ", at + 1)) {
        const std::string_view rest = text.substr(at + 3);
        if (rest.size() < length + 2 || !is_code(rest.substr(0, length)) ||
            rest.substr(length, 2) != ": ")
            continue;
        const std::string sqlstate(rest.substr(0, length));
        known.code = classify(sqlstate);
        known.why = cause_of(sqlstate);
        std::string_view message = rest.substr(length + 2);
        message = message.substr(0, message.find("\nLOCATION"));
        known.from_server = one_line(message) + " (" + sqlstate + ")";
        return known;
    }
    known.from_here = one_line(text);
    return known;
}

} // namespace leasehold::postgres_store
