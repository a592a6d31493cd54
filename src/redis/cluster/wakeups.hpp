#ifndef LEASEHOLD_SRC_REDIS_CLUSTER_WAKEUPS_HPP
#define LEASEHOLD_SRC_REDIS_CLUSTER_WAKEUPS_HPP

#include "redis/cluster/shard_channels.hpp"
#include "redis/commands/hearing.hpp"
#include "redis/protocol/slot.hpp"

#include <leasehold/clock.hpp>
#include <leasehold/store.hpp>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

// How a client of a cluster hears that it may go on: what the channels of the shards are used for.
namespace leasehold::redis_store::cluster {

/// Of its turns, over one channel for each slot in which it waits.
class turns
{
public:
    explicit turns(shard_channels& channels) : channels_(&channels) {}

    /// All owners are of this one's client.
    void belongs_to(std::string_view owner);

    [[nodiscard]] bool hears(slot_number slot, store_partition node) const;
    /// Somebody waits in a line there.
    void listen(slot_number slot, clock::time_point now);

    /// The owner is in line for the name.
    void joined(slot_number slot, std::string_view name, std::string_view owner);
    /// It is not any more.
    void left(slot_number slot, std::string_view owner);

    void on_heard(store_listener& told, const std::string& channel, store_partition node,
                  bool first);
    static void on_message(store_listener& told, const std::string& text);
    [[nodiscard]] static bool is_channel(std::string_view name) noexcept
    {
        return name.starts_with("leasehold:turn:");
    }

    /// True when `next_look` may be sooner than it was.
    [[nodiscard]] bool take_changed() noexcept { return std::exchange(changed_, false); }

    /// Gives up what nobody has waited for for a while.
    void look(clock::time_point now);
    [[nodiscard]] clock::time_point next_look() const;
    void close() noexcept;

private:
    struct waiter
    {
        std::string name, owner;
    };
    struct slot_state
    {
        std::string channel;
        clock::time_point until; ///< When it is given up, unless it is needed again.
        std::vector<waiter> waiters;
    };

    shard_channels* channels_; ///< Null: closed.
    bool changed_ = false;
    std::string client_;
    std::map<slot_number, slot_state> slots_;
};

/// The ears of one node's layout.
class node_hearing final : public hearing
{
public:
    node_hearing(std::shared_ptr<turns> all, store_partition node,
                 std::function<clock::time_point()> now)
        : all_(std::move(all)), node_(node), now_(std::move(now))
    {}

    [[nodiscard]] bool hears(slot_number slot) const noexcept override
    {
        return all_->hears(slot, node_);
    }
    void listen(slot_number slot) override { all_->listen(slot, now_()); }

private:
    const std::shared_ptr<turns> all_;
    const store_partition node_;
    const std::function<clock::time_point()> now_;
};

/// In the layout `redisson`: of releases, over the channel of each name that is watched.
class watched_names
{
public:
    explicit watched_names(shard_channels& channels) : channels_(channels) {}

    void watch(std::string_view name);
    void unwatch(std::string_view name);
    /// Of those that share the channel: "a" and "{a}".
    void on_hint(const std::string& channel, const std::function<void(std::string_view)>& told);
    void close() noexcept { names_.clear(); }

private:
    shard_channels& channels_;
    std::map<std::string, std::vector<std::string>, std::less<>> names_; ///< By channel.
    std::string channel_;
};

} // namespace leasehold::redis_store::cluster

#endif
