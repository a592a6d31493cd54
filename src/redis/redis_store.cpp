#include <leasehold/redis.hpp>

#include "redis/config/redis_schemes.hpp"
#include "redis/connection/environment.hpp"
#include "redis/connection/settings.hpp"
#include "redis/make_store.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/redis/connection.hpp>
#include <boost/system/system_error.hpp>

#include <string_view>
#include <utility>

namespace leasehold {
namespace {

/// The connection of an application.
class adopted_connection final : public redis_store::request_channel
{
public:
    explicit adopted_connection(std::shared_ptr<boost::redis::connection> connection)
        : connection_(std::move(connection))
    {}

    void execute(const boost::redis::request& request, boost::redis::any_adapter adapter,
                 asio::cancellation_slot slot, executed done) override
    {
        connection_->async_exec(
            request, std::move(adapter),
            asio::bind_cancellation_slot(
                slot, [done = std::move(done)](error_code error, std::size_t size) mutable {
                    std::move(done)(error, size);
                }));
    }

    std::size_t commands_sent() const override { return connection_->get_usage().commands_sent; }

private:
    const std::shared_ptr<boost::redis::connection> connection_;
};

std::shared_ptr<store> adopt(std::shared_ptr<boost::redis::connection> connection,
                             const redis_config& settings, bool wakeups)
{
    if (!connection)
        throw boost::system::system_error(errc::invalid_option,
                                          "connection is null, must be a connection");
    const asio::any_io_executor executor = connection->get_executor();
    return redis_store::make_store(std::make_shared<adopted_connection>(std::move(connection)),
                                   executor, settings, wakeups, redis_store::system_environment());
}

// An invalid config is reported where it is passed, not when the connection is made.
void check(const redis_config& settings)
{
    settings.validate();
    static_cast<void>(redis_store::tls_settings(settings));
}

std::shared_ptr<store> make_store_of(std::string_view url)
{
    return make_redis_store(redis_config(url));
}

} // namespace

std::shared_ptr<store> make_redis_store(const redis_config& settings)
{
    check(settings);
    return redis_store::make_store(settings, redis_store::system_environment());
}

std::shared_ptr<store> make_redis_store(std::shared_ptr<boost::redis::connection> connection,
                                        std::optional<redis_config> wakeups)
{
    if (wakeups)
        check(*wakeups);
    if (wakeups && wakeups->kind != redis_config::deployment::server &&
        wakeups->kind != redis_config::deployment::sentinel)
        throw boost::system::system_error(
            errc::invalid_option, "kind of the wake-ups is several servers, must be server or "
                                  "sentinel: one connection leads to one server");
    return adopt(std::move(connection), wakeups.value_or(redis_config()), wakeups.has_value());
}

std::shared_ptr<store> make_redis_store(std::shared_ptr<boost::redis::connection> connection,
                                        redis_config::key_layout layout, std::string_view prefix)
{
    redis_config settings;
    settings.layout = layout;
    settings.prefix = prefix;
    check(settings);
    return adopt(std::move(connection), settings, false);
}

bool detail::register_redis()
{
    for (const std::string_view scheme : redis_store::schemes)
        register_scheme(scheme, &make_store_of);
    return true;
}

} // namespace leasehold
