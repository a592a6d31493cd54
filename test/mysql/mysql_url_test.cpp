// The URL of a MySQL store, the fields of its config, and the meaning of errors.
#include <boost/test/unit_test.hpp>

#include "mysql/protocol/errors.hpp"

#include <leasehold/error.hpp>
#include <leasehold/mysql.hpp>

#include <boost/system/system_error.hpp>

#include <string>
#include <utility>
#include <vector>

namespace {

using namespace leasehold;
using namespace std::chrono_literals;
using address = mysql_config::address;
using sql_store::cause;

template <class F>
std::pair<error_code, std::string> error_of(F f)
{
    try {
        f();
    }
    catch (const boost::system::system_error& failed) {
        return {failed.code(), failed.what()};
    }
    return {};
}

std::string refusal(const std::string& url)
{
    const auto [code, text] = error_of([&] { static_cast<void>(mysql_config(url)); });
    BOOST_TEST((code == errc::invalid_url));
    return text;
}

} // namespace

BOOST_AUTO_TEST_CASE(url_names_hosts_user_and_database)
{
    const mysql_config set = "mysql://app:s%40@db1,db2:3307/orders";
    BOOST_TEST((set.addresses == std::vector<address>{{"db1", 3306}, {"db2", 3307}}));
    BOOST_TEST(set.user == "app");
    BOOST_TEST(set.password == "s@");
    BOOST_TEST(set.database == "orders");
    const mysql_config least = "mariadb://h";
    BOOST_TEST(least.database == "leasehold");
    BOOST_TEST((least.durability == mysql_config::commit_durability::server));
    const mysql_config local = "mysql://%2Frun%2Fmysqld.sock/db";
    BOOST_TEST(local.addresses.front().host == "/run/mysqld.sock");
}

BOOST_AUTO_TEST_CASE(parameters_set_the_fields)
{
    const mysql_config set =
        "mysql://h?durability=full&sslmode=verify-ca&sslrootcert=/ca&sslcert=/c&sslkey=/k&"
        "password_file=/p&client_info=off&fence_retention=3600&timeout=700&health_check=800&"
        "reconnect=20";
    BOOST_TEST((set.durability == mysql_config::commit_durability::full));
    BOOST_TEST((set.tls == mysql_config::tls_mode::verify_ca));
    BOOST_TEST((set.tls_ca_file == "/ca" && set.tls_cert_file == "/c" && set.tls_key_file == "/k"));
    BOOST_TEST(set.password_file == "/p");
    BOOST_TEST(!set.client_info);
    BOOST_TEST((set.fence_retention == 1h));
    BOOST_TEST((set.timeout == 700ms && set.health_check == 800ms && set.reconnect == 20ms));
}

BOOST_AUTO_TEST_CASE(wrong_part_is_named_with_the_allowed_values)
{
    const std::pair<const char*, std::string> cases[] = {
        {"db1", "URL has no scheme, must begin with mysql://"},
        {"redis://h", "scheme is 'redis', must be mysql or mariadb"},
        {"mysql:///db", "host is '', must be a name, an address, or the path of a socket"},
        {"mysql://h:0", "port is '0', must be 1 to 65535"},
        {"mysql://h?durability=local", "durability is 'local', must be server or full"},
        {"mysql://h?sslmode=on", "sslmode is 'on', must be disable, prefer, require, verify-ca or "
                                 "verify-full"},
        {"mysql://h?sslcert=/c", "tls_key_file is '', must be the file of the key"},
        {"mysql://u:p@h?password_file=/p", "password_file is '/p', must be empty with a password"},
        {"mysql://h?schema=x", "parameter is 'schema', must be one of timeout, health_check"},
        {"mysql://a%00b@h", "user contains a NUL, must be a text"},
    };
    for (const auto& [url, text] : cases)
        BOOST_TEST_CONTEXT(url)
        {
            BOOST_TEST(refusal(url).starts_with(text), refusal(url));
        }
    BOOST_TEST(refusal("mysql://u:secret@h:x").find("secret") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(invalid_config_is_rejected_where_it_is_passed)
{
    mysql_config settings;
    settings.addresses.clear();
    const auto [code, text] = error_of([&] { static_cast<void>(make_mysql_store(settings)); });
    BOOST_TEST((code == errc::invalid_option));
    BOOST_TEST(text.starts_with("addresses is empty, must contain a host"));
}

BOOST_AUTO_TEST_CASE(schemes_are_registered)
{
    for (const char* scheme : {"mysql", "mariadb"})
        BOOST_TEST(make_store(std::string(scheme) + "://h/db")->traits().queues);
}

BOOST_AUTO_TEST_CASE(each_error_of_the_server_has_a_meaning)
{
    const struct
    {
        int number;
        errc code;
        cause why;
    } cases[] = {
        {1045, errc::permission_denied, cause::login_rejected},
        {1370, errc::permission_denied, cause::other},
        {1049, errc::invalid_option, cause::other},
        {1305, errc::not_supported, cause::schema_missing},
        {1040, errc::store_refused, cause::other},
        {1205, errc::store_refused, cause::other},
        {1213, errc::store_refused, cause::conflict},
        {1290, errc::store_refused, cause::read_only},
        {1406, errc::invalid_name, cause::other},
        {60000, errc::store_refused, cause::other},
    };
    for (const auto& each : cases)
        BOOST_TEST_CONTEXT(each.number)
        {
            const auto got = mysql_store::trouble_of(each.number, "text");
            BOOST_TEST((got.code == each.code));
            BOOST_TEST((got.why == each.why));
            BOOST_TEST(got.from_server == "text (" + std::to_string(each.number) + ")");
        }
}
