#include "postgres/protocol/schema_version.hpp"

#include "base/printable.hpp"

namespace leasehold::postgres_store {

std::string how_to_install(const postgres_config& settings)
{
    std::string command = "install it: leasehold schema";
    if (settings.schema != postgres_config().schema)
        command += " --schema '" + detail::printable(settings.schema) + "'";
    command += " | psql";
    if (!settings.database.empty())
        command += " '" + detail::printable(settings.database) + "'";
    return command;
}

} // namespace leasehold::postgres_store
