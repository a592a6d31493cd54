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
/// A leader that is deposed while it is stuck may end each lease that it knows when its own count
/// ends, although a later leader keeps the lease alive (etcd issue 15247). It does not know leases
/// that were granted in a later term. So keep-alives count only in the term of the grant. After
/// that term the lease `is_outdated`, and the client moves its keys to a new one.
///
/// `Time` and `Span` are those of a clock; the model counts steps. `Mark` is a member with a
/// `term`; the default value is none. A copy is a plain value.
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
    /// @param before The last reply before the request was sent, on the same connection.
    /// @param at The reply. If it is another mark, the term of the grant is unknown.
    leader_lease(Time sent, Span ttl, Mark before, Mark at) noexcept
        : ttl_(ttl), since_(sent), granted_(before == at ? at : Mark()), last_(at)
    {}

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
        if (of.before != Mark() && of.before == at && at.term == granted_.term)
            since_ = std::max(since_, of.sent);
        last_ = at;
    }

    /// Keep-alives do not count any more.
    [[nodiscard]] bool is_outdated() const noexcept
    {
        return last_ != Mark() && last_.term != granted_.term;
    }

    /// The last reply on this connection.
    [[nodiscard]] const Mark& last() const noexcept { return last_; }

    /// The lease does not end before this time.
    [[nodiscard]] Time until() const noexcept { return since_ + ttl_; }

private:
    Span ttl_{};
    Time since_{};
    Mark granted_{};
    Mark last_{};
    keep_alive kept_{};
};

} // namespace leasehold::fsm

#endif
