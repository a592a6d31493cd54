#include <leasehold/redis_store.hpp>

#include "store/redis/pipeline.hpp"
#include "store/redis/subscriptions.hpp"
#include "store/redis/transport/owned_transport.hpp"
#include "store/redis/transport/settings.hpp"
#include "store/redis/transport/shared_transport.hpp"

#include <boost/system/system_error.hpp>

#include <string>
#include <utility>

namespace leasehold {
namespace {

using namespace redis_store;

class redis_store_type final : public store
{
public:
    redis_store_type(std::shared_ptr<transport> way, const config& limits,
                     const std::optional<config>& wakeups)
        : pipeline_(
              std::make_shared<pipeline>(std::move(way), limits.timeout, limits.fence_retention))
    {
        if (wakeups)
            subscriptions_ = std::make_shared<subscriptions>(*wakeups);
    }

    ~redis_store_type() override { close(); }

    void open(const asio::any_io_executor& strand, store_listener& listener) override
    {
        const auto home = context_poster::make(strand);
        if (subscriptions_)
            subscriptions_->open(strand, home, listener);
        pipeline_->open(strand, home, listener);
    }

    void close() final
    {
        pipeline_->close();
        if (subscriptions_)
            subscriptions_->close();
    }

    void async_acquire(const acquire_request& request, acquire_handler handler) override
    {
        pipeline_->acquire(request, std::move(handler));
    }

    void async_renew(std::span<const renewal> renewals, renew_handler handler) override
    {
        pipeline_->renew(renewals, std::move(handler));
    }

    void async_release(const release_request& request, release_handler handler) override
    {
        pipeline_->release(request, std::move(handler));
    }

    void watch(std::string_view name) override
    {
        if (subscriptions_)
            subscriptions_->watch(name);
    }

    void unwatch(std::string_view name) override
    {
        if (subscriptions_)
            subscriptions_->unwatch(name);
    }

private:
    std::shared_ptr<pipeline> pipeline_;
    std::shared_ptr<subscriptions> subscriptions_;
};

// What is wrong with a config is told where it is given, not when the connection is made.
void check(const config& settings)
{
    settings.validate();
    if (settings.store == config::kind::memory)
        throw boost::system::system_error(errc::invalid_option,
                                          "store is memory, must be redis or sentinel");
    static_cast<void>(tls_settings(settings));
}

} // namespace

std::shared_ptr<store> make_redis_store(const config& settings)
{
    check(settings);
    return std::make_shared<redis_store_type>(make_owned_transport(settings), settings, settings);
}

std::shared_ptr<store> make_redis_store(std::shared_ptr<boost::redis::connection> connection,
                                        std::optional<config> wakeups)
{
    if (!connection)
        throw boost::system::system_error(errc::invalid_option,
                                          "connection is null, must be a connection");
    if (wakeups)
        check(*wakeups);
    const config limits = wakeups.value_or(config());
    return std::make_shared<redis_store_type>(
        make_shared_transport(std::move(connection), limits.reconnect), limits, wakeups);
}

} // namespace leasehold
