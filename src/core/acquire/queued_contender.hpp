#ifndef LEASEHOLD_SRC_CORE_ACQUIRE_QUEUED_CONTENDER_HPP
#define LEASEHOLD_SRC_CORE_ACQUIRE_QUEUED_CONTENDER_HPP

#include "core/acquire/acquire_attempt.hpp"
#include "core/acquire/acquire_window.hpp"
#include "core/lease/lock_spec.hpp"
#include "core/lease/ownership.hpp"
#include "core/turn/owner_id.hpp"
#include "core/turn/timer_queue.hpp"
#include "core/turn/turn_context.hpp"
#include "fsm/contention/backoff.hpp"
#include "fsm/contention/failure_row.hpp"
#include "fsm/contention/queued_contention.hpp"
#include "fsm/lease/expiry_doubt.hpp"

#include <leasehold/store.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace leasehold::detail {

class wait_queue;

/// Contends for a name in a store with queues: it joins the queue once for all waiters of this
/// client, and takes the lock when the store grants it. One owner does this, from its first request
/// until the store has confirmed its end.
class queued_contender final : private timer
{
    using machine = fsm::queued_contention;

public:
    using state = machine::state;

    explicit queued_contender(wait_queue& queue) noexcept;
    ~queued_contender() { timer_queue::cancel(*this); }

    [[nodiscard]] bool idle() const noexcept;
    /// The lock is held, and nothing else has to be remembered until there are waiters.
    [[nodiscard]] bool dispensable() const noexcept;
    /// The store has failed again: a connection does not end the pause.
    [[nodiscard]] bool pausing() const noexcept;

    /// A waiter with these options is the first.
    void begin_wait(const lock_options& options);
    /// Continues from the events before its creation. `sent`: the first request; null: none.
    void resume(state from, const acquire_attempt* sent);
    void wanted();
    void unwanted();
    void wakeup();
    /// The store reports a grant to this owner.
    void notified(std::string_view owner);
    /// The store has removed this owner from the queue, which it joins again.
    void gone(std::string_view owner)
    {
        if ((errand_ && errand_->owner == owner) || (next_ && next_->self.owner == owner))
            notified(owner);
    }
    /// Grants may have been missed.
    void listening();
    /// Requests without a reply have been executed, or never will be.
    void settled();
    void connected();
    void disconnected();

    /// The window has room for the request.
    void on_room(acquire_window& there);
    void granted(const acquire_attempt& attempt, ownership& taken, bool in_time);
    void held(const acquire_reply& reply);
    void late();
    void failed(const acquire_attempt& attempt, request_effect had);

    void leaving() noexcept;
    /// The request that the release carries; null: none.
    [[nodiscard]] const acquire_request* next();
    void left(const release_reply* reply, clock::time_point sent, std::chrono::milliseconds open);

    void stop();
    [[nodiscard]] bool rest() const noexcept { return true; }

private:
    /// One owner, from its first request until it holds the lock or has ended. Idle names have
    /// none.
    struct errand
    {
        explicit errand(const owner_id& id) : owner(id) {}

        const owner_id owner;
        spec_ptr spec; ///< Of its last request; null: none was sent.
        /// Until then, requests without a reply may be executed. They may have been already.
        /// Default: there are none.
        clock::time_point runs_until{};
        /// The shortest grace of these requests; zero: none has one.
        std::chrono::milliseconds silence{};

        /// Adds a request to these.
        void may_run_until(clock::time_point limit, std::chrono::milliseconds grace) noexcept
        {
            runs_until = std::max(runs_until, limit);
            if (grace.count() > 0 && (silence.count() == 0 || grace < silence))
                silence = grace;
        }

        /// Whether one of these may be executed after a request sent at `sent` with this `grace`,
        /// and let waiters supersede the holder sooner than that. Zero: it has no grace.
        [[nodiscard]] bool binds(std::chrono::milliseconds grace,
                                 clock::time_point sent) const noexcept
        {
            return silence.count() > 0 && sent < runs_until &&
                   (grace.count() == 0 || silence < grace);
        }
    };

    /// The next owner, while the release of the current one carries its request.
    struct successor
    {
        errand self;
        acquire_request request{};
        bool repeated = false; ///< More than one release carries it.
    };

    void expired() override;
    void served();
    void watch(bool on);
    void perform(machine::action next);
    void held_by_other(const acquire_reply& reply);
    void sleep();
    void hold(ownership& taken, machine::action next);
    void leave();
    void end_errand();
    [[nodiscard]] bool bound(std::chrono::milliseconds grace,
                             clock::time_point sent) const noexcept;
    [[nodiscard]] spec_ptr spec_of_name() const;
    [[nodiscard]] bool keeps_out() const noexcept;
    errand& current();

    wait_queue& queue_;
    turn_context& context_;
    machine machine_;
    bool again_ = false; ///< As in `acquire_request`, for the next request.
    bool stopped_ = false;
    bool watching_ = false; ///< The name is watched: the holder's release is only published.
    /// First in the queue, and the lock may become free without a wake-up, or before its TTL ends.
    bool restless_ = false;
    fsm::failure_row failures_;
    std::uint32_t position_ = 0;            ///< By the last reply.
    std::chrono::milliseconds remaining_{}; ///< By the last reply.
    fsm::expiry_doubt doubt_;
    std::optional<errand> errand_;
    std::unique_ptr<successor> next_;
    fsm::backoff backoff_;
    clock::time_point open_until_{}; ///< Until then the lock is left free for external clients.
};

} // namespace leasehold::detail

#endif
