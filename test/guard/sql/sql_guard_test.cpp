#include <boost/test/unit_test.hpp>

#include "guard/print.hpp"
#include "guard/rising_writers.hpp"
#include "guard/sql/database.hpp"
#include "guard/zombie.hpp"

#include <leasehold/extras/guard/sql.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace leasehold::test;
namespace guard = leasehold::guard;

std::int64_t bound(std::uint64_t fence)
{
    return static_cast<std::int64_t>(fence);
}

/// One database for all tests of the program: it takes seconds to start.
sql_database& database()
{
    static const std::unique_ptr<sql_database> started = start_database();
    return *started;
}

/// If false, the result contains the reason.
boost::test_tools::assertion_result can_be_started(boost::unit_test::test_unit_id)
{
    boost::test_tools::assertion_result result(missing_for_database().empty());
    result.message() << missing_for_database();
    return result;
}

/// A row that its own column guards.
struct guarded_row
{
    explicit guarded_row(std::unique_ptr<sql_connection> on) : connection(std::move(on)) {}

    bool write(std::uint64_t fence, const std::string& balance)
    {
        std::vector<sql_value> values{balance, bound(fence), std::int64_t(1)};
        if (database().dialect() == guard::sql_dialect::mariadb)
            values.emplace_back(bound(fence));
        return connection->run(row.update({"balance"}), values).affected == 1;
    }

    std::string balance() { return text("SELECT balance FROM account WHERE id = 1"); }
    std::uint64_t stored() { return std::stoull(text("SELECT fence FROM account WHERE id = 1")); }

    std::string text(const std::string& query)
    {
        return connection->run(query).first.value_or("nothing");
    }

    guard::fenced_row row{database().dialect(), {.table = "account", .key = "id"}};
    std::unique_ptr<sql_connection> connection;
};

/// Rows that a fence in a separate table guards.
struct guarded_transaction
{
    explicit guarded_transaction(std::unique_ptr<sql_connection> on) : connection(std::move(on)) {}

    bool write(std::uint64_t fence, const std::string& balance)
    {
        // In SQLite, a transaction that begins in another way may notice too late that another one
        // is writing, and cannot wait for it.
        const bool sqlite = database().dialect() == guard::sql_dialect::sqlite;
        connection->run(sqlite ? "BEGIN IMMEDIATE" : "START TRANSACTION");
        const std::string newest =
            connection->run(fences.raise(), {name, bound(fence)}).first.value_or("nothing");
        if (newest != std::to_string(fence)) {
            connection->run("ROLLBACK");
            return false;
        }
        connection->run("UPDATE account SET balance = " + balance);
        connection->run("UPDATE history SET balance = " + balance);
        connection->run("COMMIT");
        return true;
    }

    std::uint64_t stored()
    {
        return std::stoull(text("SELECT max(fence) FROM leasehold_fence WHERE name = 'account 1'"));
    }

    std::string text(const std::string& query)
    {
        return connection->run(query).first.value_or("0");
    }

    const std::string name = "account 1";
    guard::fence_table fences{database().dialect()};
    std::unique_ptr<sql_connection> connection;
};

struct fixture
{
    fixture()
    {
        for (const char* table : {"account", "history", "leasehold_fence"})
            connection->run(std::string("DROP TABLE IF EXISTS ") + table);
        connection->run("CREATE TABLE account (id BIGINT PRIMARY KEY, balance BIGINT NOT NULL)");
        connection->run("CREATE TABLE history (balance BIGINT NOT NULL)");
        connection->run("INSERT INTO account (id, balance) VALUES (1, 0), (2, 0)");
        connection->run("INSERT INTO history (balance) VALUES (0)");
        connection->run(row.row.add_column());
        connection->run(transaction.fences.create());
    }

    std::unique_ptr<sql_connection> connection = database().connect();
    guarded_row row{database().connect()};
    guarded_transaction transaction{database().connect()};
};

} // namespace

BOOST_AUTO_TEST_SUITE(sql_guard, *boost::unit_test::precondition(can_be_started))

BOOST_FIXTURE_TEST_CASE(row_writes_of_zombies_are_refused_after_the_holder_wrote, fixture)
{
    const zombies all;
    BOOST_TEST(row.write(all.holder(), "3"));
    BOOST_TEST(!row.write(all.first(), "1"));
    BOOST_TEST(!row.write(all.second(), "2"));
    BOOST_TEST(row.balance() == "3");
    BOOST_TEST(row.stored() == all.holder());
}

BOOST_FIXTURE_TEST_CASE(commits_of_zombies_are_refused_after_the_holder_wrote, fixture)
{
    const zombies all;
    BOOST_TEST(transaction.write(all.holder(), "3"));
    BOOST_TEST(!transaction.write(all.first(), "1"));
    BOOST_TEST(!transaction.write(all.second(), "2"));
    BOOST_TEST(row.balance() == "3");
    BOOST_TEST(transaction.text("SELECT balance FROM history") == "3");
    BOOST_TEST(transaction.stored() == all.holder());
}

