#include "memory/lock_table.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace leasehold::memory {
namespace {

constexpr std::uint32_t longest_block = 10'000;

/// Redis keeps TTLs in whole milliseconds, and a key still exists in the millisecond in which it
/// expires, unless Redis 8 has removed it by then.
milliseconds whole(instant now) noexcept
{
    return std::chrono::floor<milliseconds>(now.ticks);
}

std::shared_ptr<const diagnostics> held_by(std::string_view owner) noexcept
{
    try {
        const auto made = std::make_shared<diagnostics>();
        made->holder = holder_name(owner);
        return made;
    }
    catch (const std::bad_alloc&) {
        return nullptr;
    }
}

} // namespace

lock_table::lock_table(const lock_table& other)
    : retention_(other.retention_), clients_(other.clients_), last_client_(other.last_client_)
{
    for (const slot& each : other.round_) {
        slot& mine = make(*each.name);
        mine.owner = each.owner;
        mine.more = each.more ? std::make_unique<crowd>(*each.more) : nullptr;
        mine.expires = each.expires;
        mine.fence = each.fence;
        mine.fence_expires = each.fence_expires;
    }
}

lock_table& lock_table::operator=(const lock_table& other)
{
    lock_table copy(other);
    slots_.swap(copy.slots_);
    round_.swap(copy.round_);
    retention_ = copy.retention_;
    clients_.swap(copy.clients_);
    last_client_ = copy.last_client_;
    return *this;
}

client_id lock_table::join()
{
    clients_.insert(last_client_ + 1);
    return ++last_client_;
}

acquire_reply lock_table::acquire(const acquire_request& request, const call& by, instant now)
{
    if (by.latest > no_limit && now.ticks > by.latest)
        return {.result = acquire_reply::outcome::late};

    slot* const known = find(request.name, now);
    const bool locked = known != nullptr && !known->owner.empty();
    if (!request.entry.empty())
        return reenter(request, locked ? known : nullptr, now);
    if (locked && known->owner == request.owner)
        return confirm(request, *known, now);
    if (locked || (known != nullptr && grant_next(*known, request.owner, by, now)))
        return wait(request, *known, by, now);
    sweep(now);
    return take(request, make(request.name), now);
}

/// Grants a free lock to an owner that may have it.
acquire_reply lock_table::take(const acquire_request& request, slot& target, instant now)
{
    target.owner = request.owner;
    target.expires = whole(now) + request.lease;
    target.leave_queue(request.owner);
    tidy(target);
    return grant(request, target, now);
}

/// Confirms a grant from the queue, which has no fence yet, or answers a repeated request of the
/// holder.
acquire_reply lock_table::confirm(const acquire_request& request, slot& lock, instant now)
{
    raise(lock, request.lease, now);
    lock.leave_queue(request.owner);
    tidy(lock);
    return grant(request, lock, now);
}

/// Answers a request for a lock that another owner holds.
acquire_reply lock_table::wait(const acquire_request& request, slot& lock, const call& by,
                               instant now)
{
    acquire_reply reply{.result = acquire_reply::outcome::held,
                        .remaining = lock.expires - whole(now),
                        .details = request.needs_holder ? held_by(lock.owner) : nullptr};
    if (!request.waits)
        return reply;
    reply.queued = true;
    reply.position = static_cast<std::uint32_t>(
        others(lock).waiting.join({.owner = std::string(request.owner),
                                   .client = by.client,
                                   .until = now.ticks + request.presence,
                                   .claim = std::min(request.lease, request.claim)}));
    return reply;
}

/// Grants a free lock to the first present waiter. False if that is `but`, or if there is none.
bool lock_table::grant_next(slot& target, std::string_view but, const call& by, instant now)
{
    const waiter* const next = first_in_queue(target, now);
    if (next == nullptr || next->owner == but)
        return false;
    granted_owner granted{next->client, next->owner}; // first, because it may throw
    target.owner = next->owner;
    target.expires = whole(now) + next->claim;
    target.more->waiting.leave(target.owner);
    if (by.granted != nullptr)
        *by.granted = std::move(granted);
    return true;
}

