#include "guard/sql/database.hpp"
#include "support/child.hpp"
#include "support/directory.hpp"
#include "support/unprivileged.hpp"

#include <mysql.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <variant>

namespace leasehold::test {
namespace {

class statement
{
public:
    explicit statement(MYSQL* connection) : handle_(mysql_stmt_init(connection)) {}
    statement(const statement&) = delete;
    statement& operator=(const statement&) = delete;
    ~statement() { mysql_stmt_close(handle_); }

    void require(bool success) const
    {
        if (!success)
            throw sql_error(mysql_stmt_error(handle_));
    }

    [[nodiscard]] MYSQL_STMT* get() const noexcept { return handle_; }

private:
    MYSQL_STMT* handle_;
};

MYSQL_BIND bound(sql_value& value)
{
    MYSQL_BIND result{};
    if (auto* whole = std::get_if<std::int64_t>(&value)) {
        result.buffer_type = MYSQL_TYPE_LONGLONG;
        result.buffer = whole;
        return result;
    }
    auto& text = std::get<std::string>(value);
    result.buffer_type = MYSQL_TYPE_STRING;
    result.buffer = text.data();
    result.buffer_length = static_cast<unsigned long>(text.size());
    return result;
}

class mariadb_connection final : public sql_connection
{
public:
    explicit mariadb_connection(const std::string& socket) : handle_(mysql_init(nullptr))
    {
        // The count includes all rows that match, also those that had these values before.
        if (mysql_real_connect(handle_, nullptr, "test", nullptr, nullptr, 0, socket.c_str(),
                               CLIENT_FOUND_ROWS) == nullptr) {
            const std::string text = mysql_error(handle_);
            mysql_close(handle_);
            throw sql_error(text);
        }
        if (mysql_query(handle_, "CREATE DATABASE IF NOT EXISTS test") != 0 ||
            mysql_select_db(handle_, "test") != 0) {
            const std::string text = mysql_error(handle_);
            mysql_close(handle_);
            throw sql_error(text);
        }
    }
    ~mariadb_connection() override { mysql_close(handle_); }

    sql_result run(const std::string& text, const std::vector<sql_value>& parameters) override
    {
        const statement prepared(handle_);
        prepared.require(mysql_stmt_prepare(prepared.get(), text.c_str(),
                                            static_cast<unsigned long>(text.size())) == 0);
        std::vector<sql_value> values = parameters;
        std::vector<MYSQL_BIND> binds;
        for (sql_value& value : values)
            binds.push_back(bound(value));
        if (!binds.empty())
            prepared.require(mysql_stmt_bind_param(prepared.get(), binds.data()) == 0);
        prepared.require(mysql_stmt_execute(prepared.get()) == 0);
        sql_result result;
        if (mysql_stmt_field_count(prepared.get()) == 0)
            result.affected = mysql_stmt_affected_rows(prepared.get());
        else
            result.first = first_of(prepared);
        return result;
    }

private:
    static std::optional<std::string> first_of(const statement& executed)
    {
        std::array<char, 256> buffer;
        unsigned long length = 0;
        using flag = std::remove_pointer_t<decltype(MYSQL_BIND::is_null)>;
        flag null = 0;
        MYSQL_BIND column{};
        column.buffer_type = MYSQL_TYPE_STRING;
        column.buffer = buffer.data();
        column.buffer_length = buffer.size();
        column.length = &length;
        column.is_null = &null;
        executed.require(mysql_stmt_bind_result(executed.get(), &column) == 0);
        executed.require(mysql_stmt_store_result(executed.get()) == 0);
        const int fetched = mysql_stmt_fetch(executed.get());
        if (fetched == MYSQL_NO_DATA)
            return std::nullopt;
        executed.require(fetched == 0);
        if (null)
            return std::nullopt;
        return std::string(buffer.data(), length);
    }

    MYSQL* handle_;
};

class mariadb_database final : public sql_database
{
public:
    mariadb_database()
    {
        // This must not run in two threads at the same time.
        mysql_library_init(0, nullptr, nullptr);
        const std::filesystem::path data = directory_.path() / "data";
        // Without its own tables of users, the server starts in an empty folder.
        server_ = child(
            {.command = unprivileged(
                 directory_.path(),
                 {"sh", "-c", R"(mkdir "$1" && shift && exec "$@" >log 2>&1)", "sh", data.string(),
                  find_program("mariadbd"), "--no-defaults", "--datadir=" + data.string(),
                  "--socket=" + socket(), "--skip-networking", "--skip-grant-tables",
                  "--innodb-flush-log-at-trx-commit=0", "--pid-file=" + directory_.file("pid")})});
        // The server has no event to wait for, so it is polled until it answers or ends.
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(200);
        for (;;) {
            try {
                (void)connect();
                return;
            }
            catch (const sql_error& failure) {
                if (!server_.running() || std::chrono::steady_clock::now() > limit)
                    throw std::runtime_error(std::string("mariadbd does not answer: ") +
                                             failure.what() + '\n' + log());
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    }

    [[nodiscard]] guard::sql_dialect dialect() const override
    {
        return guard::sql_dialect::mariadb;
    }
    [[nodiscard]] std::unique_ptr<sql_connection> connect() override
    {
        return std::make_unique<mariadb_connection>(socket());
    }

private:
    [[nodiscard]] std::string socket() const { return directory_.file("socket"); }

    [[nodiscard]] std::string log() const { return text_of(directory_.file("log")); }

    temporary_directory directory_;
    child server_;
};

} // namespace

std::unique_ptr<sql_database> start_database()
{
    return std::make_unique<mariadb_database>();
}

std::string missing_for_database()
{
    return find_program("mariadbd").empty()
               ? "mariadbd is not installed (package mariadb-server-core)"
               : std::string();
}

} // namespace leasehold::test
