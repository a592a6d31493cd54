#ifndef LEASEHOLD_SRC_CORE_ACQUIRE_WAIT_QUEUE_HPP
#define LEASEHOLD_SRC_CORE_ACQUIRE_WAIT_QUEUE_HPP

#include "core/acquire/acquire_attempt.hpp"
#include "core/acquire/acquire_window.hpp"
#include "core/acquire/long_wait.hpp"
#include "core/async/operation.hpp"
#include "core/lease/ownership.hpp"
#include "core/lease/watchdog.hpp"
#include "core/release/pending_release.hpp"
#include "core/turn/turn_context.hpp"

#include <leasehold/lease.hpp>

#include <boost/asio/error.hpp>
#include <boost/assert.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace leasehold::detail {

class lock_queues;
class polling_contender;
class queued_contender;
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

    /// Called when the caller cancels the wait, with any cancellation type.
    void cancel();

    completion<error_code, lease> done;
    const spec_ptr spec;
    const clock::duration limit; ///< Zero: one try. The maximum: no limit.
    clock::time_point since;
    wait_queue* place = nullptr;   ///< The queue in which it waits; null: none.
    std::uint32_t sent_before = 0; ///< Answered requests for the name before it arrived.

    /// Sets the time of the call, if the call did not read the clock.
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

/// Operations that wait for one name, in order. Counts the operations of one try: they end with the
/// next reply of the store, and a long queue usually has none. Also counts the operations whose
/// callers want the details of an error: if there are any, requests also query the holder.
template <class Op>
class waiters
{
    using list = boost::intrusive::list<Op, boost::intrusive::constant_time_size<false>>;

public:
    using iterator = typename list::iterator;

    [[nodiscard]] bool empty() const noexcept { return list_.empty(); }
    [[nodiscard]] Op& front() noexcept { return list_.front(); }
    [[nodiscard]] iterator begin() noexcept { return list_.begin(); }
    [[nodiscard]] iterator end() noexcept { return list_.end(); }

    void push_back(Op& op) noexcept
    {
        list_.push_back(op);
        ++count_;
        tries_ += op.once() ? 1 : 0;
        explained_ += op.explained() ? 1 : 0;
    }

    void erase(Op& op) noexcept
    {
        list_.erase(list_.iterator_to(op));
        --count_;
        tries_ -= op.once() ? 1 : 0;
        explained_ -= op.explained() ? 1 : 0;
    }

    /// Whether an operation waits longer than one try.
    [[nodiscard]] bool patient() const noexcept { return count_ > tries_; }

    /// Whether a caller wants the details of an error.
    [[nodiscard]] bool explained() const noexcept { return explained_ > 0; }

    /// Calls `f` for each operation of one try; `f` must erase it. Does not traverse the list if
    /// there is none.
    template <class F>
    void each_try(F f)
    {
        for (auto i = list_.begin(); tries_ > 0;) {
            BOOST_ASSERT(i != list_.end());
            Op& each = *i++;
            if (each.once())
                f(each);
        }
    }

private:
    list list_;
    std::uint32_t count_ = 0;
    std::uint32_t tries_ = 0;
    std::uint32_t explained_ = 0;
};

