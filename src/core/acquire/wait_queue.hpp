#ifndef LEASEHOLD_SRC_CORE_ACQUIRE_WAIT_QUEUE_HPP
#define LEASEHOLD_SRC_CORE_ACQUIRE_WAIT_QUEUE_HPP

#include "core/acquire/acquire_attempt.hpp"
#include "core/acquire/waiters.hpp"
#include "core/async/completion.hpp"
#include "core/lease/ownership.hpp"
#include "core/lease/watchdog.hpp"
#include "core/release/pending_releases.hpp"
#include "core/turn/turn_context.hpp"
#include "fsm/contention.hpp"

#include <leasehold/lease.hpp>

#include <boost/intrusive/list.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace leasehold::detail {

class wait_queue;

/// An operation that waits for a lock in the queue of its name.
class lock_op final : public timer,
                      public boost::intrusive::list_base_hook<>,
                      public boost::intrusive_ref_counter<lock_op>
{
public:
    using handler_type = completion<error_code, lease>::handler_type;

    lock_op(handler_type&& handler, spec_ptr lock, clock::duration patience, clock::time_point now)
        : done(std::move(handler)), spec(std::move(lock)), limit(patience), since(now)
    {}

    /// By its caller, of any type.
    void cancel();

    completion<error_code, lease> done;
    const spec_ptr spec;
    const clock::duration limit; ///< Zero: one try. The longest duration: for ever.
    clock::time_point since;
    wait_queue* place = nullptr;   ///< While it waits.
    std::uint32_t sent_before = 0; ///< Requests that were answered for the name before it came.

    /// Sets the time of the call, where it was not taken then.
    void begin(clock::time_point now) noexcept
    {
        if (since == clock::time_point())
            since = now;
    }

    [[nodiscard]] bool once() const noexcept { return limit <= clock::duration::zero(); }
    [[nodiscard]] bool explained() const noexcept { return done.explained(); }

private:
    void expired() override;
};

/// One name in this client: who waits for it here, in order, and how this client contends for it on
/// their behalf.
class wait_queue final : public boost::intrusive::list_base_hook<
                             boost::intrusive::link_mode<boost::intrusive::auto_unlink>>,
                         private ownership::home,
                         private timer,
                         private acquire_window::entry,
                         private acquire_attempt::listener
{
public:
    using list = boost::intrusive::list<wait_queue, boost::intrusive::constant_time_size<false>>;

    /// What all of a client work with.
    struct client_parts
    {
        turn_context& context;
        pending_releases& releases;
        acquire_window& window;
        watchdog& keeper;
        std::vector<wait_queue*> to_check{}; ///< When the turn ends: they may be unused.
    };

    explicit wait_queue(client_parts& client) noexcept : client_(client), context_(client.context)
    {}
    ~wait_queue();

    /// Before all else. The name stays where it is.
    void set_name(const std::string& name) noexcept { name_ = &name; }
    [[nodiscard]] const std::string& name() const noexcept { return *name_; }

    void enqueue(lock_op& op);

    /// Completes an operation of the queue without a lease.
    void fail(lock_op& op, error_code why);
    void fail_all(error_code why);

    /// Completes what was cancelled unheard.
    void complete_cancelled();

    /// Its time is up: says why it has no lease.
    void limit_reached(lock_op& op);

    void hint();
    void connected();
    void disconnected(error_code why);

    /// Stops contending; what is under way is given back.
    void stop();
    /// Ends all that waits: with an error, or without a word when there is none. Nothing is given
    /// back.
    void drop(error_code told) noexcept;

    /// It is not in the check list any more.
    void looked_at() noexcept { noted_ = false; }

    /// Nobody waits, nothing is held or under way.
    [[nodiscard]] bool unused() const noexcept;

    /// Called when it is unused: true when it can go, false when it lingers, so that a watch is not
    /// begun anew for every use.
    bool rest();

private:
    bool hand_over(ownership& held) override;
    void on_leaving() noexcept override;
    void on_freed(const release_reply& reply) override;
    void on_left() override { left(false); }
    void on_answer(acquire_attempt& attempt, error_code failed,
                   const acquire_reply& reply) override;
    void expired() override;
    void on_room() override;

    void perform(fsm::contention::action next);
    void send();
    void granted(acquire_attempt& attempt, const acquire_reply& reply);
    void held_by_other(const acquire_reply& reply);
    void refused(error_code why, const details_ptr& details);
    void heard(error_code failed, details_ptr details) noexcept;
    void fail_once(error_code why);
    [[nodiscard]] bool explains(const lock_op& op) const noexcept;
    [[nodiscard]] details_ptr explain(const lock_op& op, error_code told) const noexcept;
    void remove(lock_op& op);
    void queue_left();
    void left(bool others);
    void watch();
    void check();

    client_parts& client_;
    turn_context& context_;
    const std::string* name_ = nullptr;
    fsm::contention contention_;
    waiters<lock_op> queue_;
    acquire_attempt_ptr under_way_;
    error_code last_error_;
    details_ptr last_details_; ///< What came with the last answer, or with the end of a connection.
    ownership_ptr held_;       ///< While this client holds the lock.
    std::uint32_t sent_ = 0;   ///< Requests.
    std::chrono::milliseconds last_remaining_{-1};
    clock::time_point last_look_{};
    bool noted_ = false;
    bool taken_ = false;      ///< The last that is known: somebody has it.
    bool unanswered_ = false; ///< The last request was not answered.
    bool watching_ = false;
    bool lingering_ = false;
};

} // namespace leasehold::detail

#endif
