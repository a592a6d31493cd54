#ifndef LEASEHOLD_TEST_MODEL_SESSION_STATE_HPP
#define LEASEHOLD_TEST_MODEL_SESSION_STATE_HPP

#include "fsm/lease/session_lease.hpp"

#include <cstdint>
#include <vector>

// Every state that a session of ZooKeeper can reach whose client is connected to a follower. The
// connection between follower and leader keeps the order of the messages, and delays them for any
// time in each direction. The client may reconnect to another follower. Time goes in steps, of
// which half a tick has two.
namespace leasehold::test::session_model {

inline constexpr std::uint8_t half_tick = 2;
inline constexpr std::uint8_t timeout = 6;
inline constexpr std::uint8_t last_time = 10;

/// The deliberate errors. Each leaves out a part of the rule.
enum class mistake : std::uint8_t
{
    none,
    pings_believed,      ///< The answer to a ping counts by itself.
    counted_from_write,  ///< A confirmed write counts from its sending.
    no_delay,            ///< A ping counts with a request that was sent right after it.
    one_step,            ///< The first request counts, if it is a write.
    counted_from_answer, ///< A ping counts from its answer.
    count_,
};

struct setting
{
    std::uint8_t reconnects = 0; ///< The number of times that the client reconnects.
    std::uint8_t phase = 0;      ///< When the leader sends its pings.
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

using lease = fsm::session_lease<moment, moment>;

enum class message : std::uint8_t
{
    none,
    question, ///< A request that the leader alone answers.
    write,
    connection, ///< The session goes on with another connection, which the leader confirms.
};

/// The client has one ping and one request outstanding at most, and sends one ping in each step.
struct state
{
    lease belief;
    moment now;
    // Between client and follower.
    std::uint8_t ping;    ///< 0 none, 1 on its way, 2 its answer is.
    moment pinged;        ///< The time of the sending of the last one.
    std::uint8_t touched; ///< The follower has something to pass on.
    // From the follower to the leader: what it has passed on before and after the request.
    std::uint8_t touches_before;
    message request;
    std::uint8_t touches_after;
    // From the leader to the follower.
    std::uint8_t pings_before;
    message reply;
    std::uint8_t pings_after;
    lease::proof proof; ///< Of the outstanding request.
    moment sent;        ///< The time of its sending.
    std::uint8_t reconnects;
    // The leader.
    moment heard; ///< The last time that it heard of the session.
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

} // namespace leasehold::test::session_model

#endif
