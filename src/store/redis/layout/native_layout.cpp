#include "store/redis/layout/native_layout.hpp"

#include "store/redis/layout/native_names.hpp"
#include "store/redis/protocol/server_clock.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <deque>
#include <memory>
#include <utility>

namespace leasehold::redis_store {
namespace {

using namespace native;

// Tries that fail draw, too, and the counter must stay behind the server's clock, two a
// microsecond.
constexpr std::uint32_t most_short = 16;
constexpr std::uint32_t most_long = 1'000;

std::shared_ptr<const diagnostics> held_by(std::string holder)
{
    const auto made = std::make_shared<diagnostics>();
    made->holder = std::move(holder);
    return made;
}

std::shared_ptr<const diagnostics> held_by(std::int64_t first_bits)
{
    char digits[16];
    std::snprintf(digits, sizeof digits, "%08x",
                  static_cast<unsigned>(static_cast<std::uint32_t>(first_bits)));
    return held_by(std::string(digits));
}

std::chrono::milliseconds time_left(std::int64_t ms) noexcept
{
    return std::min<std::chrono::milliseconds>(std::chrono::milliseconds(ms),
                                               std::chrono::years(100));
}

bool is_short_acquire(const call& made) noexcept
{
    return made.commands == 2;
}

bool is_short_release(const call& made) noexcept
{
    return made.called == &of_native().release;
}

} // namespace

store_traits native_layout::traits() const noexcept
{
    return {.announces = false, .queues = true, .refuses_late = false};
}

call native_layout::greeting(boost::redis::request& to)
{
    to.push("EVALSHA", of_native().raise.sha, 1, fence_key, floor_);
    return {.called = &of_native().raise, .expects = 1};
}

error_code native_layout::greeted(answers told)
{
    const reply& answer = told.front();
    if (!answer.is(1) || answer.numbers[0] <= 0)
        return errc::store_refused;
    saw(static_cast<std::uint64_t>(answer.numbers[0]));
    return {};
}

call native_layout::acquire(const acquire_request& asked, std::int64_t latest,
                            boost::redis::request& to)
{
    if (!asked.entry.empty()) {
        value_of(asked.owner, value_);
        entries_key(asked.name, entries_);
        to.push("EVALSHA", of_native().enter.sha, 2, asked.name, entries_, value_,
                asked.lease.count(), latest, asked.entry);
        return {.called = &of_native().enter, .expects = 5};
    }
    return asked.again ? acquire_long(asked, latest, to) : acquire_short(asked, to);
}

call native_layout::acquire_short(const acquire_request& asked, boost::redis::request& to)
{
    value_of(asked.owner, value_);
    const std::uint32_t fences = std::min(asked.fences, most_short);
    to.push("SET", asked.name, value_, "NX", "PX", asked.lease.count(), "GET");
    to.push("INCRBY", fence_key, fences);
    return {.commands = 2,
            .forms = {answer_form::text, answer_form::number},
            .fences = fences,
            .floor = std::max(floor_, asked.fence_floor),
            .asks_holder = asked.asks_holder};
}

call native_layout::acquire_long(const acquire_request& asked, std::int64_t latest,
                                 boost::redis::request& to)
{
    value_of(asked.owner, value_);
    line_key(asked.name, line_);
    waiters_key(asked.name, waiters_);
    const std::uint32_t fences = std::min(asked.fences, most_long);
    const std::uint64_t floor = std::max(floor_, asked.fence_floor);
    to.push("EVALSHA", of_native().acquire.sha, 4, asked.name, fence_key, line_, waiters_, value_,
            asked.lease.count(), fences, latest, floor, asked.waits ? asked.presence.count() : 0,
            asked.claim.count(), listens_() ? 1 : 0, asked.asks_holder ? 1 : 0);
    return {.called = &of_native().acquire, .expects = 5, .fences = fences, .floor = floor};
}

call native_layout::release(const release_request& asked, std::int64_t latest,
                            boost::redis::request& to)
{
    if (asked.next != nullptr || !asked.entry.empty())
        return leave(asked, latest, to);
    value_of(asked.owner, value_);
    to.push("EVALSHA", of_native().release.sha, 1, asked.name, value_);
    return {.called = &of_native().release, .expects = 1};
}

call native_layout::leave(const release_request& asked, std::int64_t latest,
                          boost::redis::request& to)
{
    value_of(asked.owner, value_);
    line_key(asked.name, line_);
    waiters_key(asked.name, waiters_);
    entries_key(asked.name, entries_);
    const acquire_request none{};
    const acquire_request& next = asked.next != nullptr ? *asked.next : none;
    next_value_.clear();
    if (asked.next != nullptr)
        value_of(next.owner, next_value_);
    const std::uint32_t fences = std::min(next.fences, most_long);
    const std::uint64_t floor = std::max(floor_, next.fence_floor);
    to.push("EVALSHA", of_native().leave.sha, 5, asked.name, fence_key, line_, waiters_, entries_,
            value_, asked.entry, next_value_, next.lease.count(), fences, latest, floor,
            next.presence.count(), next.claim.count(), listens_() ? 1 : 0);
    return {.called = &of_native().leave, .expects = 5, .fences = fences, .floor = floor};
}

call native_layout::renew(std::span<const renewal> asked, boost::redis::request& to)
{
    std::deque<std::string> written; // what is not kept elsewhere; stays where it is
    const auto keep = [&](std::string text) -> std::string_view {
        return written.emplace_back(std::move(text));
    };
    words_.clear();
    words_.push_back(of_native().renew.sha);
    words_.push_back(keep(std::to_string(2 * asked.size())));
    for (const renewal& each : asked) {
        words_.push_back(each.name);
        entries_key(each.name, entries_);
        words_.push_back(keep(entries_));
    }
    for (const renewal& each : asked) {
        value_of(each.owner, value_);
        words_.push_back(keep(value_));
        words_.push_back(keep(std::to_string(each.lease.count())));
        words_.push_back(each.entry);
    }
    to.push_range("EVALSHA", words_);
    return {.called = &of_native().renew, .expects = asked.size()};
}

// Not free for the short way: who waits, and what else there is, the long one knows.
bool native_layout::goes_on(const call& made, answers told) const
{
    if (is_short_release(made))
        return told.front().is(1) && told.front().numbers[0] == 0;
    // It names both types.
    return is_short_acquire(made) && told.front().error.starts_with("WRONGTYPE");
}

call native_layout::go_on(const call& made, std::span<const std::string_view> written,
                          boost::redis::request& to)
{
    using namespace std::chrono;
    if (is_short_release(made)) {
        std::string_view owner = written[4];
        owner.remove_prefix(mark.size());
        return leave({.name = written[3], .owner = owner, .entry = {}}, 0, to);
    }
    std::string_view owner = written[2];
    owner.remove_prefix(mark.size());
    std::int64_t lease = 0;
    std::from_chars(written[5].data(), written[5].data() + written[5].size(), lease);
    acquire_request asked{.name = written[1],
                          .owner = owner,
                          .entry = {},
                          .lease = milliseconds(lease),
                          .fences = made.fences,
                          .budget = {}};
    return acquire_long(asked, 0, to);
}

said<acquire_reply> native_layout::acquired(const call& made, answers told)
{
    return is_short_acquire(made) ? acquired_short(made, told) : acquired_long(made, told.front());
}

/// Takes the block that ends there; false when it is not one to be given out.
bool native_layout::block(const call& made, std::int64_t last, acquire_reply& into)
{
    if (last < static_cast<std::int64_t>(made.fences))
        return false;
    const auto end = static_cast<std::uint64_t>(last);
    saw(end);
    // FLUSHALL, or a deleted counter: what this client was given before is larger.
    if (end - made.fences < made.floor)
        return false;
    into.first_fence = end - made.fences + 1;
    into.fences = made.fences;
    return true;
}

said<acquire_reply> native_layout::acquired_short(const call& made, answers told)
{
    using outcome = acquire_reply::outcome;
    said<acquire_reply> result;
    const reply& set = told[0];
    const reply& drawn = told[1];
    if (!set.text) { // there was nothing: it is taken
        // The counter was refused: the owner asks again, and hears why.
        if (!drawn.is(1) || !block(made, drawn.numbers[0], result.reply))
            result.code = errc::outcome_unknown;
        result.reply.result = outcome::granted;
        return result;
    }
    const std::string_view holder = owner_of(*set.text);
    result.reply.result = outcome::held;
    result.reply.remaining = std::chrono::milliseconds(-1); // not asked for
    result.reply.foreign = holder.empty();
    if (made.asks_holder && !holder.empty())
        result.reply.details = held_by(holder_name(holder));
    return result;
}

said<acquire_reply> native_layout::acquired_long(const call& made, const reply& told)
{
    using outcome = acquire_reply::outcome;
    const auto& numbers = told.numbers;
    // What the script never says is no proof of anything.
    if (!told.is(5) || !is_server_time(numbers[4]))
        return {errc::outcome_unknown, {}};
    said<acquire_reply> result{{}, {}, numbers[4]};
    acquire_reply& reply = result.reply;
    switch (numbers[0]) {
    case 1:
        reply.result = outcome::granted;
        if (made.fences > 0 && !block(made, numbers[1], reply))
            result.code = errc::outcome_unknown;
        break;
    case 0:
    case 2:
        reply.result = outcome::held;
        reply.remaining = time_left(numbers[1]);
        reply.in_line = numbers[2] != -1;
        // Far back is as far as anybody.
        reply.place = numbers[2] < 0 ? 1'000 : static_cast<std::uint32_t>(numbers[2]);
        reply.foreign = numbers[0] == 2;
        if (numbers[3] != 0)
            reply.details = held_by(numbers[3]);
        break;
    case -1: reply.result = outcome::late; break;
    case -2: reply.result = outcome::gone; break;
    default: result.code = errc::outcome_unknown;
    }
    return result;
}

error_code native_layout::renewed(answers told, std::span<renewal_result> results) const
{
    const reply& answer = told.front();
    if (!answer.is(results.size()))
        return errc::outcome_unknown;
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (answer.numbers[i] == 1)
            results[i] = renewal_result::renewed;
        else if (answer.numbers[i] == 0)
            results[i] = renewal_result::gone;
    }
    return {};
}

