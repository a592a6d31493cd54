#ifndef LEASEHOLD_SRC_REDIS_COMMANDS_NATIVE_COMMANDS_HPP
#define LEASEHOLD_SRC_REDIS_COMMANDS_NATIVE_COMMANDS_HPP

#include "redis/commands/command_set.hpp"
#include "redis/commands/contended_names.hpp"
#include "redis/commands/grant_subscription.hpp"
#include "redis/commands/native_fences.hpp"
#include "redis/commands/native_handshake.hpp"
#include "redis/commands/native_keys.hpp"
#include "redis/commands/native_queue_commands.hpp"
#include "redis/commands/slot_floors.hpp"
#include "redis/protocol/command_words.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace leasehold::redis_store {

/// A lock like a futex, in Redis: a string that plain commands acquire and release while the lock
/// has no waiters, and a queue of waiters.
///
/// The fast path of an acquire is `SET NX PX GET`, followed by the `INCRBY` that draws its fences.
/// It acquires a free lock, or returns the holder. It neither joins the queue nor extends a lock
/// that an earlier request of the same owner has set. Any doubt after it, also a fence that is too
/// small, is `errc::outcome_unknown`: the same owner sends the request again, by the slow path,
/// which is one script.
class native_commands final : public command_set
{
public:
    /// @param subscription Null: this client cannot subscribe to its grants.
    /// @param blind Connections may be replaced unnoticed, and the fence counter may go back
    ///              meanwhile. Each draw must then compare it with the server's clock, which only
    ///              the slow path does.
    /// @param slots The floors of the slots, in a cluster; else null. A cluster has a counter for
    ///              each slot, and its connections are `blind`: a node may be demoted and promoted
    ///              again over one connection.
    /// @param prefix As in `redis_config`.
    native_commands(std::shared_ptr<grant_subscription> subscription, bool blind,
                    std::shared_ptr<slot_floors> slots = nullptr, std::string_view prefix = {})
        : keys_(prefix),
          fences_{blind, std::move(slots)},
          queue_(std::move(subscription), keys_, fences_, contended_)
    {}

    [[nodiscard]] store_traits traits() const noexcept override;
    [[nodiscard]] const script_set& scripts() const noexcept override
    {
        return fences_.slots ? native_cluster_script_set() : native_script_set();
    }

    [[nodiscard]] std::size_t greetings() override { return handshake_.greetings(); }
    call greeting(std::size_t number, boost::redis::request& to) override
    {
        return handshake_.greeting(number, to);
    }
    [[nodiscard]] error_code greeted(std::size_t number, answers replies,
                                     error_code refused) override
    {
        return handshake_.greeted(number, replies, refused);
    }

    [[nodiscard]] bool settled() const noexcept override { return handshake_.settled(); }

    call acquire(const acquire_request& request, std::int64_t latest,
                 boost::redis::request& to) override;
    call renew(std::span<const renewal> renewals, boost::redis::request& to) override;
    call release(const release_request& request, std::int64_t latest,
                 boost::redis::request& to) override;
    [[nodiscard]] bool groups(const release_request& request) const override;
    call release_all(const release_group& group, boost::redis::request& to) override;
    [[nodiscard]] std::optional<release_reply> released_in_group(std::int64_t number) const override
    {
        return number == 1 ? std::optional(release_reply{release_reply::outcome::freed})
                           : std::nullopt;
    }
    call slow_release(const release_request& request, boost::redis::request& to) override
    {
        return queue_.release(request, 0, to);
    }

    void it_is(std::int64_t server_us) noexcept override { server_us_ = server_us; }
    [[nodiscard]] std::uint32_t draws(const acquire_request& request) const override;
    void draw(std::uint64_t fences, boost::redis::request& to) override;

    [[nodiscard]] bool goes_on(const call& made, answers replies) override;
    call go_on(const call& made, answers replies, std::span<const std::string_view> written,
               boost::redis::request& to) override;

    [[nodiscard]] parsed<acquire_reply> acquired(const call& made, answers replies) override;
    [[nodiscard]] error_code renewed(answers replies,
                                     std::span<renewal_result> results) const override;
    [[nodiscard]] parsed<release_reply> released(const call& made, answers replies) override;

private:
    call renew_briefly(std::span<const renewal> renewals, boost::redis::request& to);
    [[nodiscard]] bool may_be_brief(const acquire_request& request) const;
    call acquire_short(const acquire_request& request, boost::redis::request& to);
    [[nodiscard]] parsed<acquire_reply> acquired_short(const call& made, answers replies);
    [[nodiscard]] static bool is_set(const call& made, answers replies);
    [[nodiscard]] std::uint32_t short_block(const acquire_request& request) const noexcept;
    [[nodiscard]] static bool has_block(const call& made, const reply& drawn);

    const native_scripts& scripts_ = of_native();
    const native_keys keys_;
    native_fences fences_;
    contended_names contended_;
    native_handshake handshake_{keys_, fences_};
    native_queue_commands queue_;
    std::uint64_t drawn_ = 0;    ///< The counter after all requested draws.
    std::int64_t server_us_ = 0; ///< Lower bound of the server's time; 0: unknown.
    bool set_gets_ = true;       ///< The server knows `SET NX GET`: Redis 7.0 and later.
    std::string value_;          ///< Reused memory.
    command_words words_;
};

} // namespace leasehold::redis_store

#endif
