#include <leasehold/mysql_config.hpp>

#include "base/printable.hpp"
#include "mysql/config/config_check.hpp"
#include "sql/config/database_url.hpp"

#include <leasehold/error.hpp>

#include <boost/system/system_error.hpp>

#include <string>

namespace leasehold {
namespace mysql_store {

std::string problem_of(const mysql_config& c)
{
    if (std::string text = sql_store::problem_of_database(
            c, "a name, an address or the path of a socket", {});
        !text.empty())
        return text;
    return c.database.empty() ? detail::wrong_value("database", "", "a name") : std::string();
}

} // namespace mysql_store

void mysql_config::validate() const
{
    if (const std::string text = mysql_store::problem_of(*this); !text.empty())
        throw boost::system::system_error(errc::invalid_option, detail::printable(text));
}

} // namespace leasehold
