#ifndef LEASEHOLD_SRC_CORE_RELEASE_PENDING_RELEASE_HPP
#define LEASEHOLD_SRC_CORE_RELEASE_PENDING_RELEASE_HPP

#include "core/async/operation.hpp"
#include "core/lease/lock_spec.hpp"
#include "core/lease/ownership.hpp"
#include "core/turn/owner_id.hpp"
#include "core/turn/turn_context.hpp"
#include "fsm/lease/release_retry.hpp"

#include <boost/intrusive/list.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace leasehold::detail {

/// One owner, or one entry, on its way back to the store. Stays in its list, and alive, until it is
/// known to be back or given up.
class pending_release final : public timer,
                              public boost::intrusive::list_base_hook<
                                  boost::intrusive::link_mode<boost::intrusive::auto_unlink>>,
                              public boost::intrusive_ref_counter<pending_release>
{
    using listed = boost::intrusive::list_base_hook<
        boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

public:
    using list =
        boost::intrusive::list<pending_release, boost::intrusive::constant_time_size<false>>;

    /// What is given back.
    struct subject
    {
        spec_ptr spec;
        owner_id owner;
        std::string entry;                        ///< Empty: it took the lock.
        std::chrono::milliseconds foreign_turn{}; ///< As in the request.
    };

    /// Who wants to know.
    struct interest
    {
        outcome_op_ptr waiting{};         ///< Is told how it went; may be null.
        error_code reason{};              ///< What that is told when the release succeeds.
        details_ptr details{};            ///< Of that reason.
        ownership::home* place = nullptr; ///< Is told once how it went; may be null.
    };

    /// @param orphan It may not have been taken.
    pending_release(turn_context& r, subject what, interest who, fsm::release steps, bool orphan)
        : context_(r),
          subject_(std::move(what)),
          interest_(std::move(who)),
          steps_(steps),
          orphan_(orphan)
    {}

    /// It is in `all` from now on.
    /// @param answered Set to the time of each answer.
    void start(list& all, clock::time_point& answered);

    [[nodiscard]] const std::string& name() const noexcept { return subject_.spec->name; }
    [[nodiscard]] std::string_view owner() const noexcept { return subject_.owner; }

    void connected() { act(steps_.connected(context_.now())); }

    /// The answer to the attempt of an orphan has come after all: it took the lock, or it did
    /// not and never will.
    void settle(bool taken);

    /// What was sent over connections that have ended has run, or never will.
    void nothing_runs_late() noexcept { steps_.nothing_runs_late(context_.now()); }

    /// The store answers; what is waited for is an acquire that may run late.
    [[nodiscard]] bool waits_for_late_acquire() const noexcept
    {
        return steps_.waits_for_late_acquire() && context_.online(name());
    }

    /// Completes whoever waits, if its cancellation could only be marked.
    void complete_cancelled();

    void give_up(error_code why);
    void drop(error_code told) noexcept;

private:
    void act(fsm::release::action next);
    void send();
    void answered(unsigned request, error_code failed, const release_reply& reply);
    void expired() override;
    [[nodiscard]] error_code outcome() const;
    void tell_place(const release_reply* reply = nullptr);
    void tell();
    void complete(error_code why);
    [[nodiscard]] details_ptr explain(error_code told) const noexcept;

    turn_context& context_;
    const subject subject_;
    interest interest_;
    fsm::release steps_;
    clock::time_point give_up_at_ = clock::time_point::max(); ///< The request under way.
    clock::time_point* last_answer_ = nullptr;
    unsigned request_ = 0;
    clock::time_point since_{};
    clock::time_point first_sent_{};
    error_code last_error_; ///< Of the last request, if it failed.
    details_ptr said_;      ///< What the store said of that.
    const bool orphan_;
};

using pending_release_ptr = boost::intrusive_ptr<pending_release>;

/// What is to be given back to the store and is not known to be back: leases that were released,
/// and orphans, which may or may not have been taken. Each is repeated until the store has answered
/// or its time to live has passed; where something else may have prolonged that, until the answer.
class pending_releases
{
public:
    explicit pending_releases(turn_context& r) noexcept : context_(r) {}

    /// Gives back what an ownership holds.
    void leave(const ownership& held, pending_release::interest who);

    /// Gives back what an acquire may have taken, or may still take until `runs_until`. Null when
    /// nothing is given back.
    pending_release_ptr orphan(pending_release::subject what, clock::time_point runs_until);

    /// Takes an owner out of a line, or gives back what it was given there. A request of it that
    /// was not answered may still run until `runs_until`; `clock::time_point()`: there is none.
    /// Where a place is told, that leaves it once more for what runs late.
    pending_release_ptr leave_line(pending_release::subject what, clock::time_point runs_until,
                                   pending_release::interest who);

    /// What was sent to the partition over connections that have ended has run, or never will.
    void settled(store_partition partition);

    /// The partition can be reached again.
    void connected(store_partition partition);

    /// What waits for its next try is tried at once where it can be.
    void try_now();

    /// Completes what was cancelled unheard.
    void complete_cancelled();

    [[nodiscard]] bool empty() const noexcept { return list_.empty(); }

    /// The error that says why something is still there; none when nothing is.
    [[nodiscard]] error_code why_not_empty() const noexcept;

    /// Something of this owner is among it.
    [[nodiscard]] bool contains(std::string_view owner) const noexcept;

    /// When the store has last answered a release.
    [[nodiscard]] clock::time_point last_answer() const noexcept { return last_answer_; }

    /// Gives up: completes what waits with `why`.
    void give_up(error_code why);

    /// Forgets everything. Who waits is told this error, or nothing when it is none.
    void drop(error_code told) noexcept;

private:
    template <class Which>
    void try_those(Which which);
    pending_release_ptr add(pending_release::subject gone, pending_release::interest who,
                            fsm::release steps, bool orphan);

    turn_context& context_;
    pending_release::list list_;
    clock::time_point last_answer_ = clock::time_point::min();
};

} // namespace leasehold::detail

#endif
