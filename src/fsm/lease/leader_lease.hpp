#ifndef LEASEHOLD_SRC_FSM_LEASE_LEADER_LEASE_HPP
#define LEASEHOLD_SRC_FSM_LEASE_LEADER_LEASE_HPP

#include <algorithm>

namespace leasehold::fsm {

/// The time until which a lease of etcd lives in any case. Decides only: it performs no I/O.
///
/// The leader ends a lease without a keep-alive for its TTL. A keep-alive is not confirmed by a
/// majority, so a leader that was deposed still answers it, while the count of the new leader
/// continues from its election. A reply to a linearizable request contains the id of the member
/// that sent it, and the term of the last entry that this member has applied. So a keep-alive
/// counts only between two such replies with the same member and term:
///  1. The first was received before the keep-alive was sent. So the leader of this term was
///     elected before, and the member forwards the keep-alive to it or to a later one.
///  2. The second is to a request that was sent after the answer to the keep-alive. So a majority
///     has confirmed the leader of this term since then, and there was no later one.
/// The lease then lives for its TTL from the sending of the keep-alive. A leader that is elected
/// later gives each lease its whole TTL.
///
/// `Time` and `Span` are those of a clock; the model counts steps. `Mark` is a member with a term;
/// the default value is none. A copy is a plain value.
template <class Time, class Span, class Mark>
class leader_lease
{
public:
    /// A keep-alive, and the mark of the last reply before it was sent.
    struct keep_alive
    {
        Time sent{};
        Mark before{};
    };

    leader_lease() = default;

    /// A new lease. A majority has confirmed its creation.
    leader_lease(Time sent, Span ttl, Mark at) noexcept : ttl_(ttl), since_(sent), last_(at) {}

    /// The client has another connection, perhaps to another member.
    void reconnected() noexcept
    {
        last_ = {};
        kept_ = {};
    }

    /// A keep-alive is sent.
    [[nodiscard]] keep_alive sending(Time now) const noexcept { return {now, last_}; }

    /// It was answered on the same connection, with a TTL.
    void kept(const keep_alive& sent) noexcept { kept_ = sent; }

    /// A linearizable request is sent. If it is answered, it may confirm this keep-alive.
    [[nodiscard]] const keep_alive& asking() const noexcept { return kept_; }

    /// The linearizable request was answered on the same connection.
    /// @param of The result of `asking` when the request was sent.
    void answered(const keep_alive& of, Mark at) noexcept
    {
        if (of.before != Mark() && of.before == at)
            since_ = std::max(since_, of.sent);
        last_ = at;
    }

    /// A keep-alive that is sent now can be confirmed by the next request.
    [[nodiscard]] bool can_confirm() const noexcept { return last_ != Mark(); }

    /// The lease does not end before this time.
    [[nodiscard]] Time until() const noexcept { return since_ + ttl_; }

private:
    Span ttl_{};
    Time since_{};
    Mark last_{};
    keep_alive kept_{};
};

} // namespace leasehold::fsm

#endif
