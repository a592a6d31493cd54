// The URL of a PostgreSQL store, and the fields of its config.
#include <boost/test/unit_test.hpp>

#include "base/info_text.hpp"
#include "postgres/protocol/errors.hpp"

#include <leasehold/error.hpp>
#include <leasehold/postgres.hpp>

#include <boost/system/system_error.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace leasehold;
using namespace std::chrono_literals;
using address = postgres_config::address;

/// The error of a function, and its text.
template <class Function>
std::pair<error_code, std::string> error_of(Function function)
{
    try {
        function();
        return {};
    }
    catch (const boost::system::system_error& refused) {
        return {refused.code(), refused.what()};
    }
}

std::string refusal(std::string_view url)
{
    const auto [code, text] = error_of([&] { static_cast<void>(postgres_config(url)); });
    BOOST_TEST((code == errc::invalid_url));
    return text;
}

} // namespace

BOOST_AUTO_TEST_CASE(url_names_hosts_user_password_and_database)
{
    const postgres_config one = "postgres://shop:s%40crt@db1:6432,db2,[::1]:1/orders";
    const std::vector<address> hosts{{"db1", 6432}, {"db2", 5432}, {"::1", 1}};
    BOOST_TEST((one.addresses == hosts));
    BOOST_TEST(one.user == "shop");
    BOOST_TEST(one.password == "s@crt");
    BOOST_TEST(one.database == "orders");

    const postgres_config least = parse_postgres_url("postgresql://db");
    BOOST_TEST((least.addresses == std::vector<address>{{"db", 5432}}));
    BOOST_TEST((least.user.empty() && least.password.empty() && least.database.empty()));
    BOOST_TEST(least.schema == "leasehold");
    BOOST_TEST((least.durability == postgres_config::commit_durability::full));
}

BOOST_AUTO_TEST_CASE(encoded_host_is_the_directory_of_a_socket)
{
    const postgres_config local = "postgres://%2Fvar%2Frun%2Fpostgresql:5433/db";
    BOOST_TEST((local.addresses == std::vector<address>{{"/var/run/postgresql", 5433}}));
}

BOOST_AUTO_TEST_CASE(parameters_set_the_fields)
{
    const postgres_config set =
        "postgres://h?schema=locks&durability=relaxed&sslmode=verify-full&sslrootcert=/ca&"
        "sslcert=/c&sslkey=/k&password_file=/p&application_name=shop&client_info=off&"
        "fence_retention=3600&timeout=700&health_check=800&reconnect=20";
    BOOST_TEST(set.schema == "locks");
    BOOST_TEST((set.durability == postgres_config::commit_durability::relaxed));
    BOOST_TEST((set.tls == postgres_config::tls_mode::verify_full));
    BOOST_TEST((set.tls_ca_file == "/ca" && set.tls_cert_file == "/c" && set.tls_key_file == "/k"));
    BOOST_TEST(set.password_file == "/p");
    BOOST_TEST(set.application_name == "shop");
    BOOST_TEST(!set.client_info);
    BOOST_TEST((set.fence_retention == 1h));
    BOOST_TEST((set.timeout == 700ms && set.health_check == 800ms && set.reconnect == 20ms));
}

BOOST_AUTO_TEST_CASE(wrong_part_is_named_with_the_allowed_values)
{
    using namespace std::string_literals;
    const std::pair<const char*, std::string> cases[] = {
        {"db1", "URL has no scheme, must begin with postgres://"},
        {"redis://h", "scheme is 'redis', must be postgres or postgresql"},
        {"postgres:h", "URL has no '//' after its scheme, must begin with postgres://"},
        {"postgres:///db", "host is '', must be a name, an address, or the directory of a socket"},
        {"postgres://h:0", "port is '0', must be 1 to 65535"},
        {"postgres://h?durability=on", "durability is 'on', must be full, local or relaxed"},
        {"postgres://h?sslmode=allow", "sslmode is 'allow', must be disable, prefer, require, "
                                       "verify-ca or verify-full"},
        {"postgres://h?timeout=5", "timeout is '5 ms', must be 10 to 600000 ms"},
        {"postgres://h?timeout=x", "timeout is 'x', must be a number of milliseconds"},
        {"postgres://h?schema=", "schema is '', must be a name of 1 to 63 bytes"},
        {"postgres://h?sslcert=/c", "tls_key_file is '', must be the file of the key"},
        {"postgres://u:p@h?password_file=/p", "password_file is '/p', must be empty with a "
                                              "password"},
        {"postgres://h?client_info=1", "client_info is '1', must be on or off"},
        {"postgres://h?db=1", "parameter is 'db', must be one of timeout, health_check"},
        {"postgres://h?user=a%00b", "parameter is 'user', must be one of"},
        {"postgres://a%00b@h", "user contains a NUL, must be a text"},
    };
    for (const auto& [url, text] : cases)
        BOOST_TEST_CONTEXT(url)
        {
            BOOST_TEST(refusal(url).starts_with(text), refusal(url));
        }
}

