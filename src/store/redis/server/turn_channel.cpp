#include "store/redis/server/turn_channel.hpp"

#include "base/mutant.hpp"
#include "store/redis/layout/native_names.hpp"

namespace leasehold::redis_store {

void turn_channel::on_silence() noexcept
{
    hears_ = false;
}

void turn_channel::belongs_to(std::string_view owner)
{
    if (channel_.empty())
        native::turn_channel(native::client_of(owner), channel_);
}

void turn_channel::listen(slot_number)
{
    if (!is_made() && listener() != nullptr)
        connect();
}

void turn_channel::on_attempt()
{
    const auto asked = make_request();
    asked->push("SUBSCRIBE", channel_);
    send(asked);
}

void turn_channel::on_lost(error_code, std::string_view)
{
    hears_ = false;
}

void turn_channel::on_push(const std::vector<std::string>& words)
{
    if (words.size() < 3 || words[1] != channel_ || listener() == nullptr)
        return;
    if (words[0] == "subscribe") {
        // Turns before this may have been missed, and whoever is in line is not known to listen.
        hears_ = true;
        if (!has(mutant::listening_not_looked))
            listener()->on_listening(0);
        return;
    }
    if (words[0] != "message" || has(mutant::turn_ignored))
        return;
    // "<value of the owner> <name>"
    const std::string_view told = words[2];
    const std::size_t space = told.find(' ');
    const std::string_view owner = native::owner_of(told.substr(0, space));
    if (space != std::string_view::npos && !owner.empty())
        listener()->on_turn(told.substr(space + 1), owner);
}

} // namespace leasehold::redis_store
