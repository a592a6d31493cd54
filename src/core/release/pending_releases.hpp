#ifndef LEASEHOLD_SRC_CORE_RELEASE_PENDING_RELEASES_HPP
#define LEASEHOLD_SRC_CORE_RELEASE_PENDING_RELEASES_HPP

#include "core/release/pending_release.hpp"

#include <string_view>

namespace leasehold::detail {

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
