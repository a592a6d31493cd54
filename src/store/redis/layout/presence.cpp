#include "store/redis/layout/presence.hpp"

#include "store/redis/layout/native_names.hpp"
#include "store/redis/protocol/key_names.hpp"

#include <string>

namespace leasehold::redis_store {

void ask_for(config::key_layout keys, const renewal& held, boost::redis::request& to)
{
    if (keys == config::key_layout::redisson) {
        const std::string marker = held.entry.empty() ? std::string(held.owner)
                                                      : entry_field(held.owner, held.entry);
        to.push("HEXISTS", held.name, marker);
    }
    else if (held.entry.empty()) {
        to.push("GET", held.name);
    }
    else {
        std::string key;
        native::entries_key(held.name, key);
        to.push("HEXISTS", key, held.entry);
    }
}

bool is_there(config::key_layout keys, const renewal& held, const reply& answer)
{
    if (keys == config::key_layout::native && held.entry.empty())
        return answer.error.empty() && answer.text && native::owner_of(*answer.text) == held.owner;
    return answer.is(1) && answer.numbers.front() == 1;
}

} // namespace leasehold::redis_store
