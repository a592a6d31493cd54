#ifndef LEASEHOLD_SRC_FSM_LEASE_SESSION_LEASE_HPP
#define LEASEHOLD_SRC_FSM_LEASE_SESSION_LEASE_HPP

#include <algorithm>
#include <array>
#include <span>

namespace leasehold::fsm {

/// The time until which a session of ZooKeeper lives in any case. Decides only: it performs no I/O.
///
/// The leader ends a session if it has heard nothing of the session for its timeout. A follower
/// answers a ping by itself, also if it is cut off from the leader. It passes pings on with its
/// answer to the next ping of the leader, which sends one each half tick. So a ping of the client
/// counts only after two steps:
///  1. A request that the leader answers was sent at least `delay` after the answer to the ping.
///     The leader has sent a ping before that answer, in order, so the follower has passed the
///     client's ping on.
///  2. A write was sent after that answer, on the same way as what the follower has passed on. A
///     majority has confirmed it, so the leader that received it was not deposed.
/// The session then lives for its timeout from the sending of the ping. A new leader gives each
/// session its whole timeout.
///
/// `Time` and `Span` are those of a clock; the model counts steps. A copy is a plain value.
template <class Time, class Span>
class session_lease
{
public:
    /// The pings that a request proves when it is answered.
    struct proof
    {
        Time passed_on{}; ///< The sending of a ping that the follower has passed on by then.
        Time reached{};   ///< The sending of a ping that has reached the leader, for a write.
    };

    session_lease() = default;

    /// A new session. A majority has confirmed its creation.
    /// @param delay The time between two pings of the leader to a follower, or longer.
    session_lease(Time sent, Span timeout, Span delay) noexcept
        : timeout_(timeout), delay_(delay), passed_on_(sent), since_(sent)
    {}

    /// The session has another connection, perhaps to another follower. The leader has confirmed
    /// that it lives.
    /// @param sent When the connection was requested.
    void reconnected(Time sent) noexcept
    {
        size_ = 0;
        pings_ = {};
        passed_on_ = std::max(since_, sent);
    }

    /// A ping was answered.
    void pinged(Time sent, Time answered) noexcept
    {
        if (size_ < pings_.size()) // to leave one out is safe
            pings_[size_++] = {sent, answered};
    }

    /// A request that the leader answers is sent.
    [[nodiscard]] proof sending(Time now) noexcept
    {
        const auto pings = std::span(pings_).first(size_);
        const auto young = std::find_if(pings.begin(), pings.end(), [&](const ping& each) {
            return now < each.answered + delay_;
        });
        proof made{passed_on_, passed_on_};
        if (young == pings.begin())
            return made;
        made.passed_on = std::max(passed_on_, (young - 1)->sent);
        // The older ones are of no use any more.
        size_ = static_cast<unsigned char>(pings.end() - young + 1);
        std::fill(std::copy(young - 1, pings.end(), pings_.begin()), pings_.end(), ping{});
        return made;
    }

    /// The request was answered, on the same connection.
    /// @param write A majority has confirmed it.
    void answered(const proof& of, bool write) noexcept
    {
        passed_on_ = std::max(passed_on_, of.passed_on);
        if (write)
            since_ = std::max(since_, of.reached);
    }

    /// The session does not end before this time.
    [[nodiscard]] Time until() const noexcept { return since_ + timeout_; }

private:
    struct ping
    {
        Time sent;
        Time answered;
    };

    Span timeout_{};
    Span delay_{};
    Time passed_on_{};
    Time since_{};
    std::array<ping, 6> pings_{}; ///< In the order of their sending.
    unsigned char size_ = 0;
};

} // namespace leasehold::fsm

#endif
