#ifndef LEASEHOLD_TEST_MODEL_LEADER_STATE_HPP
#define LEASEHOLD_TEST_MODEL_LEADER_STATE_HPP

#include "fsm/lease/leader_lease.hpp"

#include <array>
#include <cstdint>
#include <vector>

// Every state that the key of a client of etcd can reach, which is connected to one member. A
// leader may be deposed at any time, and neither it nor the member needs to know. Then it may still
// end the leases that it knows, and the client moves its key to a new lease. The client may
// reconnect to another member. Time goes in steps.
namespace leasehold::test::leader_model {

inline constexpr std::uint8_t ttl = 4;
inline constexpr std::uint8_t last_time = 9;
inline constexpr std::uint8_t last_term = 3;

/// The deliberate errors. Each leaves out a part of the rule.
enum class mistake : std::uint8_t
{
    none,
    not_confirmed_after, ///< The answer to a keep-alive counts by itself.
    not_confirmed_before,
    other_member,        ///< The replies may come from different members.
    counted_from_answer, ///< A keep-alive counts from its answer.
    asked_too_early,     ///< The request may be sent before the answer to the keep-alive.
    kept_in_later_term,  ///< Keep-alives count in later terms than that of the grant.
    granted_in_election, ///< The grant may be of an earlier term than its reply.
    not_moved_yet,       ///< A new lease counts before it has the key.
    not_moved,           ///< A new lease counts although the key had ended before the move.
    count_,
};

struct setting
{
    std::uint8_t elections = 2;  ///< The number of new leaders, less than `last_term`.
    std::uint8_t reconnects = 0; ///< The number of times that the client reconnects.
    mistake wrong = mistake::none;
};

/// A step of time. One byte, and without promotion to `int`.
struct moment
{
    std::uint8_t value = 0;
    friend auto operator<=>(moment, moment) = default;
    friend moment operator+(moment a, moment b)
    {
        return {static_cast<std::uint8_t>(a.value + b.value)};
    }
};

/// A member and the term of its last applied entry.
struct mark
{
    std::uint8_t member = 0;
    std::uint8_t term = 0;
    friend bool operator==(mark, mark) = default;
};

using lease = fsm::leader_lease<moment, moment, mark>;

/// A lease at the servers.
struct counts
{
    std::uint8_t granted; ///< The term of the grant. Leaders of earlier terms do not know the
                          ///< lease. 0: there is no lease.
    /// For each term, the last time that its leader kept the lease alive, or its election.
    std::array<moment, last_term + 1> kept;
};

/// Where a request is. The client has one of each kind outstanding at most.
enum class place : std::uint8_t
{
    none,
    sent,
    confirmed, ///< A majority has confirmed the leader since the sending. Only the linearizable
               ///< one.
    executed,  ///< Its answer is on its way.
};

struct state
{
    lease belief;
    moment now;
    // The keep-alive.
    place ping;
    lease::keep_alive pinged;
    // The linearizable request.
    place question;
    lease::keep_alive asked; ///< The keep-alive that it may confirm.
    std::uint8_t least_term; ///< Of its answer: the leader's when it was confirmed.
    mark reply;
    // The new lease.
    place grant;
    moment grant_sent;
    mark grant_before;
    place move;
    lease next; ///< The client's belief after the move.
    // The member of the client.
    std::uint8_t member;
    std::uint8_t follows; ///< The term of the leader to which it forwards keep-alives.
    std::uint8_t applied; ///< The term of its last applied entry.
    std::uint8_t reconnects;
    // The leader with a majority.
    std::uint8_t term;
    counts with_key;    ///< The lease that has the key.
    counts without_key; ///< The new one.
    /// 1: the key moved, but the client has got no reply, and reconnected.
    std::uint8_t strayed;
    std::uint8_t gone; ///< 1: the key has ended. 2: before the move, which the reply reports.
};

struct step
{
    state to;
    const char* what;
    const char* wrong = nullptr; ///< The violated promise.
};

[[nodiscard]] state first_state(const setting& g);
[[nodiscard]] inline const state& canonical(const state& s, const setting&)
{
    return s;
}
void steps_from(const state& s, const setting& g, std::vector<step>& out);

} // namespace leasehold::test::leader_model

#endif
