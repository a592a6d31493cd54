#ifndef LEASEHOLD_SRC_REDIS_COMMANDS_NATIVE_COMMANDS_HPP
#define LEASEHOLD_SRC_REDIS_COMMANDS_NATIVE_COMMANDS_HPP

#include "redis/commands/command_set.hpp"
#include "redis/commands/contended_names.hpp"
#include "redis/commands/ended_connections.hpp"
#include "redis/commands/hearing.hpp"
#include "redis/commands/slot_floors.hpp"
#include "redis/protocol/command_words.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
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
    /// @param turns Null: this client cannot subscribe to its grants.
    /// @param blind Connections may be replaced unnoticed, and the fence counter may go back
    ///              meanwhile. Each draw must then compare it with the server's clock, which only
    ///              the slow path does.
    /// @param slots The floors of the slots, in a cluster; else null. A cluster has a counter for
    ///              each slot, and its connections are `blind`: a node may be demoted and promoted
    ///              again over one connection.
    native_commands(std::shared_ptr<hearing> turns, bool blind,
                    std::shared_ptr<slot_floors> slots = nullptr)
        : turns_(std::move(turns)), blind_(blind), slots_(std::move(slots))
    {}

    [[nodiscard]] store_traits traits() const noexcept override;
    [[nodiscard]] const script_set& scripts() const noexcept override
    {
        return slots_ ? native_cluster_script_set() : native_script_set();
    }

    /// Kills earlier connections, and finds the command for a release. Raises the fence counter to
    /// the server's clock and to the largest fence that this client has seen: a restart, a failover
    /// or an old snapshot closes connections, and may have reset the counter. If the server has no
    /// memory for that, the client uses it nevertheless: until the first grant, each draw compares
    /// the counter with the clock.
    [[nodiscard]] std::size_t greetings() override;
    call greeting(std::size_t number, boost::redis::request& to) override;
    [[nodiscard]] error_code greeted(std::size_t number, answers told, error_code refused) override;

    [[nodiscard]] bool settled() const noexcept override { return ended_.all_ended(); }

    call acquire(const acquire_request& asked, std::int64_t latest,
                 boost::redis::request& to) override;
    call renew(std::span<const renewal> asked, boost::redis::request& to) override;
    call release(const release_request& asked, std::int64_t latest,
                 boost::redis::request& to) override;

    void it_is(std::int64_t server_us) noexcept override { server_us_ = server_us; }
    [[nodiscard]] std::uint32_t draws(const acquire_request& asked) const override;
    void draw(std::uint64_t fences, boost::redis::request& to) override;

    [[nodiscard]] bool goes_on(const call& made, answers told) override;
    call go_on(const call& made, answers told, std::span<const std::string_view> written,
               boost::redis::request& to) override;

    [[nodiscard]] said<acquire_reply> acquired(const call& made, answers told) override;
    [[nodiscard]] error_code renewed(answers told,
                                     std::span<renewal_result> results) const override;
    [[nodiscard]] said<release_reply> released(const call& made, answers told) override;

private:
    enum class greets : std::size_t;

    /// The command that releases a lock without waiters.
    enum class removal : std::uint8_t
    {
        script,
        delifeq, ///< Valkey 9.0 and later.
        delex,   ///< Redis 8.4 and later.
    };

    /// 0 without a cluster.
    [[nodiscard]] slot_number slot_of(std::string_view name) const noexcept;
    /// The key of the fence counter.
    [[nodiscard]] std::string_view fence_key(slot_number slot);
    [[nodiscard]] bool hears(slot_number slot) const noexcept;
    [[nodiscard]] std::chrono::milliseconds claim(const acquire_request& asked,
                                                  slot_number slot) const noexcept;
    void joined(const call& made, acquire_reply& reply, std::int64_t place);
    /// Records a value of the counter.
    void saw(slot_number slot, std::uint64_t fence);
    [[nodiscard]] std::uint64_t floor(slot_number slot) const noexcept;
    call renew_briefly(std::span<const renewal> asked, boost::redis::request& to);
    call renew_all(std::span<const renewal> asked, boost::redis::request& to);
    call enter(const acquire_request& asked, std::int64_t latest, boost::redis::request& to);
    [[nodiscard]] bool may_be_brief(const acquire_request& asked) const;
    call acquire_short(const acquire_request& asked, contended_names::key key,
                       boost::redis::request& to);
    call acquire_long(const acquire_request& asked, contended_names::key key, std::int64_t latest,
                      boost::redis::request& to);
    call leave(const release_request& asked, contended_names::key key, std::int64_t latest,
               boost::redis::request& to);
    [[nodiscard]] said<acquire_reply> acquired_short(const call& made, answers told);
    [[nodiscard]] said<acquire_reply> acquired_long(const call& made, const reply& told);
    [[nodiscard]] static bool is_set(const call& made, answers told);
    [[nodiscard]] std::uint32_t short_block(const acquire_request& asked) const noexcept;
    [[nodiscard]] static bool fits(const call& made, std::int64_t last, std::int64_t count);
    [[nodiscard]] static bool has_block(const call& made, const reply& drawn);
    /// Whether the counter may have gone back, or was not raised on this connection.
    [[nodiscard]] bool doubts_counter() const noexcept { return blind_ || owed_ != 0; }
    [[nodiscard]] std::int64_t sent_floor(std::uint64_t floor) const noexcept;
    bool block(const call& made, std::int64_t last, std::int64_t count, acquire_reply& into);

    const native_scripts& scripts_ = of_native();
    const std::shared_ptr<hearing> turns_;
    const bool blind_;
    const std::shared_ptr<slot_floors> slots_; ///< Null: no cluster.
    std::uint64_t floor_ = 0;                  ///< The largest fence that this client has seen.
    std::uint64_t drawn_ = 0;                  ///< The counter after all requested draws.
    std::int64_t server_us_ = 0;               ///< Lower bound of the server's time; 0: unknown.
    std::uint32_t servers_ = 0;                ///< Number of greeted servers.
    std::uint32_t owed_ = 0; ///< Number of the server whose counter was not raised; 0: none.
    contended_names contended_;
    ended_connections ended_;
    removal removal_ = removal::script;
    bool set_gets_ = true; ///< The server knows `SET NX GET`: Redis 7.0 and later.
    std::string fences_, value_, next_value_, line_, waiters_,
        entries_; ///< Reused memory.
    command_words words_;
};

} // namespace leasehold::redis_store

#endif