BOOST_FIXTURE_TEST_CASE(write_of_a_zombie_before_the_holder_is_overwritten, fixture)
{
    const zombies all;
    BOOST_TEST(row.write(all.second(), "2"));
    BOOST_TEST(!row.write(all.first(), "1"));
    BOOST_TEST(row.write(all.holder(), "3"));
    BOOST_TEST(row.balance() == "3");
    BOOST_TEST(transaction.write(all.second(), "5"));
    BOOST_TEST(!transaction.write(all.first(), "4"));
    BOOST_TEST(transaction.write(all.holder(), "6"));
    BOOST_TEST(transaction.text("SELECT balance FROM history") == "6");
}

BOOST_FIXTURE_TEST_CASE(holder_may_write_repeatedly, fixture)
{
    BOOST_TEST(row.write(7, "1"));
    BOOST_TEST(row.write(7, "2"));
    BOOST_TEST(row.write(7, "2")); // nothing changes
    BOOST_TEST(transaction.write(7, "3"));
    BOOST_TEST(transaction.write(7, "3"));
    BOOST_TEST(row.balance() == "3");
}

BOOST_FIXTURE_TEST_CASE(missing_row_is_not_written, fixture)
{
    connection->run("DELETE FROM account");
    BOOST_TEST(!row.write(7, "1"));
}

BOOST_FIXTURE_TEST_CASE(each_row_and_each_name_has_its_own_fence, fixture)
{
    BOOST_TEST(row.write(7, "1"));
    BOOST_TEST(row.text("SELECT balance FROM account WHERE id = 2") == "0");
    BOOST_TEST(row.text("SELECT fence FROM account WHERE id = 2") == "0");
    BOOST_TEST(transaction.write(9, "1"));
    const auto raise = [&](const std::string& name, std::int64_t fence) {
        return connection->run(transaction.fences.raise(), {name, fence}).first.value_or("nothing");
    };
    BOOST_TEST(raise("account 2", 1) == "1");
    BOOST_TEST(raise("Account 1", 2) == "2");
    BOOST_TEST(raise("account 1 ", 3) == "3");
    BOOST_TEST(raise("account 1", 4) == "9");
}

BOOST_FIXTURE_TEST_CASE(fences_are_whole_numbers_of_64_bits, fixture)
{
    // Adjacent numbers that a double cannot distinguish.
    for (const std::uint64_t fence : {std::uint64_t(9'007'199'254'740'993), guard::largest_fence}) {
        BOOST_TEST(row.write(fence, "1"));
        BOOST_TEST(!row.write(fence - 1, "2"));
        BOOST_TEST(row.write(fence, "3"));
        BOOST_TEST(row.stored() == fence);
        BOOST_TEST(transaction.write(fence, "1"));
        BOOST_TEST(!transaction.write(fence - 1, "2"));
        BOOST_TEST(transaction.stored() == fence);
    }
}

BOOST_FIXTURE_TEST_CASE(invalid_fence_is_refused_by_the_check_or_the_database, fixture)
{
    for (const std::uint64_t fence :
         {std::uint64_t(0), guard::largest_fence + 1, ~std::uint64_t(0)})
        BOOST_TEST(guard::check_fence(fence) == guard::errc::invalid_fence);
    BOOST_TEST(!guard::check_fence(1));
    BOOST_TEST(!guard::check_fence(guard::largest_fence));
    // As a signed number it would be negative.
    BOOST_TEST(row.write(1, "1"));
    BOOST_TEST(!row.write(guard::largest_fence + 1, "2"));
    BOOST_TEST(row.balance() == "1");
}

BOOST_FIXTURE_TEST_CASE(open_transaction_delays_the_next_of_the_same_name, fixture)
{
    if (database().dialect() == guard::sql_dialect::sqlite)
        return; // SQLite has one writer at a time
    connection->run("START TRANSACTION");
    BOOST_TEST(connection->run(transaction.fences.raise(), {std::string("account 1"), bound(5)})
                   .first.value_or("nothing") == "5");
    bool newer = false;
    bool older = true;
    {
        std::jthread first([&] { newer = transaction.write(6, "6"); });
        connection->run("UPDATE account SET balance = 5");
        connection->run("COMMIT");
    }
    {
        guarded_transaction late(database().connect());
        older = late.write(5, "7");
    }
    BOOST_TEST(newer);
    BOOST_TEST(!older);
    BOOST_TEST(row.balance() == "6");
}

BOOST_FIXTURE_TEST_CASE(stored_fence_never_decreases_with_many_writers, fixture)
{
    struct row_connection
    {
        bool write(std::uint64_t fence) { return on.write(fence, std::to_string(fence)); }
        std::uint64_t stored() { return on.stored(); }
        guarded_row on{database().connect()};
    };
    check_rising_writers([] { return row_connection(); }, 4, 400);
    BOOST_TEST(row.balance() == "400");
}

BOOST_FIXTURE_TEST_CASE(stored_fence_never_decreases_with_many_transactions, fixture)
{
    struct transaction_connection
    {
        bool write(std::uint64_t fence) { return on.write(fence, std::to_string(fence)); }
        std::uint64_t stored() { return on.stored(); }
        guarded_transaction on{database().connect()};
    };
    // If all transactions create the same row, InnoDB may end them as a deadlock.
    BOOST_TEST(transaction.write(1, "0"));
    check_rising_writers([] { return transaction_connection(); }, 4, 400);
    BOOST_TEST(row.balance() == "400");
    BOOST_TEST(row.text("SELECT balance FROM history") == "400");
}

BOOST_AUTO_TEST_SUITE_END()
