#ifndef LEASEHOLD_SRC_REDIS_REPLICAS_REPLICA_CONFIRMATION_HPP
#define LEASEHOLD_SRC_REDIS_REPLICAS_REPLICA_CONFIRMATION_HPP

#include "core/turn/time_source.hpp"
#include "redis/commands/presence.hpp"
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

/// An acquire or a renewal that is to be confirmed.
struct unconfirmed
{
    /// `missing`: why it is unknown whether enough replicas have it. Empty: they have it.
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
    const bool asking; ///< Its slot migrates to the server.
    bool left = false; ///< A missing lock proves nothing any more.
    bool lost = false; ///< The connection of its request has ended.
    handler done;
};

/// Checks whether enough replicas have a lock that the server granted or renewed. The number of
/// replicas is the same for all. Uses a connection of its own, because WAIT delays all later
/// requests. All on the strand.
///
/// WAIT refers to the writes of its own connection and to one server, which after a failover may
/// not be the server that granted the lock. So a round renews each lock first, then writes a
/// marker, then waits for the marker. Replicas that have it have all that this server had before,
/// above all the locks and their TTLs, whichever server the other connection uses. The lock's
/// existence alone proves nothing: a master that was cut off renews it, while its successor has it
/// until the TTL that it knew. A lock that is missing, and was not released, shows that the
/// connections use two servers: one of them is not the master any more. One round is outstanding at
/// a time; later requests share the next.
///
/// In a cluster both connections use one address, and a lock is only read: a migrating slot serves
/// no request with two keys. It does not accept a new key either, so the marker may have to use
/// another slot of the server.
class replica_confirmation final : public push_connection
{
public:
    replica_confirmation(const redis_config& settings, const std::shared_ptr<environment>& from);

    /// Called if the server of this connection is not the server that granted what is to be
    /// confirmed. Set before `open`.
    std::function<void()> on_other_server;

    /// In a cluster: a slot of the server other than this one. Set before `open`.
    std::function<std::optional<slot_number>(slot_number but)> other_slot;

    /// Called before the request to the server. `asking`: as for `pipeline`.
    [[nodiscard]] std::shared_ptr<unconfirmed> expect(const renewal& held, bool asking = false);

    /// Called when the server has the lock. Never calls `done` inside.
    void confirm(const std::shared_ptr<unconfirmed>& lock, unconfirmed::handler done);

    /// The connection for commands has ended. This one is made again: it may have ended unnoticed,
    /// because a network partition is silent. Earlier requests are not confirmed any more: another
    /// server may have the lock, with its TTL from before a renewal.
    void lost_commands();

    /// The owner, or its entry, is being released.
    void leaving(std::string_view owner, std::string_view entry) noexcept;

private:
    struct round;

    /// The form in which a round sends the renewal script.
    enum class script_form : unsigned char
    {
        name,   ///< By its hash: the server of this connection has it.
        load,   ///< By its text, once before the locks.
        inlined ///< By its text with each lock: the server lost it after it was loaded.
    };

    void on_attempt() override { script_ = script_form::load; }
    void on_lost(error_code, std::string_view) override { script_ = script_form::load; }
    void on_silence() noexcept override;
    void on_forget() noexcept override;

    void begin_soon();
    void begin();
    void refuse_lost();
    [[nodiscard]] std::shared_ptr<round> next_round();
    void end(round& sent, error_code failed);
    bool goes_again(const round& sent);
    bool is_marked_elsewhere(const round& sent);
    void watch_time(const round& sent);
    void on_time();

    const key_form form_;
    /// Written before each WAIT, so that WAIT has something to wait for; expires soon after.
    const std::string marker_;
    const bool in_cluster_;
    const std::chrono::milliseconds patience_; ///< With the server, without the time of WAIT.
    const std::unique_ptr<detail::time_source> time_;
    bool time_is_open_ = false;
    clock::time_point limit_ = clock::time_point::max(); ///< Of the outstanding round.
    std::vector<std::weak_ptr<unconfirmed>> expected_;   ///< Ended ones are removed later.
    std::size_t clean_at_ = 64;
    std::deque<std::shared_ptr<unconfirmed>> waiting_;
    bool busy_ = false;                      ///< A round is outstanding or about to begin.
    std::optional<slot_number> marked_;      ///< The slot of markers, if not beside the lock.
    unsigned marks_refused_ = 0;             ///< Since one was written.
    std::uint64_t markers_;                  ///< Of the last unique one; the first is random.
    script_form script_ = script_form::load; ///< Of the next round; in a cluster there is none.
};

} // namespace leasehold::redis_store

#endif
