// Compare and set in SQL: each row has a version, and an update names the version that it has read.
#include "optimistic/method.hpp"

#include <sqlite3.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace asio = boost::asio;

namespace example {
namespace {

/// A connection to the file. It answers within microseconds, so its calls may block.
class database
{
public:
    explicit database(const std::string& path)
    {
        require(sqlite3_open(path.c_str(), &handle_) == SQLITE_OK);
        sqlite3_busy_timeout(handle_, 10'000);
        run("PRAGMA synchronous = OFF");
    }
    database(const database&) = delete;
    database& operator=(const database&) = delete;
    ~database() { sqlite3_close(handle_); }

    void run(const char* text)
    {
        require(sqlite3_exec(handle_, text, nullptr, nullptr, nullptr) == SQLITE_OK);
    }

    void require(bool success) const
    {
        if (!success)
            throw std::runtime_error(std::string("SQLite: ") + sqlite3_errmsg(handle_));
    }

    [[nodiscard]] sqlite3* handle() const noexcept { return handle_; }

private:
    sqlite3* handle_ = nullptr;
};

/// A statement with integers as parameters and columns.
class statement
{
public:
    template <class... Parameters>
    statement(const database& on, const char* text, Parameters... parameters) : on_(on)
    {
        on.require(sqlite3_prepare_v2(on.handle(), text, -1, &handle_, nullptr) == SQLITE_OK);
        int number = 0;
        (sqlite3_bind_int64(handle_, ++number, parameters), ...);
    }
    statement(const statement&) = delete;
    statement& operator=(const statement&) = delete;
    ~statement() { sqlite3_finalize(handle_); }

    /// Returns whether there is a row.
    bool step()
    {
        const int result = sqlite3_step(handle_);
        on_.require(result == SQLITE_ROW || result == SQLITE_DONE);
        return result == SQLITE_ROW;
    }
    [[nodiscard]] int column(int number) const { return sqlite3_column_int(handle_, number); }

private:
    const database& on_;
    sqlite3_stmt* handle_ = nullptr;
};

class sql_trader final : public trader
{
public:
    explicit sql_trader(const std::string& path) : database_(path) {}

    // [sell]
    asio::awaitable<outcome> try_to_sell(int item, const thinking& think) override
    {
        int left = 0;
        int version = 0;
        {
            statement look(database_, "SELECT left_over, version FROM item WHERE id = ?1", item);
            if (look.step()) {
                left = look.column(0);
                version = look.column(1);
            }
        }
        if (left <= 0)
            co_return outcome::none_left;
        co_await think();
        statement write(database_,
                        "UPDATE item SET left_over = ?1, version = version + 1"
                        " WHERE id = ?2 AND version = ?3",
                        left - 1, item, version);
        write.step();
        // No row: another client has written, and the version has changed.
        const bool late = sqlite3_changes(database_.handle()) == 0;
        co_return late ? outcome::conflict : outcome::sold;
    }
    // [/sell]

private:
    database database_;
};

class sql_method final : public method
{
public:
    sql_method()
    {
        std::string pattern =
            (std::filesystem::temp_directory_path() / "optimistic-XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr)
            throw std::runtime_error("no folder can be made at " + pattern);
        folder_ = pattern;
    }
    ~sql_method() override
    {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }

    [[nodiscard]] std::string name() const override { return "compare and set in SQLite"; }

    asio::awaitable<void> open(int items, int stock) override
    {
        database made(path());
        made.run("CREATE TABLE item (id INTEGER PRIMARY KEY, left_over INTEGER NOT NULL,"
                 " version INTEGER NOT NULL DEFAULT 0)");
        for (int item = 0; item < items; ++item)
            statement(made, "INSERT INTO item (id, left_over) VALUES (?1, ?2)", item, stock).step();
        co_return;
    }
    [[nodiscard]] std::unique_ptr<trader> make_trader() override
    {
        return std::make_unique<sql_trader>(path());
    }
    asio::awaitable<void> close() override { co_return; }

private:
    [[nodiscard]] std::string path() const { return (folder_ / "database").string(); }

    std::filesystem::path folder_;
};

} // namespace

std::unique_ptr<method> make_sql_method(asio::io_context&)
{
    return std::make_unique<sql_method>();
}

} // namespace example
