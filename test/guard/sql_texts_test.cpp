#include <boost/test/unit_test.hpp>

#include <leasehold/extras/guard/sql.hpp>

#include <boost/system/system_error.hpp>

#include <string>

namespace {

namespace guard = leasehold::guard;
using guard::fence_table;
using guard::fenced_row;
using guard::sql_dialect;

bool is_invalid_identifier(const boost::system::system_error& failure)
{
    return failure.code() == guard::errc::invalid_identifier;
}

} // namespace

BOOST_AUTO_TEST_SUITE(sql_texts)

BOOST_AUTO_TEST_CASE(update_compares_and_writes_in_one_statement)
{
    const guard::sql_row account{.table = "account", .key = "id"};
    const auto update = [&](sql_dialect dialect) {
        return fenced_row(dialect, account).update({"balance", "note"});
    };
    BOOST_TEST(update(sql_dialect::postgresql) ==
               R"(UPDATE "account" SET "balance" = $1, "note" = $2, "fence" = $3)"
               R"( WHERE "id" = $4 AND "fence" <= $3)");
    BOOST_TEST(update(sql_dialect::sqlite) ==
               R"(UPDATE "account" SET "balance" = ?1, "note" = ?2, "fence" = ?3)"
               R"( WHERE "id" = ?4 AND "fence" <= ?3)");
    BOOST_TEST(update(sql_dialect::mariadb) ==
               "UPDATE `account` SET `balance` = ?, `note` = ?, `fence` = ?"
               " WHERE `id` = ? AND `fence` <= ?");
}

BOOST_AUTO_TEST_CASE(names_are_quoted_with_their_quotes_escaped)
{
    const guard::sql_row odd{.table = "shop.a\"b`c", .key = "the key", .fence = "Fence"};
    BOOST_TEST(fenced_row(sql_dialect::postgresql, odd).add_column() ==
               R"(ALTER TABLE "shop"."a""b`c" ADD COLUMN "Fence" BIGINT NOT NULL DEFAULT 0)");
    BOOST_TEST(fenced_row(sql_dialect::mariadb, odd).add_column() ==
               "ALTER TABLE `shop`.`a\"b``c` ADD COLUMN `Fence` BIGINT NOT NULL DEFAULT 0");
}

BOOST_AUTO_TEST_CASE(name_that_no_database_allows_is_refused)
{
    const auto table = [](const std::string& name) {
        return [=] { fence_table(sql_dialect::sqlite, name); };
    };
    for (const std::string& name :
         {std::string(), std::string("."), std::string("a."), std::string(".a"),
          std::string(64, 'a'), std::string("a\0b", 3)})
        BOOST_CHECK_EXCEPTION(table(name)(), boost::system::system_error, is_invalid_identifier);
    const fenced_row row(sql_dialect::sqlite, {.table = std::string(63, 'a'), .key = "id"});
    BOOST_CHECK_EXCEPTION((void)row.update({}), boost::system::system_error, is_invalid_identifier);
    BOOST_CHECK_EXCEPTION((void)row.update({"a", ""}), boost::system::system_error,
                          is_invalid_identifier);
}

BOOST_AUTO_TEST_SUITE_END()
