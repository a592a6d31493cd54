#include "store/redis/store_on_redis.hpp"

#include "store/redis/layout/native_layout.hpp"
#include "store/redis/layout/redisson_layout.hpp"
#include "store/redis/pipeline.hpp"
#include "store/redis/subscriptions.hpp"
#include "store/redis/transport/owned_transport.hpp"
#include "store/redis/transport/shared_transport.hpp"
#include "store/redis/turn_channel.hpp"

#include <utility>

namespace leasehold::redis_store {
namespace {

/// @param blind As for `native_layout`.
std::unique_ptr<layout> make_layout(const config& settings,
                                    const std::shared_ptr<turn_channel>& turns, bool blind)
{
    if (settings.layout == config::key_layout::native)
        return std::make_unique<native_layout>(turns, blind);
    return std::make_unique<redisson_layout>(settings.fence_retention);
}

class store_on_redis final : public store
{
public:
    store_on_redis(std::shared_ptr<transport> way, const config& limits, bool blind,
                   const std::optional<config>& wakeups, const std::shared_ptr<environment>& from)
    {
        if (wakeups && limits.layout == config::key_layout::native)
            turns_ = std::make_shared<turn_channel>(*wakeups, from);
        else if (wakeups)
            subscriptions_ = std::make_shared<subscriptions>(*wakeups, from);
        pipeline_ = std::make_shared<pipeline>(std::move(way), make_layout(limits, turns_, blind),
                                               from->make_time(), limits.timeout);
        pipeline_->knows_receivers = [told = subscriptions_] { return told && told->allowed(); };
    }

    ~store_on_redis() override { close(); }

    [[nodiscard]] store_traits traits() const noexcept override { return pipeline_->traits(); }

    [[nodiscard]] std::string server_of(store_partition) const override
    {
        return pipeline_->server();
    }

    void open(const asio::any_io_executor& strand, store_listener& listener) override
    {
        const auto home = context_poster::make(strand);
        if (subscriptions_)
            subscriptions_->open(strand, home, listener);
        if (turns_)
            turns_->open(strand, home, listener);
        pipeline_->open(strand, home, listener);
    }

    void close() final
    {
        pipeline_->close();
        if (subscriptions_)
            subscriptions_->close();
        if (turns_)
            turns_->close();
    }

    void async_acquire(const acquire_request& request, acquire_handler handler) override
    {
        if (turns_ && request.entry.empty()) // the owner of a re-entry may be another client's
            turns_->belongs_to(request.owner);
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
    std::shared_ptr<subscriptions> subscriptions_; ///< Of a layout that announces releases.
    std::shared_ptr<turn_channel> turns_;          ///< Of one with a line.
};

} // namespace

std::shared_ptr<store> make_store(const config& settings, std::shared_ptr<environment> from)
{
    return std::make_shared<store_on_redis>(make_owned_transport(settings, from), settings, false,
                                            settings, from);
}

std::shared_ptr<store> make_store(std::shared_ptr<request_channel> connection,
                                  const asio::any_io_executor& executor, const config& limits,
                                  bool wakeups, std::shared_ptr<environment> from)
{
    auto way = make_shared_transport(std::move(connection), executor, limits.reconnect,
                                     from->make_time());
    return std::make_shared<store_on_redis>(std::move(way), limits, true,
                                            wakeups ? std::optional(limits) : std::nullopt, from);
}

} // namespace leasehold::redis_store
