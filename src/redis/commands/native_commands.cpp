#include "redis/commands/native_commands.hpp"

#include "base/mutant.hpp"
#include "redis/commands/answers.hpp"
#include "redis/commands/native_keys.hpp"
#include "redis/commands/release_group.hpp"
#include "redis/protocol/command_words.hpp"

#include <algorithm>
#include <chrono>

namespace leasehold::redis_store {
namespace {

// Small, because failed attempts draw fences, too.
constexpr std::uint32_t most_short = 16;
// The rate of the server's clock in fences. The counter stays behind it.
constexpr std::uint64_t fences_a_microsecond = 2;

// The two answers of the fast path.
const reply& answer_to_set(answers replies) noexcept
{
    return replies[has(mutant::fence_before_lock) ? 1 : 0];
}

const reply& answer_to_draw(answers replies) noexcept
{
    return replies[has(mutant::fence_before_lock) ? 0 : 1];
}

/// Whether the call is an acquire by the fast path.
bool takes_briefly(const call& made) noexcept
{
    return made.fast_path && made.fences != 0;
}

bool is_count(const reply& answer) noexcept
{
    return answer.is(1) && (answer.numbers[0] == 0 || answer.numbers[0] == 1);
}

} // namespace

store_traits native_commands::traits() const noexcept
{
    return {.publishes = false,
            .queues = true,
            .rejects_late = false,
            .dead_holder_grace = fences_.slots == nullptr};
}

call native_commands::acquire(const acquire_request& request, std::int64_t latest,
                              boost::redis::request& to)
{
    return may_be_brief(request) ? acquire_short(request, to) : queue_.acquire(request, latest, to);
}

/// Whether the fast path can serve the request.
bool native_commands::may_be_brief(const acquire_request& request) const
{
    // Only the slow path compares the counter with the clock, and writes the record that
    // `dead_holder_grace` needs.
    return request.entry.empty() && !request.again && request.dead_holder_grace.count() == 0 &&
           !fences_.doubtful() && !contended_.contains(contended_names::key_of(request.name));
}

std::uint32_t native_commands::draws(const acquire_request& request) const
{
    return may_be_brief(request) && !has(mutant::fence_before_lock) ? short_block(request) : 0;
}

/// A client that finds the counter lost begins at the server's clock, which must be above all
/// earlier fences. INCRBY does not compare the counter with the clock. So it draws more than one
/// fence only if the counter is known to stay behind the clock.
std::uint32_t native_commands::short_block(const acquire_request& request) const noexcept
{
    const std::uint32_t most = std::min(request.fences, most_short);
    const std::uint64_t clock = fences_a_microsecond * static_cast<std::uint64_t>(server_us_);
    return std::max(fences_.floor, drawn_) + most <= clock ? most : 1;
}

void native_commands::draw(std::uint64_t fences, boost::redis::request& to)
{
    push_command(to, "INCRBY", keys_.fence(), fences);
}

call native_commands::acquire_short(const acquire_request& request, boost::redis::request& to)
{
    native::value_of(request.owner, value_);
    const std::uint32_t fences = short_block(request);
    drawn_ = std::max(fences_.floor, drawn_) + fences;
    const bool swapped = has(mutant::fence_before_lock);
    if (swapped)
        draw(fences, to);
    if (set_gets_)
        push_command(to, "SET", request.name, value_, "NX", "PX", request.lease.count(), "GET");
    else
        push_command(to, "SET", request.name, value_, "NX", "PX", request.lease.count());
    constexpr answer_form text = answer_form::text;
    constexpr answer_form number = answer_form::number;
    return {.commands = swapped ? std::size_t(2) : 1,
            .forms = {swapped ? number : text, text},
            .fences = fences,
            .draws = !swapped,
            .floor = std::max(fences_.floor, request.fence_floor),
            .name = contended_names::key_of(request.name),
            .fast_path = true,
            .gets = set_gets_,
            .needs_holder = request.needs_holder};
}

call native_commands::release(const release_request& request, std::int64_t latest,
                              boost::redis::request& to)
{
    if (!is_plain(request, contended_))
        return queue_.release(request, latest, to);
    native::value_of(request.owner, request.dead_holder_grace, value_);
    using removal = native_handshake::removal;
    call made{.forms = {answer_form::number},
              .name = contended_names::key_of(request.name),
              .fast_path = true};
    switch (handshake_.known_removal) {
    case removal::delifeq: push_command(to, "DELIFEQ", request.name, value_); break;
    case removal::delex: push_command(to, "DELEX", request.name, "IFEQ", value_); break;
    case removal::script:
        push_command(to, "EVALSHA", scripts_.release.sha, 1, request.name, value_);
        made.called = &scripts_.release;
        break;
    }
    return made;
}

// A command that deletes a key under a condition costs no more than a share of the script. A node
// of a cluster serves the keys of a migrating slot one by one only.
bool native_commands::groups(const release_request& request) const
{
    return handshake_.known_removal == native_handshake::removal::script && !fences_.slots &&
           is_plain(request, contended_);
}

call native_commands::release_all(const release_group& group, boost::redis::request& to)
{
    words_.clear();
    words_.add(scripts_.release_all.sha);
    words_.add(static_cast<std::int64_t>(group.size()));
    for (std::size_t i = 0; i < group.size(); ++i)
        words_.add(group.request(i).name);
    for (std::size_t i = 0; i < group.size(); ++i)
        words_.write([&, each = group.request(i)](std::string& text) {
            native::value_of(each.owner, each.dead_holder_grace, value_);
            text += value_;
        });
    words_.push("EVALSHA", to);
    return {.called = &scripts_.release_all, .expects = group.size()};
}

call native_commands::renew(std::span<const renewal> renewals, boost::redis::request& to)
{
    // Entries of reentrant acquisitions have a key of their own.
    const bool reentered = std::any_of(renewals.begin(), renewals.end(),
                                       [](const renewal& each) { return !each.entry.empty(); });
    return reentered ? queue_.renew(renewals, to) : renew_briefly(renewals, to);
}

call native_commands::renew_briefly(std::span<const renewal> renewals, boost::redis::request& to)
{
    words_.clear();
    words_.add(scripts_.renew_brief.sha);
    words_.add(static_cast<std::int64_t>(renewals.size()));
    for (const renewal& each : renewals)
        words_.add(each.name);
    for (const renewal& each : renewals) {
        words_.write([&](std::string& text) { native::append_value_of(each.owner, text); });
        words_.add(each.lease.count());
    }
    words_.push("EVALSHA", to);
    return {.called = &scripts_.renew_brief, .expects = renewals.size(), .fast_path = true};
}

bool native_commands::goes_on(const call& made, answers replies)
{
    if (!made.fast_path)
        return false;
    if (made.called == &scripts_.renew_brief) {
        const auto& numbers = replies.front().numbers;
        return replies.front().is(made.expects) &&
               std::find(numbers.begin(), numbers.end(), 2) != numbers.end();
    }
    if (!takes_briefly(made)) // a release: the value had waiters or entries, or is another's
        return replies.front().is(1) && replies.front().numbers[0] == 0;
    const reply& first = answer_to_set(replies);
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
    return is_set(made, replies) && !has_block(made, answer_to_draw(replies));
}

/// Whether the fast path has set the lock: the previous value was null.
bool native_commands::is_set(const call& made, answers replies)
{
    const reply& set = answer_to_set(replies);
    return set.error.empty() && (made.gets ? !set.text : set.text == "OK");
}

bool native_commands::has_block(const call& made, const reply& drawn)
{
    return drawn.is(1) && native_fences::fits(made, drawn.numbers[0], made.fences);
}

call native_commands::go_on(const call& made, answers replies,
                            std::span<const std::string_view> written, boost::redis::request& to)
{
    call next = queue_.go_on(made, written, to);
    next.holds = made.called == &scripts_.renew_brief || // it continues only for its own locks
                 (takes_briefly(made) && is_set(made, replies));
    return next;
}

parsed<acquire_reply> native_commands::acquired(const call& made, answers replies)
{
    return made.fast_path ? acquired_short(made, replies) : queue_.acquired(made, replies.front());
}

parsed<acquire_reply> native_commands::acquired_short(const call& made, answers replies)
{
    using outcome = acquire_reply::outcome;
    parsed<acquire_reply> result;
    const reply& set = answer_to_set(replies);
    const reply& drawn = answer_to_draw(replies);
    if (is_set(made, replies)) {
        // The slow path could not be sent, so the owner sends the acquire again.
        if (!drawn.is(1) || !fences_.take(made, drawn.numbers[0], made.fences, result.reply))
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
        if (made.needs_holder && !holder.empty())
            result.reply.details = held_by(holder_name(holder));
    }
    return result;
}

error_code native_commands::renewed(answers replies, std::span<renewal_result> results) const
{
    return read_renewals(replies.front(), results);
}

parsed<release_reply> native_commands::released(const call& made, answers replies)
{
    if (!made.fast_path)
        return queue_.released(made, replies.front());
    const reply& answer = replies.front();
    parsed<release_reply> result;
    if (!is_count(answer))
        result.code = errc::outcome_unknown;
    else if (answer.numbers[0] == 0) // nothing was done; the slow path could not be sent
        result.code = errc::store_unavailable;
    else
        result.reply.result = release_reply::outcome::freed;
    return result;
}

} // namespace leasehold::redis_store
