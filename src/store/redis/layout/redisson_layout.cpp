#include "store/redis/layout/redisson_layout.hpp"

#include "store/redis/layout/answers.hpp"
#include "store/redis/protocol/key_names.hpp"
#include "store/redis/protocol/server_clock.hpp"

#include <algorithm>

namespace leasehold::redis_store {

namespace {

/// All fences that were asked for; the last is twice the server's time.
said<acquire_reply> acquired_all(const call& made, std::int64_t last)
{
    if (made.fences == 0 || last < made.fences || last % 2 != 0 || !is_server_time(last / 2))
        return {errc::outcome_unknown, {}};
    said<acquire_reply> result{{}, {}, last / 2};
    result.reply.result = acquire_reply::outcome::granted;
    result.reply.first_fence = static_cast<std::uint64_t>(last) - made.fences + 1;
    result.reply.fences = made.fences;
    return result;
}

} // namespace

call redisson_layout::acquire(const acquire_request& asked, std::int64_t latest,
                              boost::redis::request& to)
{
    fence_key(asked.name, key_);
    const auto say = [&](const auto&... more) {
        to.push("EVALSHA", acquire_script().sha, 2, asked.name, key_, asked.owner,
                asked.lease.count(), asked.fences, latest, fence_retention_.count(), more...);
    };
    if (asked.asks_holder)
        say(asked.entry, 1);
    else if (!asked.entry.empty())
        say(asked.entry);
    else
        say();
    return {.called = &acquire_script(),
            .expects = 4,
            .forms = {answer_form::number_or_numbers},
            .fences = asked.entry.empty() ? asked.fences : 0};
}

call redisson_layout::release(const release_request& asked, std::int64_t, boost::redis::request& to)
{
    release_channel(asked.name, key_);
    const auto say = [&](const auto&... more) {
        to.push("EVALSHA", release_script().sha, 1, asked.name, asked.owner, key_, more...);
    };
    if (in_cluster_)
        say(asked.entry, "SPUBLISH");
    else if (!asked.entry.empty())
        say(asked.entry);
    else
        say();
    return {.called = &release_script(), .forms = {answer_form::number}};
}

call redisson_layout::renew(std::span<const renewal> asked, boost::redis::request& to)
{
    words_.clear();
    words_.add(renew_script().sha);
    words_.add(static_cast<std::int64_t>(asked.size()));
    for (const renewal& each : asked)
        words_.add(each.name);
    for (const renewal& each : asked) {
        if (each.entry.empty())
            words_.add(each.owner);
        else
            words_.write([&](std::string& text) { text += entry_field(each.owner, each.entry); });
        words_.add(each.lease.count());
    }
    words_.push("EVALSHA", to);
    return {.called = &renew_script(), .expects = asked.size()};
}

// What the script never says is no proof of anything.
said<acquire_reply> redisson_layout::acquired(const call& made, answers told)
{
    using outcome = acquire_reply::outcome;
    const reply& answer = told.front();
    const auto& numbers = answer.numbers;
    if (answer.is(1))
        return acquired_all(made, numbers[0]);
    if (!answer.is(4) || !is_server_time(numbers[3]))
        return {errc::outcome_unknown, {}};
    said<acquire_reply> result{{}, {}, numbers[3]};
    acquire_reply& reply = result.reply;
    switch (numbers[0]) {
    case 1:
        if (made.fences > 0 && (numbers[1] <= 0 || numbers[2] <= 0 || numbers[2] > made.fences)) {
            result.code = errc::outcome_unknown;
            break;
        }
        reply.result = outcome::granted;
        reply.first_fence = static_cast<std::uint64_t>(numbers[1]);
        reply.fences = static_cast<std::uint32_t>(numbers[2]);
        break;
    case 0:
        reply.result = outcome::held;
        reply.remaining = time_left(numbers[1]);
        result.holder_hidden = numbers[2] < 0;
        if (numbers[2] > 0)
            reply.details = held_by(numbers[2]);
        break;
    case -1: reply.result = outcome::late; break;
    case -2: reply.result = outcome::gone; break;
    default: result.code = errc::outcome_unknown;
    }
    return result;
}

error_code redisson_layout::renewed(answers told, std::span<renewal_result> results) const
{
    return read_renewals(told.front(), results);
}

said<release_reply> redisson_layout::released(const call&, answers told)
{
    using outcome = release_reply::outcome;
    const reply& answer = told.front();
    const auto& numbers = answer.numbers;
    said<release_reply> result;
    release_reply& reply = result.reply;
    if (!answer.is(1) || numbers[0] < -3) {
        result.code = errc::outcome_unknown;
        return result;
    }
    switch (numbers[0]) {
    case -3: reply.result = outcome::not_owner; break;
    case -2: reply.result = outcome::left; break;
    default:
        reply.result = outcome::freed;
        reply.receivers = static_cast<std::uint64_t>(std::max<std::int64_t>(numbers[0], 0));
        reply.receivers_known = numbers[0] >= 0;
    }
    return result;
}

} // namespace leasehold::redis_store
