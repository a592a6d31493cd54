#include "mysql/driver.hpp"

#include "mysql/config/config_check.hpp"
#include "mysql/connection/session.hpp"
#include "mysql/protocol/schema_version.hpp"

#include <optional>
#include <string>
#include <utility>

namespace leasehold::mysql_store {
namespace {

class mysql_driver final : public sql_store::driver
{
public:
    explicit mysql_driver(const mysql_config& settings)
        : driver(sql_store::settings_of(settings, name_of)),
          settings_(std::make_shared<mysql_config>(settings))
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