const waiter* lock_table::first_in_queue(slot& target, instant now)
{
    if (!target.more)
        return nullptr;
    const waiter* const first = target.more->waiting.first([&](const waiter& each) {
        return now.ticks <= each.until && clients_.contains(each.client);
    });
    if (first == nullptr)
        tidy(target);
    return first;
}

acquire_reply lock_table::reenter(const acquire_request& request, slot* lock, instant now)
{
    if (lock == nullptr || lock->owner != request.owner)
        return {.result = acquire_reply::outcome::gone};
    // The marker makes the entry idempotent: a repeated request counts once.
    if (!lock->has_entry(request.entry)) {
        crowd& all = others(*lock);
        all.entries.emplace_back(request.entry);
        ++all.count;
    }
    raise(*lock, request.lease, now);
    return {.result = acquire_reply::outcome::granted};
}

// The clock, two fences a microsecond, is the floor, so that the fence rises even if the counter
// was lost. For the same reason a block ends at that clock and reaches back to the previous grant:
// after a loss of data, a later fence would be smaller than one from the future. It reaches back by
// 5 ms at most: a server that restarts with an older counter was away for longer.
acquire_reply lock_table::grant(const acquire_request& request, slot& target, instant now)
{
    const std::uint64_t floor = 2 * static_cast<std::uint64_t>(
                                        std::max<microseconds::rep>(now.wall.count(), 1));
    std::uint64_t first = floor;
    std::uint64_t count = 1;
    if (target.fence >= floor) {
        first = target.fence + 1;
    }
    else if (target.fence != 0) {
        count = std::clamp<std::uint64_t>(std::min(request.fences, longest_block), 1,
                                          floor - target.fence);
        first = floor - count + 1;
    }
    target.fence = first + count - 1;
    target.fence_expires = whole(now) + retention_;
    return {.result = acquire_reply::outcome::granted,
            .fences = static_cast<std::uint32_t>(count),
            .first_fence = first};
}

renewal_result lock_table::renew(const renewal& request, instant now)
{
    slot* const lock = find(request.name, now);
    if (lock == nullptr || lock->owner != request.owner)
        return renewal_result::gone;
    // An uncounted entry does not keep the lock held, so its lease is gone even if the owner still
    // holds the lock.
    if (!request.entry.empty() && !lock->has_entry(request.entry))
        return renewal_result::gone;
    raise(*lock, request.lease, now);
    return renewal_result::renewed;
}

release_reply lock_table::release(const release_request& request, const call& by, instant now)
{
    using outcome = release_reply::outcome;
    slot* const known = find(request.name, now);
    if (known == nullptr)
        return {};
    slot& lock = *known;
    if (lock.owner != request.owner) {
        const bool was_queued = request.entry.empty() && lock.leave_queue(request.owner);
        if (was_queued && lock.owner.empty())
            grant_next(lock, {}, by, now);
        return {.result = was_queued ? outcome::left_queue : outcome::not_owner};
    }
    if (!request.entry.empty()) {
        if (!lock.erase_entry(request.entry))
            return {};
    }
    else if (lock.more && lock.more->count <= lock.more->entries.size()) {
        // Only entries with markers are left: the first one was released, and this is its
        // repetition.
        return {};
    }
    release_reply reply{.result = outcome::still_held};
    if (lock.more && lock.more->count > 1) {
        --lock.more->count;
    }
    else {
        drop_lock(lock);
        reply.result = grant_next(lock, {}, by, now) ? outcome::granted_next : outcome::freed;
    }
    if (request.next == nullptr)
        return reply;
    try {
        // This notifies no one: the first waiter has been notified.
        reply.next = acquire(*request.next, {by.client, by.latest}, now);
        if (reply.next->result == acquire_reply::outcome::late)
            reply.next.reset();
    }
    catch (const std::bad_alloc&) { // The lock is released; the next owner has not joined.
    }
    return reply;
}

