#include "redis/connection/environment.hpp"

#include "base/this_process.hpp"

#include <utility>

namespace leasehold::redis_store {
namespace {

class operating_system final : public environment
{
public:
    std::unique_ptr<connection> make_connection(const asio::any_io_executor& strand,
                                                const redis_config& settings,
                                                connection::complaint complain) override
    {
        return redis_store::make_connection(strand, settings, std::move(complain));
    }

    std::unique_ptr<detail::time_source> make_time() override { return detail::make_system_time(); }

    client_info this_client() override { return detail::this_process(); }
};

} // namespace

std::shared_ptr<environment> system_environment()
{
    static const auto only = std::make_shared<operating_system>();
    return only;
}

} // namespace leasehold::redis_store