BOOST_AUTO_TEST_CASE(url_error_contains_no_password)
{
    for (const char* url : {"postgres://u:secret@h:x", "postgres://u:secret@h?nothing=1",
                            "postgres://u:sec%00secret@h"})
        BOOST_TEST(refusal(url).find("secret") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(invalid_config_is_rejected_where_it_is_passed)
{
    postgres_config settings;
    settings.addresses.clear();
    const auto [code, text] = error_of([&] { static_cast<void>(make_postgres_store(settings)); });
    BOOST_TEST((code == errc::invalid_option));
    BOOST_TEST(text.starts_with("addresses is empty, must contain a host"));
}

BOOST_AUTO_TEST_CASE(schemes_are_registered)
{
    for (const char* url : {"postgres://h/db", "postgresql://h"})
        BOOST_TEST(make_store(url) != nullptr);
}

BOOST_AUTO_TEST_CASE(schema_text_names_the_requested_schema)
{
    const std::string usual = postgres_schema();
    BOOST_TEST(usual.find("create or replace function \"leasehold\".acquire(") != usual.npos);
    const std::string other = postgres_schema("my \"locks\"");
    BOOST_TEST(other.find("\"leasehold\"") == other.npos);
    BOOST_TEST(other.find("create or replace function \"my \"\"locks\"\"\".acquire(") !=
               other.npos);
}

BOOST_AUTO_TEST_CASE(each_sqlstate_has_a_meaning)
{
    using postgres_store::classify;
    const std::pair<const char*, errc> cases[] = {
        {"42501", errc::permission_denied}, {"28P01", errc::permission_denied},
        {"28000", errc::permission_denied}, {"3D000", errc::invalid_option},
        {"3F000", errc::not_supported},     {"42883", errc::not_supported},
        {"42P01", errc::not_supported},     {"57P03", errc::store_refused},
        {"57P01", errc::store_refused},     {"53300", errc::store_refused},
        {"25006", errc::store_refused},     {"40001", errc::store_refused},
        {"40P01", errc::store_refused},     {"55P03", errc::store_refused},
        {"57014", errc::store_refused},     {"08006", errc::store_unavailable},
        {"XX000", errc::store_refused},     {"", errc::store_refused},
    };
    for (const auto& [state, code] : cases)
        BOOST_TEST_CONTEXT(state)
        {
            BOOST_TEST((classify(state) == code));
        }
    using postgres_store::cause_of;
    using sql_store::cause;
    BOOST_TEST((cause_of("40P01") == cause::conflict && cause_of("42501") == cause::other));
    BOOST_TEST((cause_of("42883") == cause::schema_missing));
}

BOOST_AUTO_TEST_CASE(description_of_a_client_survives_its_text)
{
    client_info info{.host = "web-3.shop",
                     .program = "a b&c=%\xc3\xa4",
                     .version = "0.2.0",
                     .pid = 4711,
                     .since = std::chrono::sys_time<std::chrono::milliseconds>(1790000000123ms)};
    const std::string text = detail::text_of(info);
    BOOST_TEST((detail::read_info(text) == info));
    for (const char* malformed : {"", "host", "%", "host=a&host=b", "pid=x&since=-1"})
        BOOST_TEST(detail::read_info(malformed).pid == 0);
}
