#ifndef LEASEHOLD_TOOL_TRACE_TRACE_EVENT_HPP
#define LEASEHOLD_TOOL_TRACE_TRACE_EVENT_HPP

#include "locks/lock_state.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace leasehold::tool {

/// A change of one lock between two reads.
struct trace_event
{
    enum class kind : std::uint8_t
    {
        free,      ///< Free at the first read.
        held,      ///< Held at the first read.
        taken,     ///< It was free, and has a holder.
        passed,    ///< It has another holder; `before` was not expired.
        renewed,   ///< Its deadline has moved.
        reentered, ///< The number of acquisitions of its owner has changed.
        members,   ///< The number of members of a quorum that have it has changed.
        silent,    ///< Its holder has missed heartbeats.
        heard,     ///< Its holder sends heartbeats again.
        freed,     ///< Gone before its deadline.
        expired,   ///< Gone, and the deadline of the last read has passed.
        gone,      ///< Gone after a time without reads, so the reason is unknown.
        queued,    ///< A waiter is in the queue.
        absent,    ///< The presence of a waiter has expired.
        present,   ///< A waiter is present again.
        left,      ///< A waiter is no longer in the queue, and was not seen as the holder.
        waiters,   ///< The number of waiters without a queue has changed.
        unreachable,
        reachable,
    };
    using wall_time = std::chrono::sys_time<std::chrono::milliseconds>;
    using duration = std::chrono::milliseconds;

    kind what;
    std::string name{};                 ///< The lock.
    wall_time at{};                     ///< The time of the read.
    std::optional<wall_time> after{};   ///< The change happened after this read; none: the first.
    std::optional<lock_state> lock{};   ///< The holder; if it is gone, its last state.
    std::optional<lock_state> before{}; ///< Passed: the last state of the previous holder.
    std::optional<lock_waiter> waiter{};
    std::size_t position = 0;         ///< Of the waiter: 1 is the first.
    std::optional<duration> held{};   ///< The time for which the holder that is gone was seen.
    std::optional<duration> waited{}; ///< The time for which the new holder was seen in the queue.
    bool from_start = false;          ///< `held` or `waited` began before the trace.
    std::string reason{};             ///< Unreachable: the error.
};

[[nodiscard]] constexpr const char* name_of(trace_event::kind kind) noexcept
{
    switch (kind) {
    case trace_event::kind::free: return "free";
    case trace_event::kind::held: return "held";
    case trace_event::kind::taken: return "taken";
    case trace_event::kind::passed: return "passed";
    case trace_event::kind::renewed: return "renewed";
    case trace_event::kind::reentered: return "reentered";
    case trace_event::kind::members: return "members";
    case trace_event::kind::silent: return "silent";
    case trace_event::kind::heard: return "heard";
    case trace_event::kind::freed: return "freed";
    case trace_event::kind::expired: return "expired";
    case trace_event::kind::gone: return "gone";
    case trace_event::kind::queued: return "queued";
    case trace_event::kind::absent: return "absent";
    case trace_event::kind::present: return "present";
    case trace_event::kind::left: return "left";
    case trace_event::kind::waiters: return "waiters";
    case trace_event::kind::unreachable: return "unreachable";
    case trace_event::kind::reachable: break;
    }
    return "reachable";
}

} // namespace leasehold::tool

#endif
