#ifndef LEASEHOLD_TEST_POSTGRES_SQL_CLIENT_HPP
#define LEASEHOLD_TEST_POSTGRES_SQL_CLIENT_HPP

#include <libpq-fe.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace leasehold::test {

/// A session of an operator: each call waits for the reply.
class sql_client
{
public:
    /// @param where The parameters of libpq.
    /// @throws std::runtime_error There is no connection.
    explicit sql_client(const std::string& where) : handle_(PQconnectdb(where.c_str()), &PQfinish)
    {
        if (PQstatus(handle_.get()) != CONNECTION_OK)
            throw std::runtime_error(PQerrorMessage(handle_.get()));
        // Without this, notices go to the standard error output.
        PQsetNoticeProcessor(handle_.get(), [](void*, const char*) {}, nullptr);
    }

    /// Executes statements. Returns the first value of the last one; empty: none.
    std::string run(const std::string& text)
    {
        return value_of(PQexec(handle_.get(), text.c_str()));
    }

    /// Executes a statement with a parameter of any bytes.
    std::string run(const std::string& text, const std::string& bytes)
    {
        const char* const value = bytes.data();
        const int length = static_cast<int>(bytes.size());
        const int format = 1;
        return value_of(
            PQexecParams(handle_.get(), text.c_str(), 1, nullptr, &value, &length, &format, 0));
    }

private:
    std::string value_of(PGresult* made)
    {
        const std::unique_ptr<PGresult, decltype(&PQclear)> result(made, &PQclear);
        const ExecStatusType status = PQresultStatus(result.get());
        if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
            throw std::runtime_error(PQerrorMessage(handle_.get()));
        return PQntuples(result.get()) > 0 ? PQgetvalue(result.get(), 0, 0) : "";
    }

    std::unique_ptr<PGconn, decltype(&PQfinish)> handle_;
};

} // namespace leasehold::test

#endif
