#include <leasehold/mysql_config.hpp>

#include "mysql/config/config_check.hpp"
#include "sql/config/database_url.hpp"

#include <array>
#include <string>
#include <string_view>

namespace leasehold {
namespace {

void read_mysql_parameter(mysql_config& to, const std::string& name, const std::string& value)
{
    using durability = mysql_config::commit_durability;
    if (sql_store::read_common_parameter(to, name, value))
        return;
    if (name == "durability")
        to.durability = sql_store::read_choice(
            name, value, std::array{durability::server, durability::full},
            [](durability each) { return each == durability::full ? "full" : "server"; });
    else
        detail::refuse_url("parameter", name,
                           "one of timeout, health_check, reconnect, durability, password_file, "
                           "client_info, fence_retention, sslmode, sslrootcert, sslcert, sslkey");
}

mysql_config parse_mysql(std::string_view url)
{
    mysql_config result;
    const std::string_view query = sql_store::read_database_url(
        result, url, "mysql", "mariadb", 3306,
        "a name, an address, or the path of a socket, as in "
        "mysql://%2Frun%2Fmysqld%2Fmysqld.sock/database");
    detail::each_parameter(query, [&](const std::string& name, const std::string& value) {
        read_mysql_parameter(result, name, value);
    });
    if (const std::string wrong = mysql_store::problem_of(result); !wrong.empty())
        detail::refuse_url(wrong);
    return result;
}

} // namespace

mysql_config::mysql_config(std::string_view url) : mysql_config(parse_mysql(url)) {}

} // namespace leasehold
