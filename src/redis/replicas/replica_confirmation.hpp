#ifndef LEASEHOLD_SRC_REDIS_REPLICAS_REPLICA_CONFIRMATION_HPP
#define LEASEHOLD_SRC_REDIS_REPLICAS_REPLICA_CONFIRMATION_HPP

#include "core/turn/time_source.hpp"
#include "redis/protocol/slot.hpp"
#include "redis/wakeups/push_connection.hpp"

#include <leasehold/clock.hpp>
#include <leasehold/store.hpp>

#include <boost/asio/any_completion_handler.hpp>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::redis_store {

/// A lock that is asked for, or renewed, and is to be confirmed then.
struct unconfirmed
{
    /// `missing`: why it is not known that enough replicas have it; empty: they have.
    using handler = asio::any_completion_handler<void(std::string missing)>;

    explicit unconfirmed(const renewal& from, bool on_its_way)
        : name(from.name),
          owner(from.owner),
          entry(from.entry),
          lease(from.lease),
          acks(from.replica_acks),
          timeout(from.replica_timeout),
          asking(on_its_way)
    {}

    [[nodiscard]] renewal lock() const noexcept { return {name, owner, lease, entry}; }

    const std::string name, owner, entry;
    const std::chrono::milliseconds lease;
    const std::uint32_t acks;
    const std::chrono::milliseconds timeout;
    const bool asking; ///< Its slot is on its way to the server.
    bool left = false; ///< That it is not there shows nothing any more.
    bool lost = false; ///< The connection over which it was asked for has ended.
    handler done;
};

/// Asks whether enough replicas, as many for all, have what the server was told: a lock that was
/// granted or renewed.
/// On a connection of its own, because WAIT holds up all that comes behind it. All on the strand.
///
/// WAIT speaks of what its own connection has written, and of one server, which after a failover
/// may be another than the one that was told of the lock. So a round prolongs each lock first, then
/// writes a marker, then waits for the marker: replicas that have it have what was in that server
/// before it, the locks and their times to live above all, whatever server the other connection
/// talked to. It is not enough that the lock is there: a master that was cut off renews it, and the
/// one that took over has it until the time to live is over that it knew of. A lock that is not
/// found, and was not left, shows that they talk to two: one of them is not the master any more.
/// One round is under way at a time; what comes meanwhile shares the next.
///
/// In a cluster both connections lead to one address, and a lock is only looked for: a slot that
/// is on its way serves no request with two keys. Nor does it take a key that is new, so that the
/// marker may have to go to another slot of the server.
class replica_confirmation final : public push_connection
{
public:
    replica_confirmation(const config& settings, const std::shared_ptr<environment>& from);

    /// To be called when the server that is asked here is another one than the one that said what
    /// is to be confirmed. Set before `open`.
    std::function<void()> on_other_server;

    /// In a cluster: a slot that the server has, and not this one. Set before `open`.
    std::function<std::optional<slot_number>(slot_number but)> other_slot;

    /// Before the server is asked for it. `asking`: as for `pipeline`.
    [[nodiscard]] std::shared_ptr<unconfirmed> expect(const renewal& held, bool asking = false);

    /// The server has it. `done` is never called inside.
    void confirm(const std::shared_ptr<unconfirmed>& lock, unconfirmed::handler done);

    /// The connection for commands has ended. This one may have as well, unseen: a network that is
    /// cut says nothing. It is made again. What was said over that one is not confirmed any more:
    /// another server may have the lock, with the time to live that it had before a renewal.
    void lost_commands();

    /// The owner, or its entry, is being left.
    void leaving(std::string_view owner, std::string_view entry) noexcept;

private:
    struct round;

    /// What a round sends of the script that prolongs.
    enum class script_form : unsigned char
    {
        name,   ///< The server of this connection has it.
        load,   ///< All of it, before the locks.
        inlined ///< All of it with each lock: behind its loading it was gone again.
    };

    void on_attempt() override { script_ = script_form::load; }
    void on_lost(error_code, std::string_view) override { script_ = script_form::load; }
    void on_silence() noexcept override;
    void on_forget() noexcept override;

    void begin_soon();
    void begin();
    void refuse_lost();
    [[nodiscard]] std::shared_ptr<round> next_round();
    void end(round& asked, error_code failed);
    bool goes_again(const round& asked);
    bool is_marked_elsewhere(const round& asked);
    void watch_time(const round& asked);
    void on_time();

    const config::key_layout keys_;
    const bool in_cluster_;
    const std::chrono::milliseconds patience_; ///< With a server, beside the time that WAIT takes.
    const std::unique_ptr<detail::time_source> time_;
    bool time_is_open_ = false;
    clock::time_point limit_ = clock::time_point::max(); ///< Of the round that is under way.
    std::vector<std::weak_ptr<unconfirmed>> expected_;   ///< And those that have gone, for a while.
    std::size_t clean_at_ = 64;
    std::deque<std::shared_ptr<unconfirmed>> waiting_;
    bool busy_ = false;                      ///< A round is under way, or about to begin.
    std::optional<slot_number> marked_;      ///< Where markers are, if not beside the lock.
    unsigned marks_refused_ = 0;             ///< Since one was written.
    std::uint64_t markers_;                  ///< Number of the last unique one. Starts anywhere.
    script_form script_ = script_form::load; ///< Of the next round; in a cluster there is none.
};

} // namespace leasehold::redis_store

#endif
