#include <leasehold/postgres_config.hpp>

#include "base/printable.hpp"
#include "postgres/config/config_check.hpp"
#include "sql/config/database_url.hpp"

#include <leasehold/error.hpp>

#include <boost/system/system_error.hpp>

#include <cstddef>
#include <string>

namespace leasehold {
namespace postgres_store {
namespace {

// The server cuts longer identifiers.
constexpr std::size_t longest_identifier = 63;

} // namespace

std::string problem_of(const postgres_config& c)
{
    if (std::string text = sql_store::problem_of_database(
            c, "a name, an address or the directory of a socket",
            {{"schema", &c.schema}, {"application_name", &c.application_name}});
        !text.empty())
        return text;
    if (c.schema.empty() || c.schema.size() > longest_identifier)
        return detail::wrong_value("schema", c.schema, "a name of 1 to 63 bytes");
    return {};
}

const char* name_of(postgres_config::tls_mode mode) noexcept
{
    return sql_store::name_of_tls(mode);
}

const char* name_of(postgres_config::commit_durability durability) noexcept
{
    switch (durability) {
    case postgres_config::commit_durability::local: return "local";
    case postgres_config::commit_durability::relaxed: return "relaxed";
    case postgres_config::commit_durability::full: break;
    }
    return "full";
}

} // namespace postgres_store

void postgres_config::validate() const
{
    if (const std::string text = postgres_store::problem_of(*this); !text.empty())
        throw boost::system::system_error(errc::invalid_option, detail::printable(text));
}

} // namespace leasehold
