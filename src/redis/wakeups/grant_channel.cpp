#include "redis/wakeups/grant_channel.hpp"

#include "base/mutant.hpp"

#include <chrono>

namespace leasehold::redis_store {
namespace {

// The application may replace the connection of the commands without a notification.
constexpr std::chrono::seconds believed_for{10};

} // namespace

void grant_channel::on_silence() noexcept
{
    forget();
}

void grant_channel::forget() noexcept
{
    subscribed_ = false;
    receives_ = false;
    ++asked_;
}

void grant_channel::belongs_to(std::string_view owner)
{
    if (channel_.empty())
        keys_.grants(native::client_of(owner), channel_);
}

void grant_channel::listen(slot_number)
{
    if (!is_made() && listener() != nullptr)
        connect();
    else if (now() >= ask_again_)
        verify();
}

void grant_channel::verify()
{
    if (!subscribed_)
        return;
    ask_again_ = now() + believed_for;
    publish(channel_,
            [weak = weak_from_this(), this, number = ++asked_](error_code failed, answers replies) {
                if (const auto stays = weak.lock(); stays && number == asked_)
                    checked(failed, replies);
            });
}

void grant_channel::checked(error_code failed, answers replies)
{
    if (failed) { // there is no reply
        ask_again_ = {};
        return;
    }
    // If a user may not publish, the scripts count every owner as a listener.
    const bool elsewhere = replies.front().is(1) && replies.front().numbers[0] == 0;
    const bool received = std::exchange(receives_, !elsewhere);
    if (elsewhere) {
        forget();
        begin_again(errc::store_refused, {});
    }
    // Earlier grants may have been missed, and the store may be wrong about which owners in the
    // queue listen.
    if (received != receives_ && !has(mutant::listening_not_checked))
        listener()->on_listening(0);
}

void grant_channel::on_attempt()
{
    const auto request = make_request();
    request->push("SUBSCRIBE", channel_);
    send(request);
}

void grant_channel::on_lost(error_code, std::string_view)
{
    forget();
}

void grant_channel::on_push(const std::vector<std::string>& words)
{
    if (words.size() < 3 || words[1] != channel_ || listener() == nullptr)
        return;
    if (words[0] == "subscribe") {
        subscribed_ = true;
        return verify();
    }
    if (words[0] != "message" || has(mutant::turn_ignored))
        return;
    // "<value of the owner> <name>"
    const std::string_view text = words[2];
    const std::size_t space = text.find(' ');
    const std::string_view owner = native::owner_of(text.substr(0, space));
    if (space != std::string_view::npos && !owner.empty())
        listener()->on_grant(text.substr(space + 1), owner);
}

} // namespace leasehold::redis_store
