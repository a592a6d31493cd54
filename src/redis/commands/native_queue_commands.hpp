#ifndef LEASEHOLD_SRC_REDIS_COMMANDS_NATIVE_QUEUE_COMMANDS_HPP
#define LEASEHOLD_SRC_REDIS_COMMANDS_NATIVE_QUEUE_COMMANDS_HPP

#include "redis/commands/command_set.hpp"
#include "redis/commands/contended_names.hpp"
#include "redis/commands/grant_subscription.hpp"
#include "redis/commands/native_fences.hpp"
#include "redis/commands/native_keys.hpp"
#include "redis/protocol/command_words.hpp"
#include "redis/protocol/reply.hpp"
#include "redis/protocol/script.hpp"
#include "redis/protocol/slot.hpp"

#include <leasehold/store.hpp>

#include <boost/redis/request.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace leasehold::redis_store {

/// The slow path of the layout `native`: scripts that know the queue and the entries of a lock, and
/// compare the fence counter with the server's clock. Reuses its memory.
class native_queue_commands
{
public:
    /// @param subscription Null: this client cannot subscribe to its grants.
    native_queue_commands(std::shared_ptr<grant_subscription> subscription, const native_keys& keys,
                          native_fences& fences, contended_names& contended)
        : subscription_(std::move(subscription)),
          keys_(keys),
          fences_(fences),
          contended_(contended)
    {}

    // As in `command_set`.
    call acquire(const acquire_request& request, std::int64_t latest, boost::redis::request& to);
    call renew(std::span<const renewal> renewals, boost::redis::request& to);
    call release(const release_request& request, std::int64_t latest, boost::redis::request& to);
    /// @param made The call of the fast path.
    call go_on(const call& made, std::span<const std::string_view> written,
               boost::redis::request& to);

    [[nodiscard]] parsed<acquire_reply> acquired(const call& made, const reply& answer);
    [[nodiscard]] parsed<release_reply> released(const call& made, const reply& answer);

private:
    /// 0 without a cluster.
    [[nodiscard]] slot_number slot_of(std::string_view name) const noexcept;
    /// The key of the fence counter.
    [[nodiscard]] std::string_view fence_key(slot_number slot);
    [[nodiscard]] std::uint64_t floor(slot_number slot) const noexcept;
    [[nodiscard]] std::int64_t sent_floor(std::uint64_t floor) const noexcept;
    [[nodiscard]] bool is_subscribed(slot_number slot) const noexcept;
    [[nodiscard]] std::chrono::milliseconds claim(const acquire_request& request,
                                                  slot_number slot) const noexcept;
    call reenter(const acquire_request& request, std::int64_t latest, boost::redis::request& to);
    void joined(const call& made, acquire_reply& reply, std::int64_t place);

    const native_scripts& scripts_ = of_native();
    const std::shared_ptr<grant_subscription> subscription_;
    const native_keys& keys_;
    native_fences& fences_;
    contended_names& contended_;
    std::string fence_key_, value_, next_value_, queue_key_, waiters_, entries_; ///< Reused memory.
    command_words words_;
};

} // namespace leasehold::redis_store

#endif
