#include "redis/server/server_store.hpp"

#include "redis/commands/native_commands.hpp"
#include "redis/commands/native_keys.hpp"
#include "redis/commands/redisson_commands.hpp"
#include "redis/pipeline/client_note.hpp"
#include "redis/pipeline/pipeline.hpp"
#include "redis/replicas/confirmed_requests.hpp"
#include "redis/replicas/replica_confirmations.hpp"
#include "redis/wakeups/grant_channel.hpp"
#include "redis/wakeups/subscriptions.hpp"

#include <algorithm>
#include <utility>

namespace leasehold::redis_store {
namespace {

/// @param blind As for `native_commands`.
std::unique_ptr<command_set> make_commands(const redis_config& settings,
                                           const std::shared_ptr<grant_channel>& grants, bool blind)
{
    if (settings.layout == redis_config::key_layout::native)
        return std::make_unique<native_commands>(grants, blind, nullptr, settings.prefix);
    return std::make_unique<redisson_commands>(settings.fence_retention, grants);
}

class server_store final : public store
{
public:
    server_store(std::shared_ptr<transport> way, const redis_config& limits, bool blind,
                 const std::optional<redis_config>& wakeups,
                 const std::shared_ptr<environment>& from)
        : prefix_(limits.prefix)
    {
        if (wakeups)
            grants_ = std::make_shared<grant_channel>(*wakeups, from);
        if (wakeups && limits.layout == redis_config::key_layout::redisson)
            subscriptions_ = std::make_shared<subscriptions>(*wakeups, from);
        pipeline_ = std::make_shared<pipeline>(std::move(way),
                                               make_commands(limits, grants_, blind),
                                               from->make_time(), limits.timeout);
        note_ = client_note::make(limits, *from);
        pipeline_->introduce(note_);
        if (wakeups) {
            replicas_ = std::make_shared<replica_confirmations>(*wakeups, from);
            replicas_->on_other_server = [weak = std::weak_ptr(pipeline_)] {
                if (const auto commands = weak.lock())
                    commands->begin_again(errc::store_refused);
            };
            pipeline_->on_lost = [weak = std::weak_ptr(replicas_)] {
                if (const auto replicas = weak.lock())
                    replicas->lost_commands();
            };
        }
        if (grants_) {
            grants_->now = [weak = std::weak_ptr(pipeline_)] {
                const auto commands = weak.lock();
                return commands ? commands->now() : clock::time_point();
            };
            grants_->publish = [weak = std::weak_ptr(pipeline_)](const std::string& channel,
                                                                 aside::answered done) {
                if (const auto commands = weak.lock())
                    commands->ask_aside(
                        [&](boost::redis::request& to) {
                            to.push("PUBLISH", channel, "");
                            return call{.forms = {answer_form::number}};
                        },
                        std::move(done));
            };
        }
        pipeline_->on_serving = [grants = std::weak_ptr(grants_),
                                 releases = std::weak_ptr(subscriptions_),
                                 weak = std::weak_ptr(pipeline_)] {
            if (const auto channel = grants.lock())
                channel->verify();
            const auto commands = weak.lock();
            if (const auto watched = releases.lock(); watched && commands)
                watched->follow(commands->now());
        };
        pipeline_->knows_receivers = [subscribed = subscriptions_] {
            return subscribed && subscribed->allowed();
        };
    }

    // On any thread: after the close, nothing that may still run uses these objects.
    ~server_store() override
    {
        if (!closed_)
            close();
    }

    [[nodiscard]] store_traits traits() const noexcept override
    {
        store_traits result = pipeline_->traits();
        result.replica_acks = replicas_ != nullptr;
        result.describes_holders = note_ != nullptr;
        return result;
    }

    [[nodiscard]] std::string server_of(store_partition) const override
    {
        return pipeline_->server();
    }

    void open(const asio::any_io_executor& strand, store_listener& listener) override
    {
        const auto poster = detail::context_poster::make(strand);
        if (subscriptions_)
            subscriptions_->open(strand, poster, listener);
        if (grants_)
            grants_->open(strand, poster, listener);
        if (replicas_)
            replicas_->open(strand, poster, listener);
        pipeline_->open(strand, poster, listener);
    }

    void close() final
    {
        closed_ = true;
        pipeline_->close();
        if (subscriptions_)
            subscriptions_->close();
        if (grants_)
            grants_->close();
        if (replicas_)
            replicas_->close();
    }

    void async_acquire(const acquire_request& request, acquire_handler handler) override
    {
        // The owner of a reentrant acquisition may be another client's.
        if (grants_ && !named_ && request.entry.empty()) {
            grants_->belongs_to(request.owner);
            named_ = true;
        }
        if (request.replica_acks > 0 && replicas_) {
            confirms_ = true;
            return acquire_confirmed(pipeline_, replicas_, request, std::move(handler));
        }
        pipeline_->acquire(request, std::move(handler));
    }

    void async_renew(std::span<const renewal> renewals, renew_handler handler) override
    {
        const auto unconfirmed = [](const renewal& each) { return each.replica_acks == 0; };
        if (replicas_ && !std::all_of(renewals.begin(), renewals.end(), unconfirmed)) {
            confirms_ = true;
            return renew_confirmed(pipeline_, replicas_, renewals, std::move(handler));
        }
        pipeline_->renew(renewals, std::move(handler));
    }

    void async_release(const release_request& request, release_handler handler) override
    {
        if (confirms_)
            replicas_->leaving(request.owner, request.entry);
        pipeline_->release(request, std::move(handler));
    }

    void async_describe(std::string_view holder, describe_handler handler) override
    {
        read_note(*pipeline_, {prefix_, holder}, std::move(handler));
    }

    [[nodiscard]] client_info own_info() const override
    {
        return note_ ? note_->info() : client_info();
    }

    void async_heartbeat(std::string_view client, heartbeat_handler handler) override
    {
        std::string key;
        native_keys(prefix_).alive(client, key);
        pipeline_->ask(
            key, {},
            [&key](boost::redis::request& to, std::int64_t) {
                to.push("EVALSHA", of_native().alive.sha, 1, key);
                return call{.called = &of_native().alive, .expects = 1};
            },
            [done = std::move(handler)](error_code failed, std::span<const std::int64_t> numbers,
                                        const auto&) mutable {
                if (!failed && numbers[0] == 0)
                    failed = errc::permission_denied;
                std::move(done)(failed, !failed && numbers[0] == 1);
            });
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
    const std::string prefix_;
    std::shared_ptr<pipeline> pipeline_;
    std::shared_ptr<subscriptions> subscriptions_;    ///< For a layout that publishes releases.
    std::shared_ptr<client_note> note_;               ///< Null: no record is written.
    std::shared_ptr<grant_channel> grants_;           ///< Null: there are no wake-ups.
    std::shared_ptr<replica_confirmations> replicas_; ///< Null: there is no connection for them.
    bool named_ = false;    ///< The turn channel knows an owner of this client.
    bool confirms_ = false; ///< A request has required confirmation by replicas.
    bool closed_ = false;
};

} // namespace

std::shared_ptr<store> make_server_store(std::shared_ptr<transport> way, const redis_config& limits,
                                         bool blind, const std::optional<redis_config>& wakeups,
                                         const std::shared_ptr<environment>& from)
{
    return std::make_shared<server_store>(std::move(way), limits, blind, wakeups, from);
}

} // namespace leasehold::redis_store
