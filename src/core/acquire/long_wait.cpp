#include "core/acquire/long_wait.hpp"

#include "core/acquire/wait_queue.hpp"
#include "core/diagnostics/failure_details.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace leasehold::detail {

void long_wait::watch(wait_queue& queue, std::unique_ptr<long_wait>& of) noexcept
{
    if (!of)
        of.reset(new (std::nothrow) long_wait(queue));
    if (of && !of->is_linked())
        queue.context().timers.schedule(*of, queue.first_waiter().since + limit);
}

void long_wait::expired()
{
    turn_context& client = queue_.context();
    if (!queue_.wanted())
        return;
    const auto now = client.turn_time();
    const lock_op& first = queue_.first_waiter();
    if (now < first.since + limit)
        return client.timers.schedule(*this, first.since + limit);
    client.timers.schedule(*this, now + limit);
    error_code why = queue_.reason(first);
    if (why == errc::timed_out)
        why = errc::held;
    else if (const error_code trouble = client.refusal(queue_.name(), true); trouble)
        why = trouble; // more precise, if the queue was created without a connection
    const details_ptr details = queue_.details_of(first, why);
    const diagnostics& known = shown(details);
    if (reported_ == &first && why_ == why && holder_ == known.holder)
        return;
    reported_ = &first;
    why_ = why;
    try {
        holder_ = known.holder;
    }
    catch (const std::bad_alloc&) { // it may be reported again
        holder_.clear();
    }
    const auto left = why == errc::held ? remaining(now) : std::chrono::milliseconds::zero();
    client.report_problem(
        [&](observer& o) { o.long_wait(queue_.name(), why, now - first.since, left, known); });
}

std::chrono::milliseconds long_wait::remaining(clock::time_point now) const noexcept
{
    using std::chrono::milliseconds;
    if (never_expires_)
        return milliseconds(-1);
    return std::max(std::chrono::ceil<milliseconds>(held_until_ - now), milliseconds::zero());
}

void long_wait::held(std::chrono::milliseconds remaining)
{
    never_expires_ = remaining.count() < 0;
    held_until_ = queue_.context().turn_time() + remaining;
}

void long_wait::ended(const lock_op& op, error_code why)
{
    if (reported_ != &op)
        return;
    reported_ = nullptr;
    turn_context& client = queue_.context();
    client.report_problem(
        [&](observer& o) { o.long_wait_ended(queue_.name(), why, client.turn_time() - op.since); });
}

} // namespace leasehold::detail
