#include "testing/server/lock_request.hpp"

#include "redis/commands/native_keys.hpp"
#include "redis/redlock/member_commands.hpp"
#include "testing/server/known_script.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>

namespace leasehold::testing::impl {
namespace {

using redis_store::native::owner_of;

template <class T = std::int64_t>
T integer(std::string_view text) noexcept
{
    T value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

/// Of a list, or the only one.
std::int64_t number(const message& reply, std::size_t index)
{
    return integer(reply.nodes()[reply.size() == 1 ? 0 : index + 1].value);
}

/// The positions of the words of a call, as the store writes it; 0: there is none. If the store
/// changes the form, nothing must be misread silently.
struct call_form
{
    lock_request::kind what;
    std::size_t count;
    std::size_t owner;
    std::size_t entry;
    std::size_t next;
    std::size_t fences;
    std::size_t latest;
    std::size_t optional = 0; ///< This many of the last words may be missing.
};

constexpr std::size_t name_in_call = 3;

std::optional<call_form> form_of(known_script called)
{
    using kind = lock_request::kind;
    switch (called) {
    case known_script::acquire: return call_form{kind::acquire, 12, 5, 10, 0, 7, 8, 2};
    case known_script::release: return call_form{kind::release, 8, 5, 0, 0, 0, 0, 1};
    case known_script::queue_acquire: return call_form{kind::acquire, 17, 7, 0, 0, 9, 10};
    case known_script::queue_leave: return call_form{kind::release, 20, 7, 8, 12, 14, 15, 8};
    case known_script::native_acquire: return call_form{kind::acquire, 16, 7, 0, 0, 9, 10};
    case known_script::native_reenter: return call_form{kind::acquire, 9, 5, 8, 0, 0, 7};
    case known_script::native_leave: return call_form{kind::release, 19, 8, 9, 10, 12, 13};
    case known_script::native_release: return call_form{kind::release, 5, 4, 0, 0, 0, 0};
    case known_script::quorum_acquire: return call_form{kind::acquire, 15, 6, 0, 0, 9, 10};
    case known_script::quorum_reenter: return call_form{kind::acquire, 10, 6, 9, 0, 0, 8};
    case known_script::quorum_release: return call_form{kind::release, 9, 6, 7, 0, 0, 0};
    default: return std::nullopt;
    }
}

std::optional<lock_request> request_by_script(words command, known_script called)
{
    lock_request request;
    request.layout = is_native(called) ? redis_config::key_layout::native
                                       : redis_config::key_layout::redisson;
    request.of_member = is_of_quorum(called);
    request.name = command[name_in_call];
    const auto owner = [&](std::string_view word) {
        if (request.of_member)
            return word.substr(std::min(word.size(), quorum::mark.size()));
        return is_native(called) ? owner_of(word) : word;
    };
    if (is_renewal(called)) {
        request.what = lock_request::kind::renew;
        return request;
    }
    if (is_group(called)) {
        const auto keys = integer<std::size_t>(command[2]);
        request.what = lock_request::kind::release;
        request.group = true;
        request.as_known = command.size() == name_in_call + 2 * keys;
        if (request.as_known)
            request.owner = owner(command[name_in_call + keys]);
        return request;
    }
    const auto form = form_of(called);
    if (!form)
        return std::nullopt;
    request.what = form->what;
    // An owner with heartbeats adds a key and a time; one that does not acquire again names the
    // queue.
    const bool promises = called == known_script::native_acquire &&
                          command.size() == form->count + 2;
    const bool names_queue = called == known_script::acquire && command[2] == "3";
    // The queue is elsewhere while its slot migrates.
    const bool names_none = called == known_script::release && command[2] == "1";
    const std::size_t more = promises || names_queue ? 1 : 0;
    const bool reenters = called == known_script::acquire && !names_queue; // with an entry
    const std::size_t most = form->count + (names_queue ? 1 : 0) - (names_none ? 1 : 0);
    const std::size_t least = most - (reenters ? 1 : form->optional);
    request.as_known = promises || (command.size() <= most && command.size() >= least);
    if (!request.as_known)
        return request;
    const auto has_word = [&](std::size_t at) { return at != 0 && at + more < command.size(); };
    request.owner = owner(command[form->owner + more - (names_none ? 1 : 0)]);
    if (has_word(form->entry))
        request.entry = command[form->entry + more];
    if (has_word(form->next) && !command[form->next + more].empty())
        request.next = owner(command[form->next + more]);
    if (has_word(form->fences))
        request.fences = integer<std::uint32_t>(command[form->fences + more]);
    request.limited = has_word(form->latest) && command[form->latest + more] != "0";
    if (request.limited)
        request.latest = integer(command[form->latest + more]);
    return request;
}

std::optional<lock_request> plain_request(words command)
{
    lock_request request;
    request.layout = redis_config::key_layout::native;
    request.plain = true;
    std::string_view value;
    if (command.size() >= 6 && command[0] == "SET" && command[3] == "NX") {
        value = command[2];
        request.gets = command.back() == "GET";
    }
    else if (command.size() == 3 && command[0] == "DELIFEQ") {
        request.what = lock_request::kind::release;
        value = command[2];
    }
    else if (command.size() == 4 && command[0] == "DELEX") {
        request.what = lock_request::kind::release;
        value = command[3];
    }
    request.owner = owner_of(value);
    if (request.owner.empty())
        return std::nullopt;
    request.name = command[1];
    return request;
}

void take_block(std::string_view owner, std::int64_t last, std::int64_t count, lock_effect& effect)
{
    effect.taken = true;
    effect.owner = owner;
    effect.fences = static_cast<std::uint32_t>(count);
    effect.first_fence = static_cast<std::uint64_t>(last - count + 1);
}

void read_redisson(const lock_request& request, const message& reply, lock_effect& effect)
{
    if (request.what == lock_request::kind::release && reply.size() == 1) {
        effect.left = number(reply, 0) >= -1;
    }
    else if (request.what == lock_request::kind::release) {
        const std::int64_t status = number(reply, 0);
        effect.left = status == 1 || status == 4 || status == 5;
        if (number(reply, 2) == 1) {
            effect.taken = true;
            effect.owner = request.next;
            effect.first_fence = static_cast<std::uint64_t>(number(reply, 3));
            effect.fences = static_cast<std::uint32_t>(number(reply, 4));
        }
    }
    else if (reply.size() == 1) {
        take_block(request.owner, number(reply, 0), request.fences, effect);
    }
    else if (number(reply, 0) == 1 && !request.entry.empty()) {
        effect.reentered = true;
    }
    else if (number(reply, 0) == 1) {
        effect.taken = true;
        effect.owner = request.owner;
        effect.first_fence = static_cast<std::uint64_t>(number(reply, 1));
        effect.fences = static_cast<std::uint32_t>(number(reply, 2));
    }
}

/// A grant of a single member is no lock yet.
void read_member(const lock_request& request, const message& reply, lock_effect& effect)
{
    const std::int64_t status = number(reply, 0);
    if (request.what == lock_request::kind::release) {
        effect.left = status == 1;
    }
    else if (!request.entry.empty()) {
        effect.reentered = status == 1;
    }
    else if (status == 1 || status == 2) {
        effect.taken = true;
        effect.owner = request.owner;
        effect.fences = status == 1 ? request.fences : 0;
        effect.first_fence = static_cast<std::uint64_t>(number(reply, 1)) - effect.fences +
                             (status == 1 ? 1 : 0);
    }
}

void wait_in_queue(std::string_view owner, std::int64_t place, std::int64_t held_for,
                   lock_effect& effect)
{
    effect.queued = owner;
    effect.place = place;
    effect.held_for = held_for;
}

void read_native(const lock_request& request, const message& reply, lock_effect& effect)
{
    const std::int64_t status = number(reply, 0);
    if (request.what == lock_request::kind::release) {
        effect.left = status == 1 || status == 4 || status == 5;
        if (reply.size() > 2 && number(reply, 1) == 1)
            take_block(request.next, number(reply, 2), number(reply, 3), effect);
        else if (reply.size() > 3 && number(reply, 1) == 2)
            wait_in_queue(request.next, number(reply, 3), number(reply, 2), effect);
    }
    else if (status == 1) {
        if (request.entry.empty())
            take_block(request.owner, number(reply, 1), number(reply, 3), effect);
        else
            effect.reentered = true;
    }
    else if (status != -1 && request.entry.empty() && number(reply, 2) != -1) {
        wait_in_queue(request.owner, number(reply, 2), number(reply, 1), effect);
    }
}

std::string short_id(std::string_view owner)
{
    // The beginning distinguishes clients, the end their acquisitions.
    const auto colon = owner.find(':');
    return std::string(colon == std::string::npos || colon < 4 ? owner : owner.substr(0, 4)) +
           std::string(colon == std::string::npos || colon < 4 ? "" : owner.substr(colon));
}

std::string fence_text(std::uint64_t fence)
{
    return "fence " + std::to_string(fence % 1'000'000'000);
}

std::string release_text(const lock_request& request, const message& reply)
{
    if (request.plain)
        return reply.nodes().front().value == "1" ? "freed" : "not owner";
    const bool redisson = request.layout == redis_config::key_layout::redisson &&
                          !request.of_member;
    if (redisson && reply.size() == 1)
        return number(reply, 0) == -2 ? "not so short" : "freed";
    const std::size_t of_next = redisson ? 2 : 1;
    std::string text;
    switch (number(reply, 0)) {
    case 1: text = "freed"; break;
    case 2: text = "left"; break;
    case 3: text = "left the line"; break;
    case 4: text = "given to the next"; break;
    case 5: text = "left free for " + std::to_string(number(reply, of_next + 1)) + " ms"; break;
    default: text = "not owner"; break;
    }
    if (request.next.empty() || reply.size() < 3)
        return text;
    text += ", " + short_id(request.next);
    switch (number(reply, of_next)) {
    case 1: return text + " GRANTED " + fence_text(effect_of(request, reply).first_fence);
    case 2: return text + " in line at " + std::to_string(number(reply, of_next + 2));
    default: return text + " did not join";
    }
}

std::string vote_text(const lock_request& request, const message& reply)
{
    const std::int64_t status = number(reply, 0);
    if (!request.entry.empty())
        return status == 1 ? "entered" : status == -1 ? "too late" : "gone";
    const auto largest = fence_text(static_cast<std::uint64_t>(number(reply, 1)));
    switch (status) {
    case 1: return "accepted up to " + largest;
    case 2: return "taken, outbid by " + largest;
    case 0: return "held for " + std::to_string(number(reply, 2)) + " ms, " + largest;
    case -1: return "too late";
    case -3: return "no member";
    case -4: return "silent for " + std::to_string(number(reply, 2)) + " ms";
    case -5: return "in epoch " + std::to_string(number(reply, 2));
    default: return "too far ahead";
    }
}

std::string acquire_text(const lock_request& request, const message& reply)
{
    if (request.of_member)
        return vote_text(request, reply);
    if (request.plain) {
        const std::string& before = reply.nodes().front().value;
        return effect_of(request, reply).taken ? "TAKEN" : "held: " + before;
    }
    const std::int64_t status = number(reply, 0);
    if (status == 1 || reply.size() == 1)
        return request.entry.empty()
                   ? "GRANTED " + fence_text(effect_of(request, reply).first_fence)
                   : "entered";
    if (status == -1)
        return "too late";
    if (status == -2)
        return "gone";
    if (status == -3)
        return "others wait";
    const std::string text = "held for " + std::to_string(number(reply, 1)) + " ms";
    constexpr std::size_t with_queue = 6; // with the head of the list
    return reply.size() == with_queue ? text + ", in line at " + std::to_string(number(reply, 2))
                                      : text;
}

} // namespace

std::optional<lock_request> lock_request_of(words command)
{
    if (const auto called = script_of(command))
        return request_by_script(command, *called);
    return plain_request(command);
}

std::vector<lock_request> releases_of(words group)
{
    std::vector<lock_request> all;
    const bool native = is_native(*script_of(group));
    const std::size_t keys = (group.size() - name_in_call) / 2;
    // In the other layout a queue follows each lock, and a channel each owner.
    for (std::size_t i = 0; i < keys; i += native ? 1 : 2) {
        lock_request& each = all.emplace_back();
        each.what = lock_request::kind::release;
        each.layout = native ? redis_config::key_layout::native
                             : redis_config::key_layout::redisson;
        each.name = group[name_in_call + i];
        each.owner = group[name_in_call + keys + i];
        if (native)
            each.owner = owner_of(each.owner);
    }
    return all;
}

bool is_freed(const lock_request& group, const message& reply, std::size_t index)
{
    const std::int64_t status = number(reply, index);
    return group.layout == redis_config::key_layout::native ? status == 1 : status >= -1;
}

std::uint32_t fences_drawn_by(words command) noexcept
{
    return command.size() == 3 && command[0] == "INCRBY" &&
                   command[1] == redis_store::native_keys().fence()
               ? integer<std::uint32_t>(command[2])
               : 0;
}

lock_effect effect_of(const lock_request& request, const message& reply)
{
    lock_effect effect;
    if (reply.is_error() || request.what == lock_request::kind::renew || request.group)
        return effect;
    const auto& first = reply.nodes().front();
    if (request.of_member) {
        read_member(request, reply, effect);
    }
    else if (!request.plain && request.layout == redis_config::key_layout::redisson) {
        read_redisson(request, reply, effect);
    }
    else if (!request.plain) {
        read_native(request, reply, effect);
    }
    else if (request.what == lock_request::kind::release) {
        effect.left = first.value == "1";
    }
    else {
        // With GET it returns the previous value, without whether it was set.
        effect.taken = first.data_type == message::type::null ? request.gets : !request.gets;
        effect.owner = request.owner;
    }
    return effect;
}

std::string_view client_shown_alive(words command, const message& reply)
{
    const auto called = script_of(command);
    if (called == known_script::native_alive && !reply.is_error() && number(reply, 0) != 0)
        return command[name_in_call].substr(command[name_in_call].rfind(':') + 1);
    if (called != known_script::native_acquire || reply.is_error() || number(reply, 0) != 1 ||
        (number(reply, 2) & 2) == 0)
        return {};
    return redis_store::native::client_of(request_by_script(command, *called)->owner);
}

std::string describe_record(words command, std::string_view by, const message& reply)
{
    const auto called = script_of(command);
    const char* const verb = called == known_script::quorum_inspect ? "look"
                             : called == known_script::quorum_adopt ? "adopt"
                             : called == known_script::quorum_seed  ? "seed"
                                                                    : nullptr;
    if (verb == nullptr)
        return {};
    std::string text(verb);
    text.append(by).append(" ->");
    for (const auto& node : reply.nodes())
        text.append(" ").append(node.value);
    return text;
}

std::string describe(const lock_request& request, std::string_view by, const message& reply)
{
    using kind = lock_request::kind;
    const char* verb = "renew ";
    if (request.what == kind::acquire)
        verb = request.plain ? "set " : request.entry.empty() ? "acquire " : "enter ";
    else if (request.what == kind::release)
        verb = request.plain ? "delete " : request.entry.empty() ? "release " : "leave ";
    std::string text(verb);
    text.append(request.name).append(by);
    if (request.what != kind::renew)
        text += " as " + short_id(request.owner);
    text += " -> ";
    if (reply.is_error())
        return text + reply.nodes().front().value;
    if (request.what == kind::acquire)
        return text + acquire_text(request, reply);
    if (request.what == kind::release && !request.group)
        return text + release_text(request, reply);
    if (request.group) {
        for (std::size_t i = 0; i + 1 < reply.size(); ++i)
            text += is_freed(request, reply, i) ? "freed " : "not owner ";
        return text;
    }
    for (std::size_t i = 0; i + 1 < reply.size(); ++i)
        text += number(reply, i) == 1 ? "renewed " : number(reply, i) == 2 ? "free " : "GONE ";
    return text;
}

} // namespace leasehold::testing::impl
