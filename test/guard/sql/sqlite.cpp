#include "guard/sql/database.hpp"
#include "support/directory.hpp"

#include <sqlite3.h>

#include <string>
#include <utility>
#include <variant>

namespace leasehold::test {
namespace {

void require(bool success, sqlite3* handle)
{
    if (!success)
        throw sql_error(sqlite3_errmsg(handle));
}

class statement
{
public:
    statement(sqlite3* handle, const std::string& text)
    {
        require(sqlite3_prepare_v2(handle, text.c_str(), -1, &handle_, nullptr) == SQLITE_OK,
                handle);
    }
    statement(const statement&) = delete;
    statement& operator=(const statement&) = delete;
    ~statement() { sqlite3_finalize(handle_); }

    [[nodiscard]] sqlite3_stmt* get() const noexcept { return handle_; }

private:
    sqlite3_stmt* handle_ = nullptr;
};

class sqlite_connection final : public sql_connection
{
public:
    explicit sqlite_connection(const std::string& path)
    {
        require(sqlite3_open(path.c_str(), &handle_) == SQLITE_OK, handle_);
        sqlite3_busy_timeout(handle_, 30'000);
        run("PRAGMA synchronous = OFF", {});
    }
    ~sqlite_connection() override { sqlite3_close(handle_); }

    sql_result run(const std::string& text, const std::vector<sql_value>& parameters) override
    {
        const statement prepared(handle_, text);
        int number = 0;
        for (const sql_value& value : parameters)
            bind(prepared.get(), ++number, value);
        sql_result result;
        int step = sqlite3_step(prepared.get());
        for (; step == SQLITE_ROW; step = sqlite3_step(prepared.get())) {
            const unsigned char* const column = sqlite3_column_text(prepared.get(), 0);
            if (!result.first && column != nullptr)
                result.first = reinterpret_cast<const char*>(column);
        }
        require(step == SQLITE_DONE, handle_);
        result.affected = static_cast<std::uint64_t>(sqlite3_changes(handle_));
        return result;
    }

private:
    void bind(sqlite3_stmt* to, int number, const sql_value& value)
    {
        if (const auto* whole = std::get_if<std::int64_t>(&value)) {
            require(sqlite3_bind_int64(to, number, *whole) == SQLITE_OK, handle_);
            return;
        }
        const auto& text = std::get<std::string>(value);
        require(sqlite3_bind_text(to, number, text.data(), static_cast<int>(text.size()),
                                  SQLITE_TRANSIENT) == SQLITE_OK,
                handle_);
    }

    sqlite3* handle_ = nullptr;
};

class sqlite_database final : public sql_database
{
public:
    [[nodiscard]] guard::sql_dialect dialect() const override { return guard::sql_dialect::sqlite; }
    [[nodiscard]] std::unique_ptr<sql_connection> connect() override
    {
        return std::make_unique<sqlite_connection>(directory_.file("database"));
    }

private:
    temporary_directory directory_;
};

} // namespace

std::unique_ptr<sql_database> start_database()
{
    return std::make_unique<sqlite_database>();
}

std::string missing_for_database()
{
    return {};
}

} // namespace leasehold::test