/// One name in this client: its waiters in order, their results, and the requests to the store, one
/// at a time.
///
/// The first request for a free lock needs no decision. A contender is created when there is one:
/// the request is not granted, an event arrives that counts after its reply, or there are waiters
/// while the lock is held. It is `queued_contender` if the store keeps queues, otherwise
/// `polling_contender`.
class wait_queue final : public boost::intrusive::list_base_hook<
                             boost::intrusive::link_mode<boost::intrusive::auto_unlink>>,
                         public acquire_window::entry,
                         public pending_release::listener,
                         private acquire_attempt::listener,
                         private ownership::listener
{
public:
    using list = boost::intrusive::list<wait_queue, boost::intrusive::constant_time_size<false>>;

    wait_queue(lock_queues& all, std::string_view name);
    ~wait_queue();

    [[nodiscard]] const std::string& name() const noexcept { return name_; }

    void enqueue(lock_op& op);

    /// Completes an operation of the queue without a lease.
    void fail(lock_op& op, error_code why);
    void fail_all(error_code why);

    /// Completes waits whose cancellation is only marked.
    void complete_cancelled();

    /// The wait has reached its limit: completes it with the most precise error.
    void limit_reached(lock_op& op) { fail(op, reason(op)); }

    /// The error of a wait that would reach its limit now.
    [[nodiscard]] error_code reason(const lock_op& op) const noexcept;
    [[nodiscard]] details_ptr details_of(const lock_op& op, error_code error) const noexcept;

    void wakeup();
    void notified(std::string_view owner);
    void gone(std::string_view owner);
    void listening();
    void settled();
    void connected();
    void disconnected(error_code why);

    /// Stops contending. Releases what outstanding requests may take.
    void stop();
    /// Completes the waits with this error; without an error it destroys their handlers. Releases
    /// nothing.
    void drop(error_code error) noexcept;

    /// It is no longer in the list of queues to check.
    void checked() noexcept { noted_ = false; }

    /// Whether there is no waiter, and nothing is held or outstanding.
    [[nodiscard]] bool unused() const noexcept { return queue_.empty() && idle(); }

    /// Called at the end of a turn. Destroys a contender that is not needed. Returns whether the
    /// queue is unused and can be destroyed. An unused queue may stay for a while, so that a name
    /// in frequent use stays watched.
    bool rest();

    // For the contender.
    [[nodiscard]] turn_context& context() const noexcept;
    [[nodiscard]] pending_releases& releases() const noexcept;
    [[nodiscard]] bool online() const noexcept { return context().online(name()); }

    /// Whether there is a waiter.
    [[nodiscard]] bool wanted() const noexcept { return !queue_.empty(); }
    /// Whether a waiter waits longer than one try.
    [[nodiscard]] bool patient() const noexcept { return queue_.patient(); }
    [[nodiscard]] const lock_op& first_waiter() noexcept { return queue_.front(); }
    /// The name and options of the first waiter.
    [[nodiscard]] const spec_ptr& first() noexcept { return queue_.front().spec; }
    /// Whether a lock acquired under `spec` may serve the first waiter.
    [[nodiscard]] bool serves_first(const spec_ptr& spec) noexcept
    {
        return wanted() && serves(spec, first());
    }
    /// Whether the client holds the lock under this owner.
    [[nodiscard]] bool holds(std::string_view owner) const noexcept
    {
        return held_ && held_->owner == owner;
    }

    /// Calls the contender's `on_room`, now or when an acquire may be sent.
    void join_window();
    /// Sends an acquire for the first waiter. The window has room for it.
    void send(acquire_window& there, const owner_id& owner, bool again);
    /// The outstanding request, whose reply the queue then does not receive.
    [[nodiscard]] acquire_attempt_ptr forget_request() noexcept
    {
        return std::exchange(under_way_, nullptr);
    }

    /// The store has granted the lock, in time or not.
    void on_granted();
    /// The client holds the lock. Serves the first waiter.
    void on_taken(ownership& taken);
    void on_held(const acquire_reply& reply);
    void on_refused(error_code why, const details_ptr& details);
    /// The queue may be unused: the end of the turn checks it.
    void on_rest();

    [[nodiscard]] const acquire_request* next() override;
    void on_left(const release_reply* reply, clock::time_point sent,
                 std::chrono::milliseconds open) override;

private:
    void release(ownership& held, const outcome_op_ptr& op) override;
    void detach(ownership& held) override
    {
        const ownership_ptr leaving(&held);
        held.end_released(context());
        held.stop.emit(asio::cancellation_type::terminal);
        on_leaving();
        on_left(nullptr, {}, {});
    }
    void on_kept_alive(ownership& held, error_code why) override;
    bool hand_off(ownership& held);
    void grant(ownership& held, std::uint64_t fence, bool handed_off);
    void on_leaving() noexcept;

    /// Whether a request is outstanding, or waits for the window.
    [[nodiscard]] bool asks() const noexcept { return under_way_ || waits_for_window(); }
    [[nodiscard]] bool contends() const noexcept { return contender_.index() != 0; }
    /// Creates the contender if there is none, in the state that the events so far lead to.
    /// @param answered The request that has its reply; null: none.
    void contend(const acquire_attempt* answered = nullptr);
    /// Calls `f` with the contender. Without one: a value-initialized result.
    template <class F>
    auto contender(F f) const
    {
        using result = std::invoke_result_t<F, queued_contender&>;
        return std::visit(
            [&](const auto& one) {
                if constexpr (std::is_same_v<decltype(one), const std::monostate&>)
                    return result();
                else
                    return f(*one);
            },
            contender_);
    }
    [[nodiscard]] bool idle() const noexcept;

    [[nodiscard]] const std::string& asked_name() const noexcept override { return name(); }
    void on_room(acquire_window& there) override;
    void on_answer(acquire_attempt& attempt, error_code failed,
                   const acquire_reply& reply) override;
    void on_slow() override { watch_wait(); }
    /// Reports the wait to the observer if it becomes long.
    void watch_wait();
    void granted(acquire_attempt& attempt, const acquire_reply& reply);
    void failed(acquire_attempt& attempt, error_code why, const acquire_reply& reply);

    void set_last_error(error_code failed, details_ptr details) noexcept
    {
        last_error_ = failed;
        last_details_ = std::move(details);
    }
    void fail_once(error_code why);
    void fail_unconfirmed(std::uint32_t acks);
    /// Completes an operation that is not in the queue, with an error.
    void refuse(lock_op& op, error_code why, const details_ptr& details);
    [[nodiscard]] bool explains(const lock_op& op) const noexcept
    {
        return op.explained() || context().observed();
    }
    [[nodiscard]] details_ptr explain(const lock_op& op, error_code error) const noexcept
    {
        return explains(op) ? details_of(op, error) : nullptr;
    }
    void remove(lock_op& op, error_code why)
    {
        BOOST_ASSERT(op.place == this && context().in_turn());
        timer_queue::cancel(op);
        op.place = nullptr;
        queue_.erase(op);
        --context().counts.waiting;
        if (long_wait_)
            long_wait_->ended(op, why);
    }
    void queue_left();

    lock_queues& all_;
    const std::string name_;
    std::variant<std::monostate, std::unique_ptr<queued_contender>,
                 std::unique_ptr<polling_contender>>
        contender_;
    std::unique_ptr<long_wait> long_wait_;
    acquire_attempt_ptr under_way_; ///< The outstanding request.
    std::uint32_t requests_ = 0;    ///< The number so far.
    waiters<lock_op> queue_;
    error_code last_error_;
    details_ptr last_details_; ///< Of the last reply, or of the end of a connection.
    ownership_ptr held_;       ///< While this client holds the lock.
    bool leaves_ = false;      ///< The lock is being released, and there is no contender.
    bool noted_ = false;
    bool taken_ = false;      ///< An owner holds the lock, as far as is known.
    bool refused_ = false;    ///< A request since the last grant found another holder.
    bool unanswered_ = false; ///< The last request got no reply.
};

