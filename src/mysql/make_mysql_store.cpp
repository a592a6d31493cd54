#include <leasehold/mysql.hpp>

#include "mysql/driver.hpp"
#include "sql/store/sql_store.hpp"

#include <leasehold_mysql_schema.hpp>

#include <string>
#include <string_view>

namespace leasehold {
namespace {

std::shared_ptr<store> make_mysql_store_of(std::string_view url)
{
    return make_mysql_store(mysql_config(url));
}

} // namespace

std::shared_ptr<store> make_mysql_store(const mysql_config& settings)
{
    settings.validate();
    return sql_store::make_store(mysql_store::make_driver(settings));
}

std::string mysql_schema()
{
    return mysql_store::schema_text;
}

namespace detail {

bool register_mysql()
{
    const bool first = register_scheme("mysql", &make_mysql_store_of);
    return register_scheme("mariadb", &make_mysql_store_of) && first;
}

} // namespace detail
} // namespace leasehold
