#ifndef LEASEHOLD_SRC_CORE_ACQUIRE_WAIT_QUEUE_HPP
#define LEASEHOLD_SRC_CORE_ACQUIRE_WAIT_QUEUE_HPP

#include "base/name_map.hpp"
#include "core/acquire/acquirer.hpp"
#include "core/acquire/waiters.hpp"
#include "core/async/operation.hpp"
#include "core/lease/ownership.hpp"
#include "core/lease/watchdog.hpp"
#include "core/turn/turn_context.hpp"

#include <leasehold/lease.hpp>

#include <boost/intrusive/list.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::detail {

class lock_queues;
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

/// One name in this client: who waits for it here, in order, and what they are told.
class wait_queue final : public boost::intrusive::list_base_hook<
                             boost::intrusive::link_mode<boost::intrusive::auto_unlink>>,
                         private ownership::home,
                         private acquirer::waiting
{
public:
    using list = boost::intrusive::list<wait_queue, boost::intrusive::constant_time_size<false>>;

    explicit wait_queue(lock_queues& all) noexcept : all_(all) {}

    /// Before all else. The name stays where it is.
    void set_name(const std::string& name) noexcept { name_ = &name; }
    [[nodiscard]] const std::string& name() const noexcept override { return *name_; }

    void enqueue(lock_op& op);

    /// Completes an operation of the queue without a lease.
    void fail(lock_op& op, error_code why);
    void fail_all(error_code why);

    /// Completes what was cancelled unheard.
    void complete_cancelled();

    /// Its time is up: says why it has no lease.
    void limit_reached(lock_op& op);

    void hint();
    void turn(std::string_view owner);
    void listening();
    void settled() noexcept
    {
        if (way_)
            way_->settled();
    }
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

    /// At the end of a turn: true when it is unused and can go, false also when it lingers, so that
    /// a watch is not begun anew for every use. What it does not need goes in any case.
    bool rest();

private:
    void release(ownership& held, const outcome_op_ptr& op) override;
    void on_kept_alive(ownership& held, error_code why) override;
    bool hand_over(ownership& held);
    void on_leaving() noexcept;
    const acquire_request* next() override { return way_ ? way_->next() : nullptr; }
    void on_left(const release_reply* reply, clock::time_point sent,
                 std::chrono::milliseconds open) override;

    [[nodiscard]] bool wanted() const noexcept override { return !queue_.empty(); }
    [[nodiscard]] bool patient() const noexcept override { return queue_.patient(); }
    [[nodiscard]] bool asks_holder() const noexcept override;
    [[nodiscard]] const spec_ptr& first() noexcept override { return queue_.front().spec; }
    [[nodiscard]] bool holds(std::string_view owner) const noexcept override;
    void on_granted() override;
    void on_taken(ownership& taken) override;
    void on_held(const acquire_reply& reply) override;
    void on_refused(error_code why, const details_ptr& details) override;
    void on_hopeless(error_code why, const details_ptr& details) override;
    void on_unconfirmed(std::uint32_t asked, const details_ptr& details) override;
    void on_rest() override;

    void heard(error_code failed, details_ptr details) noexcept;
    void fail_once(error_code why);
    /// It waits in no queue.
    void refuse(lock_op& op, error_code why, const details_ptr& details);
    void tell_contended();
    [[nodiscard]] bool explains(const lock_op& op) const noexcept;
    [[nodiscard]] details_ptr explain(const lock_op& op, error_code told) const noexcept;
    void remove(lock_op& op);
    void queue_left();

    [[nodiscard]] turn_context& context() const noexcept;
    acquirer& way();

    lock_queues& all_;
    const std::string* name_ = nullptr;
    /// None while nobody waits and nothing is asked for: most names are held, and no more.
    acquirer::pointer way_;
    waiters<lock_op> queue_;
    error_code last_error_;
    details_ptr last_details_; ///< What came with the last answer, or with the end of a connection.
    ownership_ptr held_;       ///< While this client holds the lock.
    bool leaves_ = false;      ///< What was held is being left, and there is no acquirer.
    bool noted_ = false;
    bool taken_ = false;      ///< The last that is known: somebody has it.
    bool refused_ = false;    ///< Another owner had it when it was asked for since the last grant.
    bool unanswered_ = false; ///< The last request was not answered.
};

/// The queues of a client, by name. A queue exists while it is used, and a little longer.
class lock_queues final : private turn_end_work
{
public:
    lock_queues(const acquirer::client_parts& client, watchdog& keeper) noexcept
        : parts(client), kept_by(keeper)
    {
        client.context.set_turn_end(turn_context::turn_end::unused_queues, *this);
    }

    /// The queue of that name, which is made if there is none.
    [[nodiscard]] wait_queue& at(std::string_view name);

    /// Null: there is none.
    [[nodiscard]] wait_queue* find(std::string_view name) noexcept
    {
        const auto found = names_.find(name);
        return found == names_.end() ? nullptr : &found->second;
    }

    /// All of them, in the order in which they were made: nothing depends on how names are hashed.
    [[nodiscard]] wait_queue::list& all() noexcept { return in_order_; }

    /// It may be unused: the end of the turn looks.
    void check(wait_queue& one)
    {
        to_check_.push_back(&one);
        parts.context.request(turn_context::turn_end::unused_queues);
    }

    void clear() noexcept
    {
        to_check_.clear();
        names_.clear();
    }

    const acquirer::client_parts parts;
    watchdog& kept_by;

private:
    void at_turn_end() override;

    name_map<wait_queue> names_;
    wait_queue::list in_order_;
    std::vector<wait_queue*> to_check_;
};

inline turn_context& wait_queue::context() const noexcept
{
    return all_.parts.context;
}

} // namespace leasehold::detail

#endif
