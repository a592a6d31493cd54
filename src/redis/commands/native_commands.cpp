#include "redis/commands/native_commands.hpp"

#include "base/mutant.hpp"
#include "redis/commands/answers.hpp"
#include "redis/commands/native_keys.hpp"
#include "redis/protocol/command_words.hpp"
#include "redis/protocol/server_clock.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>
#include <vector>

namespace leasehold::redis_store {
namespace {

// Small, because failed attempts draw fences, too.
constexpr std::uint32_t most_short = 16;
// Half a millisecond of fences. After a reset, a draw may begin this far behind the clock.
constexpr std::uint32_t most_long = 1'000;
// The rate of the server's clock in fences. The counter stays behind it.
constexpr std::uint64_t fences_a_microsecond = 2;

constexpr std::uint32_t far_back = 1'000;

// The two answers of the fast path.
const reply& answer_to_set(answers told) noexcept
{
    return told[has(mutant::fence_before_lock) ? 1 : 0];
}

const reply& answer_to_draw(answers told) noexcept
{
    return told[has(mutant::fence_before_lock) ? 0 : 1];
}

/// Whether the call is an acquire by the fast path.
bool takes_briefly(const call& made) noexcept
{
    return made.short_way && made.fences != 0;
}

bool is_count(const reply& answer) noexcept
{
    return answer.is(1) && (answer.numbers[0] == 0 || answer.numbers[0] == 1);
}

/// Whether the server knows the command. A node without the slot of the key redirects known
/// commands.
bool is_known(const reply& answer) noexcept
{
    return is_count(answer) || answer.error.starts_with("MOVED ") ||
           answer.error.starts_with("ASK ");
}

} // namespace

store_traits native_commands::traits() const noexcept
{
    return {.announces = false,
            .queues = true,
            .refuses_late = false,
            .dead_holder_grace = slots_ == nullptr};
}

// The greetings after those that kill earlier connections.
enum class native_commands::greets : std::size_t
{
    info,
    delifeq,
    delex,
    raise,
    count_,
};

std::size_t native_commands::greetings()
{
    ended_.begin();
    if (has(mutant::connections_not_ended))
        ended_.forget();
    removal_ = removal::script;
    ++servers_;
    owed_ = 0;
    // In a cluster each draw raises the counter of its slot.
    return ended_.count() + static_cast<std::size_t>(slots_ ? greets::raise : greets::count_);
}

call native_commands::greeting(std::size_t number, boost::redis::request& to)
{
    if (number < ended_.count()) {
        ended_.end(number, to);
        return {.forms = {answer_form::number}};
    }
    switch (static_cast<greets>(number - ended_.count())) {
    case greets::info: push_command(to, "CLIENT", "INFO"); return {.forms = {answer_form::text}};
    // No fence is "-", so a server that knows the command deletes nothing.
    case greets::delifeq:
        push_command(to, "DELIFEQ", native::fence_key, "-");
        return {.forms = {answer_form::number}};
    case greets::delex:
        push_command(to, "DELEX", native::fence_key, "IFEQ", "-");
        return {.forms = {answer_form::number}};
    default:
        push_command(to, "EVALSHA", scripts_.raise.sha, 1, native::fence_key, floor_);
        return {.called = &scripts_.raise, .expects = 1};
    }
}

error_code native_commands::greeted(std::size_t number, answers told, error_code refused)
{
    const reply& answer = told.front();
    if (number < ended_.count()) {
        if (refused) // without permission to kill them, they end by themselves
            ended_.refused();
        return {};
    }
    switch (static_cast<greets>(number - ended_.count())) {
    case greets::info:
        if (answer.text)
            ended_.learn(*answer.text);
        return {};
    case greets::delifeq:
        if (is_known(answer))
            removal_ = removal::delifeq;
        return {};
    case greets::delex:
        if (is_known(answer))
            removal_ = removal::delex;
        if (slots_)
            ended_.forget(); // the last greeting
        return {};
    default: break;
    }
    if (refused && is_without_room(answer.error)) {
        // A server without memory can still renew and release.
        if (!has(mutant::refused_raise_forgotten))
            owed_ = servers_;
        ended_.forget();
        return {};
    }
    if (refused)
        return refused;
    if (!answer.is(1) || answer.numbers[0] <= 0)
        return errc::store_refused;
    saw(0, static_cast<std::uint64_t>(answer.numbers[0]));
    ended_.forget();
    return {};
}

call native_commands::acquire(const acquire_request& asked, std::int64_t latest,
                              boost::redis::request& to)
{
    const auto key = contended_names::key_of(asked.name);
    if (!asked.entry.empty())
        return enter(asked, latest, to);
    return may_be_brief(asked) ? acquire_short(asked, key, to)
                               : acquire_long(asked, key, latest, to);
}

/// Whether the fast path can serve the request.
bool native_commands::may_be_brief(const acquire_request& asked) const
{
    // Only the slow path writes the record that `dead_holder_grace` needs.
    return asked.entry.empty() && !asked.again && asked.dead_holder_grace.count() == 0 &&
           !doubts_counter() && !contended_.contains(contended_names::key_of(asked.name));
}

std::uint32_t native_commands::draws(const acquire_request& asked) const
{
    return may_be_brief(asked) && !has(mutant::fence_before_lock) ? short_block(asked) : 0;
}

/// A client that finds the counter lost begins at the server's clock, which must be above all
/// earlier fences. INCRBY does not compare the counter with the clock. So it draws more than one
/// fence only if the counter is known to stay behind the clock.
std::uint32_t native_commands::short_block(const acquire_request& asked) const noexcept
{
    const std::uint32_t most = std::min(asked.fences, most_short);
    const std::uint64_t clock = fences_a_microsecond * static_cast<std::uint64_t>(server_us_);
    return std::max(floor_, drawn_) + most <= clock ? most : 1;
}

void native_commands::draw(std::uint64_t fences, boost::redis::request& to)
{
    push_command(to, "INCRBY", native::fence_key, fences);
}

call native_commands::enter(const acquire_request& asked, std::int64_t latest,
                            boost::redis::request& to)
{
    native::value_of(asked.owner, value_);
    native::entries_key(asked.name, entries_);
    push_command(to, "EVALSHA", scripts_.enter.sha, 2, asked.name, entries_, value_,
                 asked.lease.count(), latest, asked.entry);
    return {.called = &scripts_.enter, .expects = 5};
}

slot_number native_commands::slot_of(std::string_view name) const noexcept
{
    return slots_ ? redis_store::slot_of(name) : slot_number(0);
}

std::string_view native_commands::fence_key(slot_number slot)
{
    if (!slots_)
        return native::fence_key;
    native::fence_key_in(slot, fences_);
    return fences_;
}

std::uint64_t native_commands::floor(slot_number slot) const noexcept
{
    return slots_ ? slots_->of(slot) : floor_;
}

void native_commands::saw(slot_number slot, std::uint64_t fence)
{
    if (slots_)
        slots_->saw(slot, fence);
    else
        floor_ = std::max(floor_, fence);
}

bool native_commands::hears(slot_number slot) const noexcept
{
    return (turns_ && turns_->hears(slot)) || has(mutant::listening_claimed);
}

// A client without a subscription finds its grant only by the next poll, so it needs more time.
std::chrono::milliseconds native_commands::claim(const acquire_request& asked,
                                                 slot_number slot) const noexcept
{
    return hears(slot) ? asked.claim : 3 * asked.claim;
}

/// Sets the reply for an owner that is in the queue.
void native_commands::joined(const call& made, acquire_reply& reply, std::int64_t place)
{
    reply.in_line = true;
    // The script does not count the position of a waiter that is far back.
    reply.place = place < 0 ? far_back : static_cast<std::uint32_t>(place);
    reply.untold = !hears(made.slot);
    if (turns_)
        turns_->listen(made.slot);
}

call native_commands::acquire_short(const acquire_request& asked, contended_names::key key,
                                    boost::redis::request& to)
{
    native::value_of(asked.owner, value_);
    const std::uint32_t fences = short_block(asked);
    drawn_ = std::max(floor_, drawn_) + fences;
    const bool swapped = has(mutant::fence_before_lock);
    if (swapped)
        draw(fences, to);
    if (set_gets_)
        push_command(to, "SET", asked.name, value_, "NX", "PX", asked.lease.count(), "GET");
    else
        push_command(to, "SET", asked.name, value_, "NX", "PX", asked.lease.count());
    constexpr answer_form text = answer_form::text;
    constexpr answer_form number = answer_form::number;
    return {.commands = swapped ? std::size_t(2) : 1,
            .forms = {swapped ? number : text, text},
            .fences = fences,
            .draws = !swapped,
            .floor = std::max(floor_, asked.fence_floor),
            .name = key,
            .short_way = true,
            .gets = set_gets_,
            .asks_holder = asked.asks_holder};
}

call native_commands::acquire_long(const acquire_request& asked, contended_names::key key,
                                   std::int64_t latest, boost::redis::request& to)
{
    native::value_of(asked.owner, value_);
    native::line_key(asked.name, line_);
    native::waiters_key(asked.name, waiters_);
    const std::uint32_t fences = std::min(asked.fences, most_long);
    const slot_number slot = slot_of(asked.name);
    const std::uint64_t least = std::max(floor(slot), asked.fence_floor);
    if (asked.dead_holder_grace.count() != 0 && !slots_) {
        native::alive_key(native::client_of(asked.owner), entries_);
        push_command(to, "EVALSHA", scripts_.acquire.sha, 5, asked.name, fence_key(slot), line_,
                     waiters_, entries_, value_, asked.lease.count(), fences, latest,
                     sent_floor(least), asked.waits ? asked.presence.count() : 0,
                     claim(asked, slot).count(), hears(slot) ? 1 : 0, asked.asks_holder ? 1 : 0,
                     asked.dead_holder_grace.count());
    }
    else {
        push_command(to, "EVALSHA", scripts_.acquire.sha, 4, asked.name, fence_key(slot), line_,
                     waiters_, value_, asked.lease.count(), fences, latest, sent_floor(least),
                     asked.waits ? asked.presence.count() : 0, claim(asked, slot).count(),
                     hears(slot) ? 1 : 0, asked.asks_holder ? 1 : 0);
    }
    return {.called = &scripts_.acquire,
            .expects = 5,
            .fences = fences,
            .floor = least,
            .name = key,
            .slot = slot,
            .raises = owed_};
}

call native_commands::release(const release_request& asked, std::int64_t latest,
                              boost::redis::request& to)
{
    const auto key = contended_names::key_of(asked.name);
    if (asked.next != nullptr || !asked.entry.empty() || asked.foreign_turn.count() != 0 ||
        contended_.contains(key))
        return leave(asked, key, latest, to);
    native::value_of(asked.owner, asked.dead_holder_grace, value_);
    call made{.forms = {answer_form::number}, .name = key, .short_way = true};
    switch (removal_) {
    case removal::delifeq: push_command(to, "DELIFEQ", asked.name, value_); break;
    case removal::delex: push_command(to, "DELEX", asked.name, "IFEQ", value_); break;
    case removal::script:
        push_command(to, "EVALSHA", scripts_.release.sha, 1, asked.name, value_);
        made.called = &scripts_.release;
        break;
    }
    return made;
}

call native_commands::leave(const release_request& asked, contended_names::key key,
                            std::int64_t latest, boost::redis::request& to)
{
    native::value_of(asked.owner, value_);
    native::line_key(asked.name, line_);
    native::waiters_key(asked.name, waiters_);
    native::entries_key(asked.name, entries_);
    const acquire_request none{};
    const acquire_request& next = asked.next != nullptr ? *asked.next : none;
    next_value_.clear();
    if (asked.next != nullptr)
        native::value_of(next.owner, next_value_);
    const std::uint32_t fences = std::min(next.fences, most_long);
    const slot_number slot = slot_of(asked.name);
    const std::uint64_t least = std::max(floor(slot), next.fence_floor);
    push_command(to, "EVALSHA", scripts_.leave.sha, 5, asked.name, fence_key(slot), line_, waiters_,
                 entries_, value_, asked.entry, next_value_, next.lease.count(), fences, latest,
                 sent_floor(least), next.presence.count(), claim(next, slot).count(),
                 hears(slot) ? 1 : 0, asked.foreign_turn.count());
    return {.called = &scripts_.leave,
            .expects = 5,
            .fences = fences,
            .floor = least,
            .name = key,
            .slot = slot,
            .raises = owed_,
            .takes = asked.next != nullptr};
}

call native_commands::renew(std::span<const renewal> asked, boost::redis::request& to)
{
    // Entries of reentrant acquisitions have a key of their own.
    const bool entered = std::any_of(asked.begin(), asked.end(),
                                     [](const renewal& each) { return !each.entry.empty(); });
    return entered ? renew_all(asked, to) : renew_briefly(asked, to);
}

call native_commands::renew_briefly(std::span<const renewal> asked, boost::redis::request& to)
{
    words_.clear();
    words_.add(scripts_.renew_brief.sha);
    words_.add(static_cast<std::int64_t>(asked.size()));
    for (const renewal& each : asked)
        words_.add(each.name);
    for (const renewal& each : asked) {
        words_.write([&](std::string& text) { native::append_value_of(each.owner, text); });
        words_.add(each.lease.count());
    }
    words_.push("EVALSHA", to);
    return {.called = &scripts_.renew_brief, .expects = asked.size(), .short_way = true};
}

call native_commands::renew_all(std::span<const renewal> asked, boost::redis::request& to)
{
    words_.clear();
    words_.add(scripts_.renew.sha);
    words_.add(static_cast<std::int64_t>(2 * asked.size()));
    for (const renewal& each : asked) {
        words_.add(each.name);
        words_.write([&](std::string& text) { native::append_entries_key(each.name, text); });
    }
    for (const renewal& each : asked) {
        words_.write([&](std::string& text) { native::append_value_of(each.owner, text); });
        words_.add(each.lease.count());
        words_.add(each.entry);
    }
    words_.push("EVALSHA", to);
    return {.called = &scripts_.renew, .expects = asked.size()};
}

bool native_commands::goes_on(const call& made, answers told)
{
    if (!made.short_way)
        return false;
    if (made.called == &scripts_.renew_brief) {
        const auto& numbers = told.front().numbers;
        return told.front().is(made.expects) &&
               std::find(numbers.begin(), numbers.end(), 2) != numbers.end();
    }
    if (!takes_briefly(made)) // a release: the value had waiters or entries, or is another's
        return told.front().is(1) && told.front().numbers[0] == 0;
    const reply& first = answer_to_set(told);
    if (has(mutant::fence_before_lock))
        return false; // here the first command is INCRBY
    if (!first.error.empty()) {
        // A server before 7.0 does not allow NX together with GET.
        const bool too_old = made.gets && first.error.starts_with("ERR syntax error");
        set_gets_ = set_gets_ && !too_old;
        // The slow path reports both types in its error.
        return too_old || first.error.starts_with("WRONGTYPE");
    }
    // The slow path draws other fences, or gets the error of the draw.
    return is_set(made, told) && !has_block(made, answer_to_draw(told));
}

/// Whether the fast path has set the lock: the previous value was null.
bool native_commands::is_set(const call& made, answers told)
{
    const reply& set = answer_to_set(told);
    return set.error.empty() && (made.gets ? !set.text : set.text == "OK");
}

/// Whether the `count` fences up to `last` may be granted.
bool native_commands::fits(const call& made, std::int64_t last, std::int64_t count)
{
    // After FLUSHALL, or without its counter, the server may draw fences that this client has seen.
    return count > 0 && count <= static_cast<std::int64_t>(made.fences) && last >= count &&
           (static_cast<std::uint64_t>(last - count) >= made.floor ||
            (made.short_way && has(mutant::short_fence_unchecked)));
}

bool native_commands::has_block(const call& made, const reply& drawn)
{
    return drawn.is(1) && fits(made, drawn.numbers[0], made.fences);
}

call native_commands::go_on(const call& made, answers told,
                            std::span<const std::string_view> written, boost::redis::request& to)
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
        return renew_all(all, to);
    }
    if (!takes_briefly(made)) {
        const bool by_script = made.called != nullptr;
        return leave(
            {.name = written[by_script ? 3 : 1], .owner = owner_in(written.back()), .entry = {}},
            made.name, 0, to);
    }
    const acquire_request asked{.name = written[1],
                                .owner = owner_in(written[2]),
                                .entry = {},
                                .lease = lease_in(written[5]),
                                .fences = made.fences,
                                .budget = {},
                                .fence_floor = made.floor,
                                .asks_holder = made.asks_holder};
    call next = acquire_long(asked, made.name, 0, to);
    next.took = is_set(made, told);
    return next;
}

