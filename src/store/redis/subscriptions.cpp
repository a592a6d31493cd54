#include "store/redis/subscriptions.hpp"

#include "mutant.hpp"
#include "store/redis/protocol/key_names.hpp"
#include "store/redis/protocol/reply.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace leasehold::redis_store {
namespace {

// Permissions change seldom; until then waiters look again by themselves.
constexpr std::chrono::seconds pause_when_denied{30};

std::shared_ptr<boost::redis::request> make_request()
{
    return std::make_shared<boost::redis::request>(
        boost::redis::request::config{.cancel_on_connection_lost = true,
                                      .cancel_if_unresponded = true,
                                      .hello_with_priority = false});
}

} // namespace

void subscriptions::open(const asio::any_io_executor& strand,
                         const std::shared_ptr<context_poster>& home, store_listener& listener)
{
    asio::use_service<detail::context_lifetime>(asio::query(strand, asio::execution::context))
        .add(shared_from_this());
    strand_ = strand;
    home_ = home;
    listener_ = &listener;
}

void subscriptions::close() noexcept
{
    listener_ = nullptr;
    attempting_ = false;
    names_.clear();
    pending_.reset();
    if (const auto last = std::exchange(connection_, nullptr))
        last->close();
}

void subscriptions::on_context_end() noexcept
{
    listener_ = nullptr;
    attempting_ = false;
    pending_.reset();
    if (const auto last = std::exchange(connection_, nullptr))
        last->drop();
    strand_ = {};
}

void subscriptions::on_fork() noexcept
{
    if (const auto last = std::exchange(connection_, nullptr))
        last->close();
    on_context_end();
}

void subscriptions::watch(std::string_view name)
{
    if (listener_ == nullptr)
        return;
    release_channel(name, channel_);
    std::vector<std::string>& sharing = names_[channel_];
    if (std::find(sharing.begin(), sharing.end(), name) != sharing.end())
        return;
    sharing.emplace_back(name);
    if (!connection_) {
        const auto made = std::make_shared<reconnecting_connection>(*from_, strand_, where_);
        // Later, because this is inside a call.
        home_->post([self = shared_from_this(), made] {
            if (self->connection_ == made)
                made->open(*self);
        });
        connection_ = made;
        return;
    }
    say("SUBSCRIBE", channel_);
}

void subscriptions::unwatch(std::string_view name)
{
    release_channel(name, channel_);
    const auto found = names_.find(channel_);
    if (found == names_.end() || std::erase(found->second, name) == 0 || !found->second.empty())
        return;
    names_.erase(found);
    say("UNSUBSCRIBE", channel_);
}

// All of them again, each confirmed by a push of its own.
void subscriptions::on_attempt()
{
    attempting_ = true;
    pending_.reset();
    for (const auto& [channel, names] : names_) {
        say("SUBSCRIBE", channel);
        if (has(mutant::one_channel_again))
            break;
    }
    flush();
}

void subscriptions::on_lost(error_code why, std::string_view)
{
    if (why == condition::bad_request)
        allowed_ = false;
    attempting_ = false;
    pending_.reset();
}

void subscriptions::on_push(const std::vector<std::string>& words)
{
    // "subscribe": the watch is in effect, and a release before it may have been missed. "message":
    // one was published.
    if (words.size() < 2 || (words[0] != "message" && words[0] != "subscribe"))
        return;
    allowed_ = true;
    const auto found = names_.find(words[1]);
    if (found == names_.end() || listener_ == nullptr)
        return;
    const std::vector<std::string> names = found->second; // the listener may unwatch them
    for (const std::string& each : names) {
        if (listener_ != nullptr)
            listener_->on_hint(each);
    }
}

void subscriptions::on_stray_error(const std::string& text)
{
    const error_code why = classify(text);
    if (!connection_)
        return;
    if (why == condition::bad_request)
        connection_->reset(why, text, pause_when_denied);
    else
        connection_->reset(why, text);
}

void subscriptions::say(std::string_view verb, std::string_view channel)
{
    if (!attempting_)
        return;
    if (!pending_) {
        auto made = make_request();
        home_->post([self = shared_from_this()] { self->flush(); });
        pending_ = std::move(made);
    }
    pending_->push(verb, channel);
}

void subscriptions::flush()
{
    if (!pending_ || !connection_)
        return;
    const auto sent = std::exchange(pending_, nullptr);
    connection_->send(*sent, boost::redis::any_adapter(), {}, [sent](error_code, bool) {});
}

} // namespace leasehold::redis_store
