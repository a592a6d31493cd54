#include "testing/host/simulated_environment.hpp"

#include "redis/connection/settings.hpp"
#include "testing/host/simulated_connection.hpp"
#include "testing/time/host_time.hpp"

#include <utility>

namespace leasehold::testing::impl {
namespace {

class environment_of_a_host final : public redis_store::environment
{
public:
    environment_of_a_host(host_state& on, std::vector<server_state*> to) noexcept
        : host_(on), servers_(std::move(to))
    {}

    std::unique_ptr<redis_store::connection> make_connection(
        const asio::any_io_executor& strand, const redis_config& settings,
        redis_store::connection::complaint complain) override
    {
        const std::size_t place = servers_.size() == 1 ? 0 : settings.addresses.front().port - 1U;
        return std::make_unique<simulated_connection>(host_, *servers_.at(place), strand,
                                                      std::move(complain));
    }

    std::unique_ptr<leasehold::detail::time_source> make_time() override
    {
        return std::make_unique<host_time>(host_, host_.random.next());
    }

private:
    host_state& host_;
    const std::vector<server_state*> servers_;
};

} // namespace

std::shared_ptr<redis_store::environment> simulated_environment(host_state& on,
                                                                std::vector<server_state*> to)
{
    return std::make_shared<environment_of_a_host>(on, std::move(to));
}

std::shared_ptr<redis_store::request_channel> make_application_connection(
    host_state& on, server_state& to, const asio::any_io_executor& executor,
    const redis_config& limits)
{
    auto made = std::make_shared<simulated_connection>(on, to, executor, nullptr);
    boost::redis::config usual = redis_store::connection_settings(limits);
    redis_store::write_setup(usual, limits);
    usual.reconnect_wait_interval = limits.reconnect;
    made->run(usual, [made](error_code) {});
    return made;
}

} // namespace leasehold::testing::impl
