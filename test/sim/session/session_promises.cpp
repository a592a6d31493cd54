#include "sim/session/session_promises.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace leasehold::test::sessions {

using namespace std::chrono_literals;

void promises::granted(actor& a)
{
    ++scene_.counted.leases;
    if (a.held.deadline() < a.at->host->now() + a.options.lease_time / 2)
        ++scene_.counted.short_leases;
    holding_.push_back(&a);
    a.fence = a.held.fence();
    std::uint64_t& highest = highest_[a.name];
    if (a.held.valid() && scene_.removed_at(a) == nullptr && a.fence <= highest)
        scene_.wrong("fence: " + std::to_string(a.fence) + " after " + std::to_string(highest));
    highest = std::max(highest, a.fence);
}

void promises::lost(actor& a, error_code reason)
{
    ++scene_.counted.losses;
    a.told = true;
    const bool limited = !a.options.renew || a.options.longest_hold != no_limit;
    if (!limited && scene_.removed_at(a) == nullptr && !scene_.is_troubled(*a.at))
        scene_.wrong("unfounded loss: " + reason.message());
}

void promises::released(const actor& a, bool was_valid, error_code failed)
{
    if (was_valid && failed && scene_.removed_at(a) == nullptr && !scene_.is_troubled(*a.at))
        scene_.wrong("release failed without a fault: " + failed.message());
}

void promises::check()
{
    holders_ = {};
    std::erase_if(holding_, [](const actor* each) { return !each->held; });
    for (const actor* const each : holding_)
        if (!each->at->dead && !each->at->closed)
            check_holder(*each);
    for (std::uint64_t name = 0; name < scene_.names; ++name)
        check_queue(name);
}

void promises::check_holder(const actor& a)
{
    if (!a.held.valid()) {
        if (!a.told && scene_.now() > a.at->late_until &&
            a.at->host->now() > a.held.deadline() + at_once)
            scene_.wrong("loss not reported: the lease has ended");
        return;
    }
    if (const auto* const when = scene_.removed_at(a)) {
        if (!scene_.is_troubled(*a.at) && scene_.now() > *when + at_once)
            scene_.wrong("loss not reported: the holder was removed");
        return;
    }
    if (std::exchange(holders_.at(a.name), &a) != nullptr)
        scene_.wrong("two hold " + text_of('n', a.name));
}

void promises::check_queue(std::uint64_t name)
{
    const auto* const queue = scene_.service->queue(text_of('n', name));
    if (queue == nullptr || queue->front().confirmed ||
        scene_.now() < queue->front().first_since + at_once)
        return;
    const process* const next = process_of(queue->front().session);
    if (next != nullptr && !scene_.is_troubled(*next))
        scene_.wrong("grant not noticed: " + text_of('n', name) + " is free for its first waiter");
}

/// Null: it has ended.
const process* promises::process_of(session_id session) const
{
    for (const process& each : scene_.processes)
        if (!each.dead && !each.closed && each.link->session() == session)
            return &each;
    return nullptr;
}

void promises::check_end()
{
    for (const actor& a : scene_.actors)
        if (a.due != 0 && !a.at->dead && !a.at->closed)
            return scene_.wrong("never called: a handler at " + a.at->host->name());
    if (!scene_.service->empty())
        return scene_.wrong("orphan: a lock is held without a living owner");
    for (process& p : scene_.processes) {
        if (p.dead || p.closed)
            continue;
        p.locks->async_shutdown([&p, this](error_code failed) {
            p.closed = true;
            if (failed)
                scene_.wrong("shutdown of " + p.host->name() + ": " + failed.message());
        });
    }
    const auto all_closed = [this] {
        return std::all_of(scene_.processes.begin(), scene_.processes.end(),
                           [](const process& p) { return p.dead || p.closed; });
    };
    if (!scene_.world->run_until(all_closed, 1s))
        scene_.wrong("shutdown: it did not end");
    else if (!scene_.service->empty())
        scene_.wrong("orphan: a lock is left after the shutdown");
}

} // namespace leasehold::test::sessions
