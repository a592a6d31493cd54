#ifndef LEASEHOLD_TOOL_TRACE_LOCK_TRACER_HPP
#define LEASEHOLD_TOOL_TRACE_LOCK_TRACER_HPP

#include "trace_event.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace leasehold::tool {

/// Compares each read of one lock with the previous one. Has no clock, and does not read the lock.
class lock_tracer
{
public:
    using clock = std::chrono::steady_clock;

    /// The time of a read: between the request and the reply.
    struct read_time
    {
        clock::time_point begin;
        clock::time_point end;
        trace_event::wall_time wall; ///< At the end.
    };

    explicit lock_tracer(std::string name) : name_(std::move(name)) {}

    /// @param now None: the lock is free.
    [[nodiscard]] std::vector<trace_event> take(const std::optional<lock_state>& now,
                                                const read_time& when);

    /// A read failed. Returns an event if the previous one did not.
    [[nodiscard]] std::vector<trace_event> fail(const std::string& reason, const read_time& when);

    /// The lock had a holder at the last read.
    [[nodiscard]] bool is_held() const noexcept { return holder_.has_value(); }
    /// The last read has failed, or there was none.
    [[nodiscard]] bool is_unknown() const noexcept { return !last_ || failing_; }

private:
    using kind = trace_event::kind;

    /// The bounds of the time at which the lease ends without a renewal.
    struct deadline
    {
        clock::time_point earliest;
        clock::time_point latest;
    };
    struct held_lock
    {
        lock_state lock;
        clock::time_point since;
        bool from_start;
        std::optional<deadline> ends{};
        std::size_t announced_members = 0;
    };
    struct queued_waiter
    {
        lock_waiter waiter;
        clock::time_point since;
        bool from_start;
        bool missing = false; ///< Not in the queue at the last read.
    };

    trace_event& add(kind what);
    void of_holder(const std::optional<lock_state>& now);
    void of_same_holder(const lock_state& now);
    void end_holder(kind what, const std::optional<lock_state>& now);
    void begin_holder(kind what, const lock_state& now);
    void of_queue(const lock_state& now);
    void of_free_lock();
    void leave(const queued_waiter& gone);
    [[nodiscard]] std::optional<deadline> deadline_of(const lock_state& now) const;
    [[nodiscard]] static trace_event::duration between(clock::time_point from,
                                                       clock::time_point to);

    const std::string name_;
    std::optional<held_lock> holder_;
    std::map<std::string, queued_waiter> queue_; ///< By owner.
    std::size_t unnamed_waiters_ = 0;
    std::optional<clock::time_point> free_since_;
    std::optional<read_time> last_; ///< The last read that succeeded.
    bool failing_ = false;

    // During a call.
    read_time when_{};
    bool after_failure_ = false;
    std::vector<trace_event> events_;
};

} // namespace leasehold::tool

#endif
