#include <leasehold/postgres_config.hpp>

#include "postgres/config/config_check.hpp"
#include "sql/config/database_url.hpp"

#include <array>
#include <string>
#include <string_view>

namespace leasehold {
namespace {

using detail::refuse_url;

void read_parameter(postgres_config& to, const std::string& name, const std::string& value)
{
    using durability = postgres_config::commit_durability;
    if (sql_store::read_common_parameter(to, name, value))
        return;
    if (name == "schema")
        to.schema = value;
    else if (name == "durability")
        to.durability = sql_store::read_choice(
            name, value, std::array{durability::full, durability::local, durability::relaxed},
            [](durability each) { return postgres_store::name_of(each); });
    else if (name == "application_name")
        to.application_name = value;
    else
        refuse_url("parameter", name,
                   "one of timeout, health_check, reconnect, schema, durability, password_file, "
                   "application_name, client_info, fence_retention, sslmode, sslrootcert, sslcert, "
                   "sslkey");
}

postgres_config parse(std::string_view url)
{
    postgres_config result;
    const std::string_view query = sql_store::read_database_url(
        result, url, "postgres", "postgresql", 5432,
        "a name, an address, or the directory of a socket, as in "
        "postgres://%2Fvar%2Frun%2Fpostgresql/database");
    detail::each_parameter(query, [&](const std::string& name, const std::string& value) {
        read_parameter(result, name, value);
    });
    if (const std::string wrong = postgres_store::problem_of(result); !wrong.empty())
        refuse_url(wrong);
    return result;
}

} // namespace

postgres_config::postgres_config(std::string_view url) : postgres_config(parse(url)) {}

} // namespace leasehold
