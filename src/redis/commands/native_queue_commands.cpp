#include "redis/commands/native_queue_commands.hpp"

#include "base/mutant.hpp"
#include "base/server_clock.hpp"
#include "redis/commands/answers.hpp"
#include "redis/commands/native_keys.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <vector>

namespace leasehold::redis_store {
namespace {

// Half a millisecond of fences. After a reset, a draw may begin this far behind the clock.
constexpr std::uint32_t most_long = 1'000;

constexpr std::uint32_t far_back = 1'000;

} // namespace

slot_number native_queue_commands::slot_of(std::string_view name) const noexcept
{
    return fences_.slots ? redis_store::slot_of(name) : slot_number(0);
}

std::string_view native_queue_commands::fence_key(slot_number slot)
{
    if (!fences_.slots)
        return keys_.fence();
    keys_.fence_in(slot, fence_key_);
    return fence_key_;
}

std::uint64_t native_queue_commands::floor(slot_number slot) const noexcept
{
    return fences_.slots ? fences_.slots->of(slot) : fences_.floor;
}

/// The floor argument of the scripts; negative: the clock is a floor as well.
std::int64_t native_queue_commands::sent_floor(std::uint64_t floor) const noexcept
{
    const auto known = static_cast<std::int64_t>(floor);
    return fences_.blind || fences_.owed != 0 ? -known : known;
}

bool native_queue_commands::is_subscribed(slot_number slot) const noexcept
{
    return (subscription_ && subscription_->is_subscribed(slot)) || has(mutant::listening_claimed);
}

// A client without a subscription finds its grant only by the next poll, so it needs more time.
std::chrono::milliseconds native_queue_commands::claim(const acquire_request& request,
                                                       slot_number slot) const noexcept
{
    return is_subscribed(slot) ? request.claim : 3 * request.claim;
}

call native_queue_commands::acquire(const acquire_request& request, std::int64_t latest,
                                    boost::redis::request& to)
{
    if (!request.entry.empty())
        return reenter(request, latest, to);
    native::value_of(request.owner, value_);
    keys_.queue(request.name, queue_key_);
    keys_.waiters(request.name, waiters_);
    const std::uint32_t fences = std::min(request.fences, most_long);
    const slot_number slot = slot_of(request.name);
    const std::uint64_t least = std::max(floor(slot), request.fence_floor);
    if (request.dead_holder_grace.count() != 0 && !fences_.slots) {
        keys_.alive(native::client_of(request.owner), entries_);
        push_command(to, "EVALSHA", scripts_.acquire.sha, 5, request.name, fence_key(slot),
                     queue_key_, waiters_, entries_, value_, request.lease.count(), fences, latest,
                     sent_floor(least), request.waits ? request.presence.count() : 0,
                     claim(request, slot).count(), is_subscribed(slot) ? 1 : 0,
                     request.needs_holder ? 1 : 0, request.dead_holder_grace.count());
    }
    else {
        push_command(to, "EVALSHA", scripts_.acquire.sha, 4, request.name, fence_key(slot),
                     queue_key_, waiters_, value_, request.lease.count(), fences, latest,
                     sent_floor(least), request.waits ? request.presence.count() : 0,
                     claim(request, slot).count(), is_subscribed(slot) ? 1 : 0,
                     request.needs_holder ? 1 : 0);
    }
    return {.called = &scripts_.acquire,
            .expects = 5,
            .fences = fences,
            .floor = least,
            .name = contended_names::key_of(request.name),
            .slot = slot,
            .raises = fences_.owed};
}

call native_queue_commands::reenter(const acquire_request& request, std::int64_t latest,
                                    boost::redis::request& to)
{
    native::value_of(request.owner, value_);
    keys_.entries(request.name, entries_);
    push_command(to, "EVALSHA", scripts_.reenter.sha, 2, request.name, entries_, value_,
                 request.lease.count(), latest, request.entry);
    return {.called = &scripts_.reenter, .expects = 5};
}

call native_queue_commands::release(const release_request& request, std::int64_t latest,
                                    boost::redis::request& to)
{
    native::value_of(request.owner, value_);
    keys_.queue(request.name, queue_key_);
    keys_.waiters(request.name, waiters_);
    keys_.entries(request.name, entries_);
    const acquire_request none{};
    const acquire_request& next = request.next != nullptr ? *request.next : none;
    next_value_.clear();
    if (request.next != nullptr)
        native::value_of(next.owner, next_value_);
    const std::uint32_t fences = std::min(next.fences, most_long);
    const slot_number slot = slot_of(request.name);
    const std::uint64_t least = std::max(floor(slot), next.fence_floor);
    push_command(to, "EVALSHA", scripts_.leave.sha, 5, request.name, fence_key(slot), queue_key_,
                 waiters_, entries_, value_, request.entry, next_value_, next.lease.count(), fences,
                 latest, sent_floor(least), next.presence.count(), claim(next, slot).count(),
                 is_subscribed(slot) ? 1 : 0, request.external_time.count());
    return {.called = &scripts_.leave,
            .expects = 5,
            .fences = fences,
            .floor = least,
            .name = contended_names::key_of(request.name),
            .slot = slot,
            .raises = fences_.owed,
            .takes = request.next != nullptr};
}

call native_queue_commands::renew(std::span<const renewal> renewals, boost::redis::request& to)
{
    words_.clear();
    words_.add(scripts_.renew.sha);
    words_.add(static_cast<std::int64_t>(2 * renewals.size()));
    for (const renewal& each : renewals) {
        words_.add(each.name);
        words_.write([&](std::string& text) { keys_.append_entries(each.name, text); });
    }
    for (const renewal& each : renewals) {
        words_.write([&](std::string& text) { native::append_value_of(each.owner, text); });
        words_.add(each.lease.count());
        words_.add(each.entry);
    }
    words_.push("EVALSHA", to);
    return {.called = &scripts_.renew, .expects = renewals.size()};
}

call native_queue_commands::go_on(const call& made, std::span<const std::string_view> written,
                                  boost::redis::request& to)
{
    const auto owner_in = [](std::string_view value) { return native::owner_of(value); };
    const auto lease_in = [](std::string_view text) {
        std::int64_t lease = 0;
        std::from_chars(text.data(), text.data() + text.size(), lease);
        return std::chrono::milliseconds(lease);
    };
    if (made.called == &scripts_.renew_brief) {
        // Entries are rare, so all locks are renewed once more, without a list of those with
        // entries.
        constexpr std::size_t keys = 3;
        std::vector<renewal> all(made.expects);
        for (std::size_t i = 0; i < all.size(); ++i) {
            const std::size_t argument = keys + all.size() + 2 * i;
            all[i] = {written[keys + i],
                      owner_in(written[argument]),
                      lease_in(written[argument + 1]),
                      {}};
        }
        return renew(all, to);
    }
    if (made.fences == 0) { // a release
        const bool by_script = made.called != nullptr;
        return release(
            {.name = written[by_script ? 3 : 1], .owner = owner_in(written.back()), .entry = {}}, 0,
            to);
    }
    const acquire_request request{.name = written[1],
                                  .owner = owner_in(written[2]),
                                  .entry = {},
                                  .lease = lease_in(written[5]),
                                  .fences = made.fences,
                                  .budget = {},
                                  .fence_floor = made.floor,
                                  .needs_holder = made.needs_holder};
    return acquire(request, 0, to);
}

parsed<acquire_reply> native_queue_commands::acquired(const call& made, const reply& answer)
{
    using outcome = acquire_reply::outcome;
    const auto& numbers = answer.numbers;
    // An answer that the script never gives proves nothing.
    if (!answer.is(5) || !detail::is_server_time(numbers[4]))
        return {errc::outcome_unknown, {}};
    parsed<acquire_reply> result{{}, {}, numbers[4]};
    acquire_reply& reply = result.reply;
    switch (numbers[0]) {
    case 1:
        reply.result = outcome::granted;
        if (made.fences == 0) // a reentrant acquisition
            break;
        contended_.note(made.name, (numbers[2] & 1) != 0);
        reply.grace_registered = (numbers[2] & 2) != 0;
        if (!fences_.take(made, numbers[1], numbers[3], reply))
            result.code = errc::outcome_unknown;
        break;
    case 0:
    case 2:
    case 3:
        contended_.note(made.name, true);
        reply.result = outcome::held;
        reply.remaining = time_left(numbers[1]);
        if (numbers[2] != -1)
            joined(made, reply, numbers[2]);
        reply.may_miss_grant = reply.may_miss_grant || (reply.queued && numbers[0] == 2);
        reply.grace_registered = numbers[0] == 3;
        if (numbers[3] != 0)
            reply.details = held_by(numbers[3]);
        break;
    case -1: reply.result = outcome::late; break;
    case -2: reply.result = outcome::gone; break;
    default: result.code = errc::outcome_unknown;
    }
    return result;
}

parsed<release_reply> native_queue_commands::released(const call& made, const reply& answer)
{
    using outcome = release_reply::outcome;
    const auto& numbers = answer.numbers;
    parsed<release_reply> result;
    if (!answer.is(5) || !detail::is_server_time(numbers[4]) || numbers[0] < 0 || numbers[0] > 5 ||
        numbers[1] < 0 || numbers[1] > 2) {
        result.code = errc::outcome_unknown;
        return result;
    }
    result.server_us = numbers[4];
    constexpr outcome meanings[] = {outcome::not_owner,    outcome::freed,
                                    outcome::still_held,   outcome::left_queue,
                                    outcome::granted_next, outcome::granted_next};
    result.reply.result = meanings[numbers[0]];
    contended_.note(made.name, numbers[0] >= 4 || numbers[1] == 2);
    if (numbers[1] == 0)
        return result;
    acquire_reply next;
    if (numbers[1] == 2) {
        next.remaining = time_left(numbers[2]);
        joined(made, next, numbers[3]);
        result.reply.next = next;
    }
    else if (fences_.take(made, numbers[2], numbers[3], next)) {
        next.result = acquire_reply::outcome::granted;
        result.reply.next = next;
    }
    return result;
}

/// Sets the reply for an owner that is in the queue.
void native_queue_commands::joined(const call& made, acquire_reply& reply, std::int64_t place)
{
    reply.queued = true;
    // The script does not count the position of a waiter that is far back.
    reply.position = place < 0 ? far_back : static_cast<std::uint32_t>(place);
    reply.may_miss_grant = !is_subscribed(made.slot);
    if (subscription_)
        subscription_->listen(made.slot);
}

} // namespace leasehold::redis_store