said<release_reply> native_layout::released(const call& made, answers told)
{
    using outcome = release_reply::outcome;
    const auto& numbers = told.front().numbers;
    said<release_reply> result;
    if (is_short_release(made)) {
        if (!told.front().is(1) || numbers[0] < 0 || numbers[0] > 1)
            result.code = errc::outcome_unknown;
        result.reply.result = !result.code && numbers[0] == 1 ? outcome::freed : outcome::not_owner;
        return result;
    }
    if (!told.front().is(5) || !is_server_time(numbers[4]) || numbers[0] < 0 || numbers[0] > 4 ||
        numbers[1] < 0 || numbers[1] > 2) {
        result.code = errc::outcome_unknown;
        return result;
    }
    result.server_us = numbers[4];
    constexpr outcome meanings[] = {outcome::not_owner, outcome::freed, outcome::left,
                                    outcome::left_line, outcome::passed_on};
    result.reply.result = meanings[numbers[0]];
    if (numbers[1] == 0)
        return result;
    acquire_reply next;
    if (numbers[1] == 2) {
        next.remaining = time_left(numbers[2]);
        next.in_line = true;
        next.place = numbers[3] < 0 ? 1'000 : static_cast<std::uint32_t>(numbers[3]);
        result.reply.next = next;
    }
    else if (block(made, numbers[2], next)) {
        next.result = acquire_reply::outcome::granted;
        result.reply.next = next;
    }
    return result;
}

} // namespace leasehold::redis_store