said<acquire_reply> native_commands::acquired(const call& made, answers told)
{
    return made.short_way ? acquired_short(made, told) : acquired_long(made, told.front());
}

/// The floor argument of the scripts; negative: the clock is a floor as well.
std::int64_t native_commands::sent_floor(std::uint64_t floor) const noexcept
{
    const auto known = static_cast<std::int64_t>(floor);
    return doubts_counter() ? -known : known;
}

/// Stores the `count` fences up to `last`; false if they may not be granted.
bool native_commands::block(const call& made, std::int64_t last, std::int64_t count,
                            acquire_reply& into)
{
    if (count <= 0 || last < count)
        return false;
    const auto end = static_cast<std::uint64_t>(last);
    saw(made.slot, end);
    if (!fits(made, last, count))
        return false;
    if (made.raises == owed_)
        owed_ = 0;
    into.fences = static_cast<std::uint32_t>(count);
    into.first_fence = end - into.fences + (has(mutant::blocks_overlap) ? 0 : 1);
    return true;
}

said<acquire_reply> native_commands::acquired_short(const call& made, answers told)
{
    using outcome = acquire_reply::outcome;
    said<acquire_reply> result;
    const reply& set = answer_to_set(told);
    const reply& drawn = answer_to_draw(told);
    if (is_set(made, told)) {
        // The slow path could not be sent, so the owner sends the acquire again.
        if (!drawn.is(1) || !block(made, drawn.numbers[0], made.fences, result.reply))
            result.code = errc::outcome_unknown;
        result.reply.result = outcome::granted;
        return result;
    }
    if (!made.gets && set.text) // neither OK nor null
        return {errc::outcome_unknown, {}};
    contended_.note(made.name, true);
    result.reply.result = outcome::held;
    result.reply.remaining = std::chrono::milliseconds(-1); // not requested
    if (made.gets && set.text) {
        const std::string_view holder = native::owner_of(*set.text);
        if (made.asks_holder && !holder.empty())
            result.reply.details = held_by(holder_name(holder));
    }
    return result;
}

