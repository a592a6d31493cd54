#include "redis/commands/redisson_commands.hpp"

#include "base/mutant.hpp"
#include "base/server_clock.hpp"
#include "redis/commands/answers.hpp"
#include "redis/commands/native_keys.hpp"
#include "redis/commands/release_group.hpp"
#include "redis/protocol/command_words.hpp"
#include "redis/protocol/key_names.hpp"
#include "redis/protocol/redirection.hpp"

#include <algorithm>
#include <charconv>

namespace leasehold::redis_store {

namespace {

constexpr std::uint32_t far_behind = 1'000;

// Answers of the fast path after which the slow path must follow.
constexpr std::int64_t others_wait = -3;
constexpr std::int64_t not_plain = -2;

/// The status of `queue_leave` for a lock that was left free for external clients.
constexpr std::int64_t left_open = 5;

/// Marks a lock whose release is published to clients that watch the name, and not to the queue.
void mark_published(acquire_reply& reply) noexcept
{
    reply.published = true;
    reply.may_miss_grant = true;
}

bool is_acquire(const call& made) noexcept
{
    return made.called == &acquire_script() || made.called == &of_queue().acquire;
}

/// The status in a script's answer, which is one number or a list that begins with it.
std::int64_t status_of(const reply& answer) noexcept
{
    return answer.numbers.empty() ? 0 : answer.numbers.front();
}

std::int64_t number_in(std::string_view text) noexcept
{
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

/// @param receivers The number of notified subscribers; -1: this user may not publish.
release_reply freed(std::int64_t receivers) noexcept
{
    release_reply reply;
    reply.result = release_reply::outcome::freed;
    reply.receivers = static_cast<std::uint64_t>(std::max<std::int64_t>(receivers, 0));
    reply.receivers_known = receivers >= 0;
    return reply;
}

/// Sets a grant with these fences.
/// @returns False if the script cannot have granted them.
bool block(const call& made, std::int64_t first, std::int64_t count, acquire_reply& reply) noexcept
{
    if (first <= 0 || count <= 0 || count > made.fences)
        return false;
    reply.result = acquire_reply::outcome::granted;
    reply.first_fence = static_cast<std::uint64_t>(first);
    reply.fences = static_cast<std::uint32_t>(count);
    return true;
}

/// A grant with all requested fences, of which the last is twice the server's time.
parsed<acquire_reply> acquired_all(const call& made, std::int64_t last)
{
    parsed<acquire_reply> result{{}, {}, last / 2};
    if (last % 2 != 0 || !detail::is_server_time(last / 2) ||
        !block(made, last - made.fences + 1, made.fences, result.reply))
        return {errc::outcome_unknown, {}};
    return result;
}

} // namespace

std::size_t redisson_commands::greetings()
{
    holder_hidden_ = false; // the user may have got the permission since
    return 0;
}

call redisson_commands::acquire(const acquire_request& request, std::int64_t latest,
                                boost::redis::request& to)
{
    // Only the slow path finds all effects of an earlier request of the owner, in the queue too.
    const bool brief = !request.again &&
                       !contended_.contains(contended_names::key_of(request.name));
    return brief || !request.entry.empty() ? acquire_short(request, latest, to)
                                           : acquire_queued(request, latest, to);
}

call redisson_commands::acquire_short(const acquire_request& request, std::int64_t latest,
                                      boost::redis::request& to)
{
    fence_key(request.name, key_);
    const auto say = [&](auto... keys) {
        return [&, keys...](const auto&... more) {
            push_command(to, "EVALSHA", acquire_script().sha, 2 + sizeof...(keys), request.name,
                         key_, keys..., request.owner, request.lease.count(), request.fences,
                         latest, fence_retention_.count(), more...);
        };
    };
    call made{.called = &acquire_script(),
              .expects = 4,
              .forms = {answer_form::number_or_numbers},
              .name = contended_names::key_of(request.name)};
    if (!request.entry.empty()) {
        say()(request.entry);
        return made;
    }
    keys_.queue(request.name, queue_key_);
    const std::string_view queue = queue_key_;
    if (request.needs_holder)
        say(queue)("", 1);
    else
        say(queue)();
    made.fences = request.fences;
    made.slot = slot_of(request.name);
    made.fast_path = true;
    made.needs_holder = request.needs_holder;
    return made;
}

/// Writes the keys of the slow path, and the prefix of the grant channels.
void redisson_commands::write_keys(std::string_view name)
{
    fence_key(name, key_);
    keys_.queue(name, queue_key_);
    keys_.waiters(name, waiters_);
    if (in_cluster_)
        keys_.grants_in(slot_of(name), {}, grant_prefix_);
    else
        keys_.grants({}, grant_prefix_);
}

slot_number redisson_commands::slot_of(std::string_view name) const noexcept
{
    return in_cluster_ ? redis_store::slot_of(name) : slot_number(0);
}

bool redisson_commands::is_subscribed(slot_number slot) const noexcept
{
    return (subscription_ && subscription_->is_subscribed(slot)) || has(mutant::listening_claimed);
}

// A client without a subscription finds its grant only by the next poll, so it needs more time.
std::chrono::milliseconds redisson_commands::claim(const acquire_request& request,
                                                   slot_number slot) const noexcept
{
    return is_subscribed(slot) ? request.claim : 3 * request.claim;
}

call redisson_commands::acquire_queued(const acquire_request& request, std::int64_t latest,
                                       boost::redis::request& to)
{
    write_keys(request.name);
    const slot_number slot = slot_of(request.name);
    const char* const holder = holder_hidden_ ? "-" : request.needs_holder ? "1" : "0";
    push_command(to, "EVALSHA", of_queue().acquire.sha, 4, request.name, key_, queue_key_, waiters_,
                 request.owner, request.lease.count(), request.fences, latest,
                 fence_retention_.count(), request.waits ? request.presence.count() : 0,
                 claim(request, slot).count(), is_subscribed(slot) ? 1 : 0, grant_prefix_, holder);
    return {.called = &of_queue().acquire,
            .expects = 5,
            .fences = request.fences,
            .name = contended_names::key_of(request.name),
            .slot = slot,
            .needs_holder = request.needs_holder};
}

call redisson_commands::release(const release_request& request, std::int64_t latest,
                                boost::redis::request& to)
{
    return is_plain(request, contended_) ? release_short(request.name, request.owner, true, to)
                                         : leave(request, latest, to);
}

call redisson_commands::release_all(const release_group& group, boost::redis::request& to)
{
    words_.clear();
    words_.add(release_all_script().sha);
    words_.add(static_cast<std::int64_t>(2 * group.size()));
    for (std::size_t i = 0; i < group.size(); ++i) {
        words_.add(group.request(i).name);
        keys_.queue(group.request(i).name, queue_key_);
        words_.write([&](std::string& text) { text += queue_key_; });
    }
    for (std::size_t i = 0; i < group.size(); ++i) {
        words_.add(group.request(i).owner);
        release_channel(group.request(i).name, channel_);
        words_.write([&](std::string& text) { text += channel_; });
    }
    words_.push("EVALSHA", to);
    return {.called = &release_all_script(), .expects = group.size()};
}

call redisson_commands::release_short(std::string_view name, std::string_view owner,
                                      bool checks_queue, boost::redis::request& to)
{
    release_channel(name, channel_);
    const auto say = [&](auto... keys) {
        return [&, keys...](const auto&... more) {
            push_command(to, "EVALSHA", release_script().sha, 1 + sizeof...(keys), name, keys...,
                         owner, channel_, more...);
        };
    };
    keys_.queue(name, queue_key_);
    const std::string_view queue = queue_key_;
    if (!checks_queue)
        say()("SPUBLISH");
    else if (in_cluster_)
        say(queue)("SPUBLISH");
    else
        say(queue)();
    return {.called = &release_script(),
            .forms = {answer_form::number},
            .name = contended_names::key_of(name),
            .fast_path = true,
            .checks_queue_beside = checks_queue};
}

call redisson_commands::leave(const release_request& request, std::int64_t latest,
                              boost::redis::request& to)
{
    write_keys(request.name);
    release_channel(request.name, channel_);
    const slot_number slot = slot_of(request.name);
    const auto say = [&](const auto&... more) {
        push_command(to, "EVALSHA", of_queue().leave.sha, 4, request.name, key_, queue_key_,
                     waiters_, request.owner, request.entry, channel_, grant_prefix_,
                     request.external_time.count(), more...);
    };
    if (request.next != nullptr) {
        const acquire_request& next = *request.next;
        say(next.owner, next.lease.count(), next.fences, latest, fence_retention_.count(),
            next.presence.count(), claim(next, slot).count(), is_subscribed(slot) ? 1 : 0);
    }
    else {
        say();
    }
    return {.called = &of_queue().leave,
            .expects = 6,
            .fences = request.next != nullptr ? request.next->fences : 0,
            .name = contended_names::key_of(request.name),
            .slot = slot,
            .takes = request.next != nullptr};
}

bool redisson_commands::goes_on(const call& made, answers replies)
{
    const reply& answer = replies.front();
    if (!made.fast_path)
        return false;
    if (!answer.error.empty())
        return !is_acquire(made) && made.checks_queue_beside &&
               read_redirection(answer.error).what == redirection::kind::try_again;
    return is_acquire(made) ? answer.is(4) && status_of(answer) == others_wait
                            : answer.is(1) && status_of(answer) == not_plain;
}

call redisson_commands::go_on(const call& made, answers replies,
                              std::span<const std::string_view> written, boost::redis::request& to)
{
    if (!is_acquire(made)) {
        const std::string_view owner = written[made.checks_queue_beside ? 5 : 4];
        // The slot is migrating, and this node has only one of the two keys. A queue that does not
        // exist never arrives here, so the repetition names the lock only. Waiters, if there are
        // any, poll when the slot has arrived.
        if (!replies.front().error.empty())
            return release_short(written[3], owner, false, to);
        return leave({.name = written[3], .owner = owner, .entry = {}}, 0, to);
    }
    const acquire_request request{.name = written[3],
                                  .owner = written[6],
                                  .entry = {},
                                  .lease = std::chrono::milliseconds(number_in(written[7])),
                                  .fences = made.fences,
                                  .budget = {},
                                  .needs_holder = made.needs_holder};
    return acquire_queued(request, number_in(written[9]), to);
}

call redisson_commands::renew(std::span<const renewal> renewals, boost::redis::request& to)
{
    words_.clear();
    words_.add(renew_script().sha);
    words_.add(static_cast<std::int64_t>(renewals.size()));
    for (const renewal& each : renewals)
        words_.add(each.name);
    for (const renewal& each : renewals) {
        if (each.entry.empty())
            words_.add(each.owner);
        else
            words_.write([&](std::string& text) { text += entry_field(each.owner, each.entry); });
        words_.add(each.lease.count());
    }
    words_.push("EVALSHA", to);
    return {.called = &renew_script(), .expects = renewals.size()};
}

/// Sets the reply for an owner that is in the queue.
void redisson_commands::joined(const call& made, acquire_reply& reply, std::int64_t place)
{
    reply.queued = true;
    // The script does not count the position of a waiter that is far back.
    reply.position = place < 0 ? far_behind : static_cast<std::uint32_t>(place);
    reply.may_miss_grant = !is_subscribed(made.slot);
    if (subscription_)
        subscription_->listen(made.slot);
}

parsed<acquire_reply> redisson_commands::acquired(const call& made, answers replies)
{
    return made.called == &of_queue().acquire ? acquired_queued(made, replies.front())
                                              : acquired_short(made, replies.front());
}

// An answer that the script never gives proves nothing.
parsed<acquire_reply> redisson_commands::acquired_short(const call& made, const reply& answer)
{
    using outcome = acquire_reply::outcome;
    const auto& numbers = answer.numbers;
    if (answer.is(1))
        return acquired_all(made, numbers[0]);
    if (!answer.is(4) || !detail::is_server_time(numbers[3]))
        return {errc::outcome_unknown, {}};
    parsed<acquire_reply> result{{}, {}, numbers[3]};
    acquire_reply& reply = result.reply;
    switch (numbers[0]) {
    case 1:
        if (made.fences == 0) // a reentrant acquisition
            reply.result = outcome::granted;
        else if (!block(made, numbers[1], numbers[2], reply))
            result.code = errc::outcome_unknown;
        break;
    case 0:
        contended_.note(made.name, true);
        reply.result = outcome::held;
        reply.remaining = time_left(numbers[1]);
        result.holder_hidden = numbers[2] < 0;
        if (numbers[2] > 0)
            reply.details = held_by(numbers[2]);
        break;
    case -1: reply.result = outcome::late; break;
    case -2: reply.result = outcome::gone; break;
    default:
        // Nothing was changed, and the slow path could not be sent.
        result.code = numbers[0] == others_wait ? errc::store_unavailable : errc::outcome_unknown;
    }
    return result;
}

parsed<acquire_reply> redisson_commands::acquired_queued(const call& made, const reply& answer)
{
    using outcome = acquire_reply::outcome;
    const auto& numbers = answer.numbers;
    if (!answer.is(5) || !detail::is_server_time(numbers[4]))
        return {errc::outcome_unknown, {}};
    parsed<acquire_reply> result{{}, {}, numbers[4]};
    acquire_reply& reply = result.reply;
    switch (numbers[0]) {
    case 1:
        if (block(made, numbers[1], numbers[2], reply))
            contended_.note(made.name, numbers[3] == 1);
        else
            result.code = errc::outcome_unknown;
        break;
    case 0:
    case 2:
        contended_.note(made.name, true);
        reply.result = outcome::held;
        reply.remaining = time_left(numbers[1]);
        if (numbers[2] != -1)
            joined(made, reply, numbers[2]);
        if (reply.queued && numbers[0] == 2)
            mark_published(reply);
        holder_hidden_ = holder_hidden_ || numbers[3] < 0;
        result.holder_hidden = numbers[3] < 0;
        if (numbers[3] > 0)
            reply.details = held_by(numbers[3]);
        break;
    case -1: reply.result = outcome::late; break;
    default: result.code = errc::outcome_unknown;
    }
    return result;
}

error_code redisson_commands::renewed(answers replies, std::span<renewal_result> results) const
{
    return read_renewals(replies.front(), results);
}

std::optional<release_reply> redisson_commands::released_in_group(std::int64_t number) const
{
    return number > not_plain ? std::optional(freed(number)) : std::nullopt;
}

parsed<release_reply> redisson_commands::released(const call& made, answers replies)
{
    using outcome = release_reply::outcome;
    const reply& answer = replies.front();
    const auto& numbers = answer.numbers;
    parsed<release_reply> result;
    release_reply& reply = result.reply;
    if (made.fast_path) {
        if (!answer.is(1) || numbers[0] < not_plain) {
            result.code = errc::outcome_unknown;
        }
        else if (numbers[0] == not_plain) { // nothing was done; the slow path could not be sent
            result.code = errc::store_unavailable;
        }
        else {
            reply = freed(numbers[0]);
        }
        return result;
    }
    if (!answer.is(6) || !detail::is_server_time(numbers[5]) || numbers[0] < 0 || numbers[0] > 5 ||
        numbers[2] < 0 || numbers[2] > 2 || (numbers[2] != 0 && made.fences == 0)) {
        result.code = errc::outcome_unknown;
        return result;
    }
    result.server_us = numbers[5];
    constexpr outcome meanings[] = {outcome::not_owner,    outcome::freed,
                                    outcome::still_held,   outcome::left_queue,
                                    outcome::granted_next, outcome::granted_next};
    reply.result = meanings[numbers[0]];
    if (numbers[0] == 1)
        reply = freed(numbers[1]);
    contended_.note(made.name, numbers[0] >= 4 || numbers[2] == 2);
    acquire_reply next;
    if (numbers[2] == 2) {
        next.remaining = time_left(numbers[3]);
        joined(made, next, numbers[4]);
        if (numbers[0] == left_open && numbers[4] == 0)
            mark_published(next);
        reply.next = next;
    }
    else if (numbers[2] == 1 && block(made, numbers[3], numbers[4], next)) {
        reply.next = next;
    }
    return result;
}

} // namespace leasehold::redis_store
