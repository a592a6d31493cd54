// Fenced writes in SQLite.
#include <leasehold/extras/guard/sql.hpp>

#include <sqlite3.h>

#include <cstdint>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

namespace guard = leasehold::guard;

namespace {

void require(bool success, sqlite3* data)
{
    if (!success)
        throw std::runtime_error(sqlite3_errmsg(data));
}

using statement = std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)>;

statement prepare(sqlite3* data, const std::string& text)
{
    sqlite3_stmt* made = nullptr;
    require(sqlite3_prepare_v2(data, text.c_str(), -1, &made, nullptr) == SQLITE_OK, data);
    return statement(made, &sqlite3_finalize);
}

void run(sqlite3* data, const std::string& text)
{
    require(sqlite3_exec(data, text.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK, data);
}

// [row]
const guard::fenced_row account(guard::sql_dialect::sqlite, {.table = "account", .key = "id"});

// UPDATE "account" SET "balance" = ?1, "fence" = ?2 WHERE "id" = ?3 AND "fence" <= ?2
const std::string write_balance = account.update({"balance"});

/// Returns false if a larger fence has written this row, or if there is no such row.
bool write(sqlite3* data, std::int64_t id, std::int64_t balance, std::uint64_t fence)
{
    if (guard::check_fence(fence))
        return false; // 0: no lease
    const statement update = prepare(data, write_balance);
    sqlite3_bind_int64(update.get(), 1, balance);
    sqlite3_bind_int64(update.get(), 2, static_cast<std::int64_t>(fence));
    sqlite3_bind_int64(update.get(), 3, id);
    require(sqlite3_step(update.get()) == SQLITE_DONE, data);
    return sqlite3_changes(data) == 1;
}
// [/row]

// [transaction]
const guard::fence_table fences(guard::sql_dialect::sqlite);
const std::string raise_fence = fences.raise();

/// The first statement of a transaction. Returns false if a larger fence has written: roll back.
bool raise(sqlite3* data, const std::string& name, std::uint64_t fence)
{
    if (guard::check_fence(fence))
        return false;
    const auto mine = static_cast<std::int64_t>(fence);
    const statement raised = prepare(data, raise_fence);
    sqlite3_bind_text(raised.get(), 1, name.c_str(), -1, SQLITE_TRANSIENT);
    sqlite3_bind_int64(raised.get(), 2, mine);
    require(sqlite3_step(raised.get()) == SQLITE_ROW, data);
    const bool newest = sqlite3_column_int64(raised.get(), 0) == mine;
    // A statement that is not finished keeps the transaction open.
    require(sqlite3_step(raised.get()) == SQLITE_DONE, data);
    return newest;
}

bool transfer(sqlite3* data, std::int64_t amount, std::uint64_t fence)
{
    run(data, "BEGIN IMMEDIATE");
    const bool newest = raise(data, "transfers", fence);
    if (newest) {
        const std::string by = std::to_string(amount);
        run(data, "UPDATE account SET balance = balance - " + by + " WHERE id = 1");
        run(data, "UPDATE account SET balance = balance + " + by + " WHERE id = 2");
    }
    run(data, newest ? "COMMIT" : "ROLLBACK");
    return newest;
}
// [/transaction]

std::int64_t balance(sqlite3* data, std::int64_t id)
{
    const statement look = prepare(data, "SELECT balance FROM account WHERE id = ?1");
    sqlite3_bind_int64(look.get(), 1, id);
    require(sqlite3_step(look.get()) == SQLITE_ROW, data);
    return sqlite3_column_int64(look.get(), 0);
}

} // namespace

int main()
try {
    sqlite3* opened = nullptr;
    const int result = sqlite3_open(":memory:", &opened);
    const std::unique_ptr<sqlite3, decltype(&sqlite3_close)> data(opened, &sqlite3_close);
    require(result == SQLITE_OK, opened);
    run(opened, "CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL)");
    run(opened, "INSERT INTO account VALUES (1, 0), (2, 0)");
    // [once]
    run(opened, account.add_column());
    run(opened, fences.create());
    // [/once]
    const bool rows = write(opened, 1, 100, 42) && write(opened, 1, 100, 42) &&
                      !write(opened, 1, 7, 41) && !write(opened, 1, 7, 0);
    const bool transactions = transfer(opened, 10, 43) && !transfer(opened, 10, 42) &&
                              transfer(opened, 20, 43);
    const bool right = rows && transactions && balance(opened, 1) == 70 && balance(opened, 2) == 30;
    return right ? 0 : 1;
}
catch (const std::exception& failure) {
    std::cerr << "error: " << failure.what() << '\n';
    return 1;
}
