#include "redis/commands/native_handshake.hpp"

#include "base/mutant.hpp"
#include "redis/commands/native_keys.hpp"
#include "redis/protocol/command_words.hpp"

#include <algorithm>

namespace leasehold::redis_store {
namespace {

/// Whether the server knows the command. A node without the slot of the key redirects known
/// commands.
bool is_known(const reply& answer) noexcept
{
    return (answer.is(1) && (answer.numbers[0] == 0 || answer.numbers[0] == 1)) ||
           answer.error.starts_with("MOVED ") || answer.error.starts_with("ASK ");
}

} // namespace

// The greetings after those that kill earlier connections.
enum class native_handshake::greets : std::size_t
{
    info,
    delifeq,
    delex,
    raise,
    count_,
};

std::size_t native_handshake::greetings()
{
    ended_.begin();
    if (has(mutant::connections_not_ended))
        ended_.forget();
    known_removal = removal::script;
    ++servers_;
    fences_.owed = 0;
    // In a cluster each draw raises the counter of its slot.
    return ended_.count() +
           static_cast<std::size_t>(fences_.slots ? greets::raise : greets::count_);
}

call native_handshake::greeting(std::size_t number, boost::redis::request& to)
{
    if (number < ended_.count()) {
        ended_.end(number, to);
        return {.forms = {answer_form::number}};
    }
    switch (static_cast<greets>(number - ended_.count())) {
    case greets::info: push_command(to, "CLIENT", "INFO"); return {.forms = {answer_form::text}};
    // No fence is "-", so a server that knows the command deletes nothing.
    case greets::delifeq:
        push_command(to, "DELIFEQ", keys_.fence(), "-");
        return {.forms = {answer_form::number}};
    case greets::delex:
        push_command(to, "DELEX", keys_.fence(), "IFEQ", "-");
        return {.forms = {answer_form::number}};
    default:
        push_command(to, "EVALSHA", scripts_.raise.sha, 1, keys_.fence(), fences_.floor);
        return {.called = &scripts_.raise, .expects = 1};
    }
}

error_code native_handshake::greeted(std::size_t number, answers replies, error_code refused)
{
    const reply& answer = replies.front();
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
            known_removal = removal::delifeq;
        return {};
    case greets::delex:
        if (is_known(answer))
            known_removal = removal::delex;
        if (fences_.slots)
            ended_.forget(); // the last greeting
        return {};
    default: return raised(answer, refused);
    }
}

error_code native_handshake::raised(const reply& answer, error_code refused)
{
    if (refused && is_without_room(answer.error)) {
        // A server without memory can still renew and release.
        if (!has(mutant::refused_raise_forgotten))
            fences_.owed = servers_;
        ended_.forget();
        return {};
    }
    if (refused)
        return refused;
    if (!answer.is(1) || answer.numbers[0] <= 0)
        return errc::store_refused;
    fences_.floor = std::max(fences_.floor, static_cast<std::uint64_t>(answer.numbers[0]));
    ended_.forget();
    return {};
}

} // namespace leasehold::redis_store
