#include "postgres/driver.hpp"

#include "postgres/config/address.hpp"
#include "postgres/connection/prepared_session.hpp"
#include "postgres/protocol/schema_version.hpp"

#include <utility>

namespace leasehold::postgres_store {
namespace {

class postgres_driver final : public sql_store::driver
{
public:
    explicit postgres_driver(const postgres_config& settings)
        : driver(sql_store::settings_of(settings, name_of)), settings_(settings)
    {}

    std::shared_ptr<sql_store::session> make_session(
        const asio::any_io_executor& strand, std::size_t server, std::string password,
        const std::optional<std::string>& listens) const override
    {
        return std::make_shared<prepared_session>(strand, settings_, server, std::move(password),
                                                  listens);
    }

    std::string how_to_install() const override
    {
        return postgres_store::how_to_install(settings_);
    }

private:
    const postgres_config settings_;
};

} // namespace

std::shared_ptr<const sql_store::driver> make_driver(const postgres_config& settings)
{
    return std::make_shared<postgres_driver>(settings);
}

} // namespace leasehold::postgres_store
