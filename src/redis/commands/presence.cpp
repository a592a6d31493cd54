#include "redis/commands/presence.hpp"

#include "redis/protocol/command_words.hpp"
#include "redis/protocol/key_names.hpp"

#include <string>
#include <string_view>

namespace leasehold::redis_store {

void ask_for(const key_form& of, const renewal& held, boost::redis::request& to)
{
    if (of.layout == redis_config::key_layout::redisson) {
        const std::string marker = held.entry.empty() ? std::string(held.owner)
                                                      : entry_field(held.owner, held.entry);
        push_command(to, "HEXISTS", held.name, marker);
    }
    else if (held.entry.empty()) {
        push_command(to, "GET", held.name);
    }
    else {
        std::string key;
        of.keys.entries(held.name, key);
        push_command(to, "HEXISTS", key, held.entry);
    }
}

bool is_there(redis_config::key_layout layout, const renewal& held, const reply& answer)
{
    if (layout == redis_config::key_layout::native && held.entry.empty())
        return answer.error.empty() && answer.text && native::owner_of(*answer.text) == held.owner;
    return is_extended(answer);
}

void extend(const key_form& of, const renewal& held, bool with_text, boost::redis::request& to)
{
    const script& by = script_to_extend(of.layout);
    const std::string_view command = with_text ? "EVAL" : "EVALSHA";
    const std::string_view called = with_text ? by.text : std::string_view(by.sha);
    if (of.layout == redis_config::key_layout::redisson) {
        const std::string field = held.entry.empty() ? std::string(held.owner)
                                                     : entry_field(held.owner, held.entry);
        push_command(to, command, called, 1, held.name, field, held.lease.count());
    }
    else {
        std::string entries;
        of.keys.entries(held.name, entries);
        std::string value;
        native::value_of(held.owner, value);
        push_command(to, command, called, 2, held.name, entries, value, held.lease.count(),
                     held.entry);
    }
}

const script& script_to_extend(redis_config::key_layout layout)
{
    return layout == redis_config::key_layout::redisson ? renew_script() : of_native().renew;
}

bool is_extended(const reply& answer)
{
    return answer.is(1) && answer.numbers.front() == 1;
}

} // namespace leasehold::redis_store
