#ifndef LEASEHOLD_SRC_REDIS_COMMANDS_REDISSON_COMMANDS_HPP
#define LEASEHOLD_SRC_REDIS_COMMANDS_REDISSON_COMMANDS_HPP

#include "redis/commands/command_set.hpp"
#include "redis/commands/contended_names.hpp"
#include "redis/commands/grant_subscription.hpp"
#include "redis/commands/native_keys.hpp"
#include "redis/protocol/command_words.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace leasehold::redis_store {

/// Byte for byte the locks of Redisson, `RLock` and `RFencedLock`: a hash of owners, a fence
/// counter for each name, and a channel for releases. The queue is in further keys, which Redisson
/// does not use, as in the layout `native`.
///
/// The scripts of the fast path acquire a free lock, and release a lock without waiters. If there
/// is a queue, they change nothing, and the scripts of the slow path follow. Each script that
/// acquires rejects a late request.
class redisson_commands final : public command_set
{
public:
    /// @param fence_retention Time for which a fence is kept after its grant; 0: forever.
    /// @param subscription Null: this client cannot subscribe to its grants.
    /// @param in_cluster Releases and grants are published in the slot of the name.
    explicit redisson_commands(std::chrono::milliseconds fence_retention,
                               std::shared_ptr<grant_subscription> subscription = nullptr,
                               bool in_cluster = false) noexcept
        : fence_retention_(fence_retention),
          subscription_(std::move(subscription)),
          in_cluster_(in_cluster)
    {}

    [[nodiscard]] store_traits traits() const noexcept override { return {.queues = true}; }
    [[nodiscard]] const script_set& scripts() const noexcept override
    {
        return in_cluster_ ? redisson_cluster_script_set() : redisson_script_set();
    }

    [[nodiscard]] std::size_t greetings() override;

    call acquire(const acquire_request& request, std::int64_t latest,
                 boost::redis::request& to) override;
    call renew(std::span<const renewal> renewals, boost::redis::request& to) override;
    call release(const release_request& request, std::int64_t latest,
                 boost::redis::request& to) override;
    [[nodiscard]] bool groups(const release_request& request) const override
    {
        return !in_cluster_ && is_plain(request, contended_);
    }
    call release_all(const release_group& group, boost::redis::request& to) override;
    [[nodiscard]] std::optional<release_reply> released_in_group(
        std::int64_t number) const override;
    call slow_release(const release_request& request, boost::redis::request& to) override
    {
        return leave(request, 0, to);
    }

    [[nodiscard]] bool goes_on(const call& made, answers replies) override;
    call go_on(const call& made, answers replies, std::span<const std::string_view> written,
               boost::redis::request& to) override;

    [[nodiscard]] parsed<acquire_reply> acquired(const call& made, answers replies) override;
    [[nodiscard]] error_code renewed(answers replies,
                                     std::span<renewal_result> results) const override;
    [[nodiscard]] parsed<release_reply> released(const call& made, answers replies) override;

private:
    call acquire_short(const acquire_request& request, std::int64_t latest,
                       boost::redis::request& to);
    call acquire_queued(const acquire_request& request, std::int64_t latest,
                        boost::redis::request& to);
    call release_short(std::string_view name, std::string_view owner, bool checks_queue,
                       boost::redis::request& to);
    call leave(const release_request& request, std::int64_t latest, boost::redis::request& to);
    void write_keys(std::string_view name);
    [[nodiscard]] slot_number slot_of(std::string_view name) const noexcept;
    [[nodiscard]] bool is_subscribed(slot_number slot) const noexcept;
    [[nodiscard]] std::chrono::milliseconds claim(const acquire_request& request,
                                                  slot_number slot) const noexcept;
    void joined(const call& made, acquire_reply& reply, std::int64_t place);
    [[nodiscard]] parsed<acquire_reply> acquired_short(const call& made, const reply& answer);
    [[nodiscard]] parsed<acquire_reply> acquired_queued(const call& made, const reply& answer);

    const std::chrono::milliseconds fence_retention_;
    const std::shared_ptr<grant_subscription> subscription_;
    const bool in_cluster_;
    contended_names contended_;
    bool holder_hidden_ = false; ///< This user may not read the holder of a lock.
    const native_keys keys_;     ///< Those of the queue.
    std::string key_, queue_key_, waiters_, channel_, grant_prefix_; ///< Reused memory.
    command_words words_;
};

} // namespace leasehold::redis_store

#endif
