#include "mysql/driver.hpp"

#include "mysql/config/config_check.hpp"
#include "mysql/connection/session.hpp"
#include "mysql/protocol/schema_version.hpp"

#include <optional>
#include <string>
#include <utility>

namespace leasehold::mysql_store {
namespace {

sql_store::settings common_of(const mysql_config& from)
{
    sql_store::settings made{.servers = {},
                             .password = from.password,
                             .password_file = from.password_file,
                             .timeout = from.timeout,
                             .health_check = from.health_check,
                             .reconnect = from.reconnect,
                             .fence_retention = from.fence_retention,
                             .client_info = from.client_info};
    for (const mysql_config::address& each : from.addresses)
        made.servers.push_back(name_of(each));
    return made;
}

class mysql_driver final : public sql_store::driver
{
public:
    explicit mysql_driver(const mysql_config& settings)
        : driver(common_of(settings)), settings_(std::make_shared<mysql_config>(settings))
    {}

    std::shared_ptr<sql_store::session> make_session(
        const boost::asio::any_io_executor& strand, std::size_t server, std::string password,
        const std::optional<std::string>& listens) const override
    {
        return mysql_store::make_session(strand, settings_, server, std::move(password),
                                         listens.has_value());
    }

    std::string how_to_install() const override
    {
        return mysql_store::how_to_install(settings_->database);
    }

private:
    const std::shared_ptr<const mysql_config> settings_;
};

} // namespace

std::shared_ptr<const sql_store::driver> make_driver(const mysql_config& settings)
{
    return std::make_shared<mysql_driver>(settings);
}

} // namespace leasehold::mysql_store
