#ifndef LEASEHOLD_SRC_REDIS_CLUSTER_SHARD_CHANNELS_HPP
#define LEASEHOLD_SRC_REDIS_CLUSTER_SHARD_CHANNELS_HPP

#include "redis/protocol/redirection.hpp"
#include "redis/protocol/slot.hpp"
#include "redis/wakeups/channel_connection.hpp"

#include <leasehold/clock.hpp>
#include <leasehold/redis_config.hpp>
#include <leasehold/store.hpp>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::redis_store::cluster {

class shard_channels;

/// The subscriptions at one node.
class shard_connection final : public channel_connection
{
public:
    shard_connection(const redis_config& settings, std::shared_ptr<environment> from,
                     shard_channels& owner, store_partition node)
        : channel_connection(settings, std::move(from)), owner_(&owner), node_(node)
    {}

    void subscribe(std::string_view channel);
    void unsubscribe(std::string_view channel);

    /// The node reports that the channel is no longer subscribed. True: the reply to `unsubscribe`.
    [[nodiscard]] bool has_left(std::string_view channel);

    /// The owner is not called any more.
    void forget_owner() noexcept { owner_ = nullptr; }

    /// Whether this is the first confirmed channel since the connection was made.
    [[nodiscard]] bool is_first() noexcept { return !std::exchange(subscribed_, true); }

private:
    void on_attempt() override;
    void on_lost(error_code why, std::string_view text) override;
    void on_push(const std::vector<std::string>& words) override;
    bool on_refusal(const std::string& text) override;
    void on_silence() noexcept override;

    shard_channels* owner_; ///< Null: nothing is reported any more.
    const store_partition node_;
    bool subscribed_ = false;
    std::multiset<std::string, std::less<>> leaving_; ///< `unsubscribe` calls without a reply.
};

/// Channels of shards (SSUBSCRIBE): each is subscribed to at the node that serves its slot, over
/// one connection per node, made when it is first needed. If a slot moves, its channels follow. All
/// on the strand.
///
/// Boost.Redis has no command for them. They are written as an argument of an UNSUBSCRIBE, whose
/// reply is a push message like theirs, so that no reply is waited for.
class shard_channels
{
public:
    struct user
    {
        /// `node` serves the slot and sends what is published from now on; earlier messages may
        /// have been missed. `first`: of the channels there, since the connection was made.
        std::function<void(const std::string& channel, store_partition node, bool first)>
            on_subscribed;
        std::function<void(const std::string& channel, const std::string& text)> on_message;
        std::function<store_partition(slot_number slot)> node_of; ///< 0: no node serves it.
        std::function<redis_config(store_partition node)> settings_of;
        /// The node reports that another one serves the slot.
        std::function<void(store_partition node, const redirection& redirected)> on_moved;
        /// The node that now serves the slot of a channel is unknown.
        std::function<void()> on_lost_slot;
        std::function<void()> on_change; ///< `next_check` has changed.
        std::function<clock::time_point()> now;
    };

    shard_channels(std::shared_ptr<environment> from, user callbacks);

    void open(const asio::any_io_executor& strand,
              const std::shared_ptr<detail::context_poster>& poster, store_listener& listener);
    void close() noexcept;

    /// Subscribes to the channel. `on_subscribed` follows, also if the client is already
    /// subscribed.
    void want(const std::string& channel, slot_number slot);
    void unwant(const std::string& channel);
    /// Whether the subscription is confirmed, and at this node.
    [[nodiscard]] bool is_subscribed(const std::string& channel, store_partition node) const;
    /// False if a node has denied it: then it is unknown which other clients would listen.
    [[nodiscard]] bool allowed() const noexcept { return allowed_; }

    /// Other nodes may serve the slots.
    void on_map();
    /// Subscribes again to unconfirmed channels.
    void check();
    /// The time of the next `check`. The maximum: nothing is due.
    [[nodiscard]] clock::time_point next_check() const;

private:
    friend class shard_connection;

    struct channel_state
    {
        slot_number slot;
        store_partition node = 0; ///< The node of the subscription. 0: none yet.
        bool subscribed = false;
        clock::time_point sent_at{};
    };

    void place(const std::string& channel, channel_state& state);
    shard_connection& at(store_partition node);

    // Events of the connections.
    void on_attempt(shard_connection& of, store_partition node);
    void on_lost(store_partition node, error_code why);
    void on_push(shard_connection& of, store_partition node, const std::vector<std::string>& words);
    bool on_refusal(store_partition node, const std::string& text);

    const std::shared_ptr<environment> from_;
    const user callbacks_;
    asio::any_io_executor strand_;
    std::shared_ptr<detail::context_poster> poster_;
    store_listener* listener_ = nullptr;
    bool allowed_ = true;
    std::map<std::string, channel_state, std::less<>> channels_;
    std::map<store_partition, std::shared_ptr<shard_connection>> connections_;
};

} // namespace leasehold::redis_store::cluster

#endif
