#include "lock_tracer.hpp"

#include <cstddef>

namespace leasehold::tool {
namespace {

using std::chrono::milliseconds;

// Servers report the time left in whole milliseconds, rounded up or down.
constexpr milliseconds rounding(1);

// A lock with waiters is free for a moment only: until the first one polls, or for at most 300 ms
// until the turn of external clients ends.
constexpr std::chrono::seconds longest_free_queue(1);

/// A minority of a quorum is not enough to hold a lock.
bool has_holder(const lock_state& lock)
{
    return lock.of == 0 || lock.members > lock.of / 2;
}

/// The waiters of these layouts may be in no queue.
bool counts_listeners(const lock_state& lock)
{
    return lock.queue.empty() &&
           (lock.kind == lock_kind::quorum || lock.kind == lock_kind::redisson);
}

lock_state without_queue(lock_state lock)
{
    lock.queue.clear();
    return lock;
}

} // namespace

std::vector<trace_event> lock_tracer::take(const std::optional<lock_state>& now,
                                           const read_time& when)
{
    events_.clear();
    when_ = when;
    after_failure_ = std::exchange(failing_, false);
    if (after_failure_)
        add(kind::reachable);
    of_holder(now);
    if (holder_)
        of_queue(*now);
    else
        of_free_lock();
    last_ = when;
    return std::move(events_);
}

std::vector<trace_event> lock_tracer::fail(const std::string& reason, const read_time& when)
{
    events_.clear();
    when_ = when;
    if (!std::exchange(failing_, true))
        add(kind::unreachable).reason = reason;
    return std::move(events_);
}

trace_event& lock_tracer::add(kind what)
{
    trace_event& made = events_.emplace_back(trace_event{what});
    made.name = name_;
    made.at = when_.wall;
    if (last_)
        made.after = last_->wall;
    return made;
}

void lock_tracer::of_holder(const std::optional<lock_state>& now)
{
    const bool held = now && has_holder(*now);
    if (!holder_) {
        if (held)
            begin_holder(last_ ? kind::taken : kind::held, *now);
        else if (!last_)
            add(kind::free);
        return;
    }
    if (held && now->owner == holder_->lock.owner)
        return of_same_holder(*now);
    const bool over = holder_->ends && when_.begin >= holder_->ends->latest;
    if (held && (!over || after_failure_))
        return begin_holder(kind::passed, *now);
    const bool early = !holder_->ends || when_.end < holder_->ends->earliest;
    end_holder(early ? kind::freed : after_failure_ ? kind::gone : kind::expired, now);
    if (held)
        begin_holder(kind::taken, *now);
}

void lock_tracer::of_same_holder(const lock_state& now)
{
    const auto ends = deadline_of(now);
    const lock_state old = std::exchange(holder_->lock, without_queue(now));
    if (ends && holder_->ends && ends->earliest > holder_->ends->latest)
        add(kind::renewed).lock = holder_->lock;
    holder_->ends = ends;
    if (old.holds != now.holds)
        add(kind::reentered).lock = holder_->lock;
    if (old.is_silent() != now.is_silent())
        add(now.is_silent() ? kind::silent : kind::heard).lock = holder_->lock;
    // Members are read one after the other, so a single read may be in the middle of a change.
    if (now.members == old.members && now.members != holder_->announced_members) {
        holder_->announced_members = now.members;
        add(kind::members).lock = holder_->lock;
    }
}

void lock_tracer::end_holder(kind what, const std::optional<lock_state>& now)
{
    trace_event& made = add(what);
    made.lock = holder_->lock;
    made.held = between(holder_->since, when_.end);
    made.from_start = holder_->from_start;
    made.lock->members = now && now->owner == holder_->lock.owner ? now->members : 0;
    holder_.reset();
}

void lock_tracer::begin_holder(kind what, const lock_state& now)
{
    trace_event& made = add(what);
    made.lock = without_queue(now);
    // The holder may draw its fencing token after this read.
    made.lock->fence_at_most.reset();
    if (holder_) {
        made.before = holder_->lock;
        made.held = between(holder_->since, when_.end);
        made.from_start = holder_->from_start;
    }
    if (const auto found = queue_.find(now.owner); found != queue_.end()) {
        made.waited = between(found->second.since, when_.end);
        queue_.erase(found);
    }
    holder_ = held_lock{*made.lock, when_.end, !last_, deadline_of(now), now.members};
    free_since_.reset();
}

void lock_tracer::of_queue(const lock_state& now)
{
    std::map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < now.queue.size(); ++i)
        places.emplace(now.queue[i].owner, i);
    for (auto each = queue_.begin(); each != queue_.end();) {
        if (places.count(each->first) != 0) {
            each->second.missing = false;
            ++each;
        }
        else if (each->second.missing) {
            leave(each->second);
            each = queue_.erase(each);
        }
        else {
            // The queue is read after the holder. The next read shows if it is the holder now.
            (each++)->second.missing = true;
        }
    }
    for (std::size_t i = 0; i < now.queue.size(); ++i) {
        const lock_waiter& waiter = now.queue[i];
        if (waiter.owner == now.owner)
            continue;
        const auto [known, fresh] = queue_.try_emplace(waiter.owner,
                                                       queued_waiter{waiter, when_.end, !last_});
        const bool was_present = known->second.waiter.present;
        known->second.waiter = waiter;
        if (!fresh && was_present == waiter.present)
            continue;
        trace_event& made = add(fresh            ? kind::queued
                                : waiter.present ? kind::present
                                                 : kind::absent);
        made.waiter = waiter;
        made.position = i + 1;
    }
    if (!counts_listeners(now) || unnamed_waiters_ == now.waiters)
        return;
    unnamed_waiters_ = now.waiters;
    add(kind::waiters).lock = holder_->lock;
}

/// The queue of a free lock is not read.
void lock_tracer::of_free_lock()
{
    unnamed_waiters_ = 0;
    if (!free_since_)
        free_since_ = when_.end;
    if (when_.begin - *free_since_ < longest_free_queue)
        return;
    for (const auto& [owner, each] : queue_)
        leave(each);
    queue_.clear();
}

void lock_tracer::leave(const queued_waiter& gone)
{
    trace_event& made = add(kind::left);
    made.waiter = gone.waiter;
    made.waited = between(gone.since, when_.end);
    made.from_start = gone.from_start;
}

std::optional<lock_tracer::deadline> lock_tracer::deadline_of(const lock_state& now) const
{
    if (!now.left)
        return std::nullopt;
    return deadline{when_.begin + *now.left - rounding, when_.end + *now.left + rounding};
}

trace_event::duration lock_tracer::between(clock::time_point from, clock::time_point to)
{
    return std::chrono::round<trace_event::duration>(to - from);
}

} // namespace leasehold::tool