said<acquire_reply> native_commands::acquired_long(const call& made, const reply& told)
{
    using outcome = acquire_reply::outcome;
    const auto& numbers = told.numbers;
    // An answer that the script never gives proves nothing.
    if (!told.is(5) || !is_server_time(numbers[4]))
        return {errc::outcome_unknown, {}};
    said<acquire_reply> result{{}, {}, numbers[4]};
    acquire_reply& reply = result.reply;
    switch (numbers[0]) {
    case 1:
        reply.result = outcome::granted;
        if (made.fences == 0) // a reentrant acquisition
            break;
        contended_.note(made.name, (numbers[2] & 1) != 0);
        reply.promised = (numbers[2] & 2) != 0;
        if (!block(made, numbers[1], numbers[3], reply))
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
        reply.untold = reply.untold || (reply.in_line && numbers[0] == 2);
        reply.promised = numbers[0] == 3;
        if (numbers[3] != 0)
            reply.details = held_by(numbers[3]);
        break;
    case -1: reply.result = outcome::late; break;
    case -2: reply.result = outcome::gone; break;
    default: result.code = errc::outcome_unknown;
    }
    return result;
}

error_code native_commands::renewed(answers told, std::span<renewal_result> results) const
{
    return read_renewals(told.front(), results);
}

said<release_reply> native_commands::released(const call& made, answers told)
{
    using outcome = release_reply::outcome;
    const reply& answer = told.front();
    const auto& numbers = answer.numbers;
    said<release_reply> result;
    if (made.short_way) {
        if (!is_count(answer))
            result.code = errc::outcome_unknown;
        else if (numbers[0] == 0) // nothing was done; the slow path could not be sent
            result.code = errc::store_unavailable;
        else
            result.reply.result = outcome::freed;
        return result;
    }
    if (!answer.is(5) || !is_server_time(numbers[4]) || numbers[0] < 0 || numbers[0] > 5 ||
        numbers[1] < 0 || numbers[1] > 2) {
        result.code = errc::outcome_unknown;
        return result;
    }
    result.server_us = numbers[4];
    constexpr outcome meanings[] = {outcome::not_owner, outcome::freed,     outcome::left,
                                    outcome::left_line, outcome::passed_on, outcome::passed_on};
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
    else if (block(made, numbers[2], numbers[3], next)) {
        next.result = acquire_reply::outcome::granted;
        result.reply.next = next;
    }
    return result;
}

} // namespace leasehold::redis_store
