#ifndef LEASEHOLD_TOOL_DOCTOR_DATABASE_DOCTOR_HPP
#define LEASEHOLD_TOOL_DOCTOR_DATABASE_DOCTOR_HPP

#include "../sql/database.hpp"
#include "report.hpp"

#include "sql/connection/session.hpp"

#include <leasehold/store.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace leasehold::tool::doctor {

/// Adds findings about one server.
class server_judge
{
public:
    server_judge(std::string server, findings& to) : server_(std::move(server)), to_(to) {}

    void add(level how_bad, const char* check, std::string what, std::string why,
             std::string remedy);
    /// @param setting The name of the limit.
    void connections(std::int64_t used, std::int64_t most, const std::string& setting);

private:
    const std::string server_;
    findings& to_;
};

/// The part that differs between kinds of databases.
struct database_kind
{
    /// Asks for settings and state, and judges them. Returns what is shown of the server.
    std::function<server_summary(database& source, server_judge& to)> examine;
    /// A remedy for a database that cannot be used for this reason.
    std::function<std::string(std::string_view why)> advice_on;
};

/// Checks if a database is fit to keep locks. Then acquires and releases the lock `key`.
/// @param admin   The database, with a user that may see the sessions of others.
/// @param locks_in A store in the same database.
/// @param slow    A round trip that takes longer is reported.
[[nodiscard]] report examine_database(const database_kind& kind,
                                      std::shared_ptr<const sql_store::driver> admin,
                                      const std::shared_ptr<store>& locks_in,
                                      std::chrono::milliseconds slow, const std::string& key);

} // namespace leasehold::tool::doctor

#endif
