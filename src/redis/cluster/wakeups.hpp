#ifndef LEASEHOLD_SRC_REDIS_CLUSTER_WAKEUPS_HPP
#define LEASEHOLD_SRC_REDIS_CLUSTER_WAKEUPS_HPP

#include "redis/cluster/shard_channels.hpp"
#include "redis/commands/grant_subscription.hpp"
#include "redis/commands/native_keys.hpp"
#include "redis/protocol/slot.hpp"

#include <leasehold/clock.hpp>
#include <leasehold/store.hpp>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

// How a client of a cluster receives grants and wake-ups over the channels of the shards.
namespace leasehold::redis_store::cluster {

/// Receives the client's grants, over one channel for each slot in which it waits.
class grant_channels
{
public:
    /// @param prefix As in `redis_config`.
    grant_channels(shard_channels& channels, std::string_view prefix)
        : channels_(&channels), keys_(prefix)
    {
        keys_.grants({}, begin_);
    }

    /// Sets the client, which is that of this owner.
    void belongs_to(std::string_view owner);

    [[nodiscard]] bool is_subscribed(slot_number slot, store_partition node) const;
    /// An owner waits in a queue there.
    void listen(slot_number slot, clock::time_point now);

    /// The owner is in the queue for the name.
    void joined(slot_number slot, std::string_view name, std::string_view owner);
    /// It is not any more.
    void left(slot_number slot, std::string_view owner);

    void on_subscribed(store_listener& listener, const std::string& channel, store_partition node,
                       bool first);
    static void on_message(store_listener& listener, const std::string& text);
    [[nodiscard]] bool is_channel(std::string_view name) const noexcept
    {
        return name.starts_with(begin_);
    }

    /// Whether `next_check` may be sooner than it was.
    [[nodiscard]] bool take_changed() noexcept { return std::exchange(changed_, false); }

    /// Unsubscribes from channels without a recent waiter.
    void check(clock::time_point now);
    [[nodiscard]] clock::time_point next_check() const;
    void close() noexcept;

private:
    struct waiter
    {
        std::string name, owner;
    };
    struct slot_state
    {
        std::string channel;
        clock::time_point until; ///< The channel ends at this time, unless it is needed again.
        std::vector<waiter> waiters;
    };

    shard_channels* channels_; ///< Null: closed.
    const native_keys keys_;
    std::string begin_; ///< Of the name of each channel.
    bool changed_ = false;
    std::string client_;
    std::map<slot_number, slot_state> slots_;
};

/// The listening state for one node's layout.
class node_subscription final : public grant_subscription
{
public:
    node_subscription(std::shared_ptr<grant_channels> all, store_partition node,
                      std::function<clock::time_point()> now)
        : all_(std::move(all)), node_(node), now_(std::move(now))
    {}

    [[nodiscard]] bool is_subscribed(slot_number slot) const noexcept override
    {
        return all_->is_subscribed(slot, node_);
    }
    void listen(slot_number slot) override { all_->listen(slot, now_()); }

private:
    const std::shared_ptr<grant_channels> all_;
    const store_partition node_;
    const std::function<clock::time_point()> now_;
};

/// In the layout `redisson`: receives releases, over the channel of each watched name.
class watched_names
{
public:
    explicit watched_names(shard_channels& channels) : channels_(channels) {}

    void watch(std::string_view name);
    void unwatch(std::string_view name);
    /// The names that share the channel: "a" and "{a}".
    void on_wakeup(const std::string& channel, const std::function<void(std::string_view)>& report);
    void close() noexcept { names_.clear(); }

private:
    shard_channels& channels_;
    std::map<std::string, std::vector<std::string>, std::less<>> names_; ///< By channel.
    std::string channel_;
};

} // namespace leasehold::redis_store::cluster

#endif
