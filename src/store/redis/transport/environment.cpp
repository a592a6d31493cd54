#include "store/redis/transport/environment.hpp"

#include "store/redis/transport/settings.hpp"

#include <utility>

namespace leasehold::redis_store {
namespace {

class operating_system final : public environment
{
public:
    std::unique_ptr<connection> make_connection(const asio::any_io_executor& strand,
                                                const config& settings,
                                                connection::complaint told) override
    {
        return redis_store::make_connection(strand, tls_settings(settings), std::move(told));
    }

    std::unique_ptr<detail::time_source> make_time() override { return detail::make_system_time(); }
};

} // namespace

std::shared_ptr<environment> system_environment()
{
    static const auto only = std::make_shared<operating_system>();
    return only;
}

} // namespace leasehold::redis_store
