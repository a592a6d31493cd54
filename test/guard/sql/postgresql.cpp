#include "guard/sql/database.hpp"
#include "support/postgresql_server.hpp"

#include <libpq-fe.h>

#include <string>
#include <utility>
#include <variant>

namespace leasehold::test {
namespace {

class answer
{
public:
    answer(PGconn* connection, PGresult* result) : result_(result)
    {
        const ExecStatusType status = PQresultStatus(result_);
        if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
            const std::string text = PQerrorMessage(connection);
            PQclear(result_);
            throw sql_error(text);
        }
    }
    answer(const answer&) = delete;
    answer& operator=(const answer&) = delete;
    ~answer() { PQclear(result_); }

    [[nodiscard]] sql_result get() const
    {
        sql_result result;
        const std::string affected = PQcmdTuples(result_);
        if (!affected.empty())
            result.affected = std::stoull(affected);
        if (PQntuples(result_) > 0 && PQgetisnull(result_, 0, 0) == 0)
            result.first = PQgetvalue(result_, 0, 0);
        return result;
    }

private:
    PGresult* result_;
};

class postgresql_connection final : public sql_connection
{
public:
    explicit postgresql_connection(const std::string& where) : handle_(PQconnectdb(where.c_str()))
    {
        if (PQstatus(handle_) != CONNECTION_OK) {
            const std::string text = PQerrorMessage(handle_);
            PQfinish(handle_);
            throw sql_error(text);
        }
        // Without this, notices go to the standard error output.
        PQsetNoticeProcessor(handle_, [](void*, const char*) {}, nullptr);
    }
    ~postgresql_connection() override { PQfinish(handle_); }

    sql_result run(const std::string& text, const std::vector<sql_value>& parameters) override
    {
        std::vector<std::string> words;
        for (const sql_value& value : parameters) {
            const auto* whole = std::get_if<std::int64_t>(&value);
            words.push_back(whole ? std::to_string(*whole) : std::get<std::string>(value));
        }
        std::vector<const char*> pointers;
        for (const std::string& word : words)
            pointers.push_back(word.c_str());
        return answer(handle_,
                      PQexecParams(handle_, text.c_str(), static_cast<int>(pointers.size()),
                                   nullptr, pointers.data(), nullptr, nullptr, 0))
            .get();
    }

private:
    PGconn* handle_;
};

class postgresql_database final : public sql_database
{
public:
    [[nodiscard]] guard::sql_dialect dialect() const override
    {
        return guard::sql_dialect::postgresql;
    }
    [[nodiscard]] std::unique_ptr<sql_connection> connect() override
    {
        return std::make_unique<postgresql_connection>(server_.connection_text());
    }

private:
    postgresql_server server_;
};

} // namespace

std::unique_ptr<sql_database> start_database()
{
    return std::make_unique<postgresql_database>();
}

std::string missing_for_database()
{
    return postgresql_server::missing();
}

} // namespace leasehold::test