bool lock_table::erase(std::string_view name, instant now)
{
    slot* const lock = find(name, now);
    if (lock == nullptr || lock->owner.empty())
        return false;
    drop_lock(*lock);
    return true;
}

void lock_table::clear() noexcept
{
    round_.clear();
    slots_.clear();
}

std::size_t lock_table::size(instant now) const noexcept
{
    const auto is_held = [at = whole(now)](const slot& s) {
        return !s.owner.empty() && at <= s.expires;
    };
    return static_cast<std::size_t>(std::count_if(round_.begin(), round_.end(), is_held));
}

std::string_view lock_table::owner(std::string_view name, instant now) const noexcept
{
    const auto found = slots_.find(name);
    return found == slots_.end() || whole(now) > found->second.expires
               ? std::string_view()
               : std::string_view(found->second.owner);
}

/// Removes an expired lock.
lock_table::slot* lock_table::find(std::string_view name, instant now) noexcept
{
    const auto found = slots_.find(name);
    if (found == slots_.end())
        return nullptr;
    slot& target = found->second;
    const milliseconds at = whole(now);
    if (!target.owner.empty() && at > target.expires)
        drop_lock(target);
    if (target.fence != 0 && retention_.count() > 0 && at > target.fence_expires)
        target.fence = 0;
    return &target;
}

lock_table::slot& lock_table::make(std::string_view name)
{
    const auto [place, is_new] = slots_.try_emplace(name);
    slot& target = place->second;
    if (is_new) {
        target.name = &place->first;
        round_.push_back(target);
    }
    return target;
}

/// Checks two names for each acquired lock, round robin. So expired names are removed at least as
/// fast as new ones are added, no call takes longer than another, and no timer is needed.
void lock_table::sweep(instant now)
{
    const milliseconds at = whole(now);
    for (int i = 0; i < 2 && !round_.empty(); ++i) {
        slot& next = round_.front();
        round_.pop_front();
        const bool locked = !next.owner.empty() && at <= next.expires;
        const bool fenced = next.fence != 0 &&
                            (retention_.count() <= 0 || at <= next.fence_expires);
        if (!locked && !fenced && first_in_queue(next, now) == nullptr) {
            slots_.erase(slots_.find(*next.name));
            continue;
        }
        if (!locked && !next.owner.empty())
            drop_lock(next);
        round_.push_back(next);
    }
}

void lock_table::drop_lock(slot& target) noexcept
{
    target.owner.clear(); // an owner's id is short; the memory stays with the name for the next one
    if (target.more) {
        target.more->entries.clear();
        target.more->count = 1;
        tidy(target);
    }
}

/// A lock with one entry and no waiter needs no more memory than that.
void lock_table::tidy(slot& target) noexcept
{
    if (target.more && target.more->entries.empty() && target.more->count == 1 &&
        target.more->waiting.empty())
        target.more.reset();
}

bool lock_table::slot::has_entry(std::string_view entry) const noexcept
{
    return more &&
           std::find(more->entries.begin(), more->entries.end(), entry) != more->entries.end();
}

bool lock_table::slot::erase_entry(std::string_view entry) noexcept
{
    if (!more)
        return false;
    const auto found = std::find(more->entries.begin(), more->entries.end(), entry);
    if (found == more->entries.end())
        return false;
    more->entries.erase(found);
    return true;
}

bool lock_table::slot::leave_queue(std::string_view leaving) noexcept
{
    return more && more->waiting.leave(leaving);
}

lock_table::crowd& lock_table::others(slot& target)
{
    if (!target.more)
        target.more = std::make_unique<crowd>();
    return *target.more;
}

void lock_table::raise(slot& target, milliseconds lease, instant now) noexcept
{
    target.expires = std::max(target.expires, whole(now) + lease);
}

} // namespace leasehold::memory
