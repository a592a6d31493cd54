#include "guard/sql/database.hpp"
#include "guard/sql/unprivileged.hpp"
#include "support/child.hpp"
#include "support/directory.hpp"

#include <libpq-fe.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <variant>

namespace leasehold::test {
namespace {

/// Debian stores the programs of each version in its own folder.
std::vector<std::filesystem::path> folders_of_versions()
{
    std::vector<std::filesystem::path> result;
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator("/usr/lib/postgresql", failed))
        result.push_back(entry.path() / "bin");
    return result;
}

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
    postgresql_database()
    {
        const std::filesystem::path data = directory_.path() / "data";
        child initializing(
            {.command = unprivileged(directory_.path(),
                                     {"sh", "-c", R"("$@" >log 2>&1)", "sh",
                                      find_program("initdb", folders_of_versions()), "-D",
                                      data.string(), "-U", "test", "-A", "trust", "-E", "UTF8",
                                      "--locale=C", "--no-sync"})});
        const auto ended = initializing.wait(start_limit);
        if (!ended || ended->code != 0)
            throw std::runtime_error("initdb failed:\n" + log());
        server_ = child(
            {.command = unprivileged(directory_.path(),
                                     {"sh", "-c", R"(exec "$@" >log 2>&1)", "sh",
                                      find_program("postgres", folders_of_versions()), "-D",
                                      data.string(), "-k", directory_.path().string(), "-c",
                                      "listen_addresses=", "-c", "fsync=off"})});
        // The server has no event to wait for, so it is polled until it answers or ends.
        const auto limit = std::chrono::steady_clock::now() + start_limit;
        while (PQping(where().c_str()) != PQPING_OK) {
            if (!server_.running() || std::chrono::steady_clock::now() > limit)
                throw std::runtime_error("postgres does not answer:\n" + log());
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    }

    [[nodiscard]] guard::sql_dialect dialect() const override
    {
        return guard::sql_dialect::postgresql;
    }
    [[nodiscard]] std::unique_ptr<sql_connection> connect() override
    {
        return std::make_unique<postgresql_connection>(where());
    }

private:
    static constexpr std::chrono::seconds start_limit{200};

    [[nodiscard]] std::string where() const
    {
        return "host=" + directory_.path().string() + " user=test dbname=postgres";
    }

    [[nodiscard]] std::string log() const { return text_of(directory_.file("log")); }

    temporary_directory directory_;
    child server_;
};

} // namespace

std::unique_ptr<sql_database> start_database()
{
    return std::make_unique<postgresql_database>();
}

std::string missing_for_database()
{
    for (const char* program : {"initdb", "postgres"}) {
        if (find_program(program, folders_of_versions()).empty())
            return std::string(program) + " is not installed (package postgresql)";
    }
    return {};
}

} // namespace leasehold::test