/// The queues of a client, by name. A queue exists while it is used, and for a short time after.
class lock_queues final : private turn_end_work
{
public:
    lock_queues(turn_context& r, pending_releases& pending, acquire_windows& all,
                watchdog& keeper) noexcept
        : context(r), releases(pending), windows(all), kept_by(keeper)
    {
        context.set_turn_end(turn_context::turn_end::unused_queues, *this);
    }

    /// The queue of this name. Created if there is none.
    [[nodiscard]] wait_queue& at(std::string_view name);

    /// Null: there is none.
    [[nodiscard]] wait_queue* find(std::string_view name) noexcept
    {
        const auto found = names_.find(name);
        return found == names_.end() ? nullptr : found->second.get();
    }

    /// All queues, in the order of their creation, so that nothing depends on the hashes of names.
    [[nodiscard]] wait_queue::list& all() noexcept { return in_order_; }

    /// Checks at the end of the turn whether the queue is unused.
    void check(wait_queue& one)
    {
        to_check_.push_back(&one);
        context.request(turn_context::turn_end::unused_queues);
    }

    void clear() noexcept
    {
        to_check_.clear();
        names_.clear();
    }

    turn_context& context;
    pending_releases& releases;
    acquire_windows& windows;
    watchdog& kept_by;

private:
    void at_turn_end() override;

    /// The key is the name in the queue.
    boost::unordered_flat_map<std::string_view, std::unique_ptr<wait_queue>> names_;
    wait_queue::list in_order_;
    std::vector<wait_queue*> to_check_;
};

inline void lock_op::cancel()
{
    if (place != nullptr)
        place->fail(*this, asio::error::operation_aborted);
}

inline void lock_op::expired()
{
    place->limit_reached(*this);
}

inline turn_context& wait_queue::context() const noexcept
{
    return all_.context;
}

inline void wait_queue::on_rest()
{
    if (!std::exchange(noted_, true))
        all_.check(*this);
}

inline void wait_queue::watch_wait()
{
    if (context().informed() && !queue_.empty())
        long_wait::watch(*this, long_wait_);
}

inline void wait_queue::join_window()
{
    all_.windows.add(*this);
}

inline pending_releases& wait_queue::releases() const noexcept
{
    return all_.releases;
}

inline wait_queue& lock_queues::at(std::string_view name)
{
    if (wait_queue* const found = find(name))
        return *found;
    auto made = std::make_unique<wait_queue>(*this, name);
    const std::string_view key = made->name();
    wait_queue& added = *names_.emplace(key, std::move(made)).first->second;
    in_order_.push_back(added);
    return added;
}

inline void lock_queues::at_turn_end()
{
    for (wait_queue* const each : to_check_) {
        each->checked();
        if (each->rest())
            names_.erase(names_.find(each->name()));
    }
    to_check_.clear();
}

} // namespace leasehold::detail

#endif
