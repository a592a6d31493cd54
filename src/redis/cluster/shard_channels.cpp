#include "redis/cluster/shard_channels.hpp"

#include "base/mutant.hpp"

#include <boost/redis/resp3/serialization.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace leasehold::redis_store::cluster {
namespace {

// An unconfirmed channel is requested again after this time: an error may have been taken for the
// reply to a health check.
constexpr std::chrono::seconds confirmation_patience{2};

/// Ends the current command and appends another one.
struct command_behind
{
    std::string_view verb, channel;
};

void boost_redis_to_bulk(std::string& to, const command_behind& what)
{
    using boost::redis::resp3::boost_redis_to_bulk;
    boost_redis_to_bulk(to, std::string_view("-")); // no channel, so nothing is unsubscribed
    to += "*2\r\n";
    boost_redis_to_bulk(to, what.verb);
    boost_redis_to_bulk(to, what.channel);
}

} // namespace

void shard_connection::subscribe(std::string_view channel)
{
    if (!is_made())
        return connect(); // which subscribes to all channels
    channel_connection::say("UNSUBSCRIBE", command_behind{"SSUBSCRIBE", channel});
}

void shard_connection::unsubscribe(std::string_view channel)
{
    if (!is_made())
        return;
    channel_connection::say("UNSUBSCRIBE", command_behind{"SUNSUBSCRIBE", channel});
    leaving_.emplace(channel);
}

bool shard_connection::has_left(std::string_view channel)
{
    const auto found = leaving_.find(channel);
    if (found == leaving_.end())
        return false;
    leaving_.erase(found);
    return true;
}

void shard_connection::on_attempt()
{
    begin_saying();
    leaving_.clear();
    subscribed_ = false;
    if (owner_ != nullptr)
        owner_->on_attempt(*this, node_);
    flush();
}

void shard_connection::on_lost(error_code why, std::string_view)
{
    stop_saying();
    if (owner_ != nullptr)
        owner_->on_lost(node_, why);
}

void shard_connection::on_push(const std::vector<std::string>& words)
{
    if (owner_ != nullptr)
        owner_->on_push(*this, node_, words);
}

bool shard_connection::on_refusal(const std::string& text)
{
    return owner_ != nullptr && owner_->on_refusal(node_, text);
}

void shard_connection::on_silence() noexcept
{
    owner_ = nullptr;
    stop_saying();
}

shard_channels::shard_channels(std::shared_ptr<environment> from, user callbacks)
    : from_(std::move(from)), callbacks_(std::move(callbacks))
{}

void shard_channels::open(const asio::any_io_executor& strand,
                          const std::shared_ptr<detail::context_poster>& poster,
                          store_listener& listener)
{
    strand_ = strand;
    poster_ = poster;
    listener_ = &listener;
}

void shard_channels::close() noexcept
{
    listener_ = nullptr;
    channels_.clear();
    for (const auto& [node, each] : std::exchange(connections_, {}))
        each->close();
}

shard_connection& shard_channels::at(store_partition node)
{
    auto& place = connections_[node];
    if (!place) {
        place = std::make_shared<shard_connection>(callbacks_.settings_of(node), from_, *this,
                                                   node);
        place->open(strand_, poster_, *listener_);
    }
    return *place;
}

void shard_channels::want(const std::string& channel, slot_number slot)
{
    if (listener_ == nullptr)
        return;
    const auto found = channels_.try_emplace(channel, channel_state{.slot = slot}).first;
    place(found->first, found->second);
}

void shard_channels::unwant(const std::string& channel)
{
    const auto found = channels_.find(channel);
    if (found == channels_.end())
        return;
    if (found->second.node != 0)
        at(found->second.node).unsubscribe(channel);
    channels_.erase(found);
}

bool shard_channels::is_subscribed(const std::string& channel, store_partition node) const
{
    const auto found = channels_.find(channel);
    return found != channels_.end() && found->second.subscribed && found->second.node == node;
}

/// Subscribes at the node that serves the channel's slot.
void shard_channels::place(const std::string& channel, channel_state& state)
{
    state.subscribed = false;
    state.node = callbacks_.node_of(state.slot);
    state.sent_at = callbacks_.now();
    if (state.node != 0)
        at(state.node).subscribe(channel);
}

void shard_channels::on_map()
{
    if (listener_ == nullptr || has(mutant::channels_stay))
        return;
    for (auto& [channel, state] : channels_) {
        const store_partition node = callbacks_.node_of(state.slot);
        if (node == state.node)
            continue;
        if (state.node != 0)
            at(state.node).unsubscribe(channel);
        place(channel, state);
    }
    // A connection without channels.
    for (auto i = connections_.begin(); i != connections_.end();) {
        const bool used = std::any_of(channels_.begin(), channels_.end(), [&](const auto& each) {
            return each.second.node == i->first;
        });
        if (used) {
            ++i;
            continue;
        }
        // Later: this may be inside one of its own calls.
        i->second->forget_owner();
        poster_->post([unused = i->second] { unused->close(); });
        i = connections_.erase(i);
    }
}

void shard_channels::check()
{
    if (listener_ == nullptr)
        return;
    const auto now = callbacks_.now();
    bool lost = false;
    for (auto& [channel, state] : channels_) {
        if (state.subscribed || now < state.sent_at + confirmation_patience)
            continue;
        lost = true;
        place(channel, state);
    }
    if (lost)
        callbacks_.on_lost_slot();
}

clock::time_point shard_channels::next_check() const
{
    auto next = clock::time_point::max();
    for (const auto& [channel, state] : channels_) {
        if (!state.subscribed)
            next = std::min<clock::time_point>(next, state.sent_at + confirmation_patience);
    }
    return next;
}

void shard_channels::on_attempt(shard_connection& of, store_partition node)
{
    for (auto& [channel, state] : channels_) {
        if (state.node == node) {
            state.sent_at = callbacks_.now();
            of.subscribe(channel);
        }
    }
    callbacks_.on_change();
}

void shard_channels::on_lost(store_partition node, error_code why)
{
    if (why == condition::bad_request)
        allowed_ = false;
    for (auto& [channel, state] : channels_) {
        if (state.node == node)
            state.subscribed = false;
    }
    callbacks_.on_change();
}

void shard_channels::on_push(shard_connection& of, store_partition node,
                             const std::vector<std::string>& words)
{
    if (words.size() < 3 || listener_ == nullptr)
        return;
    if (words[0] == "sunsubscribe" && of.has_left(words[1]))
        return;
    const auto found = channels_.find(words[1]);
    if (found == channels_.end() || found->second.node != node)
        return;
    if (words[0] == "ssubscribe") {
        allowed_ = true;
        found->second.subscribed = true;
        const std::string channel = found->first; // the channel may soon be unwanted
        callbacks_.on_subscribed(channel, node, of.is_first());
    }
    else if (words[0] == "smessage") {
        const std::string channel = found->first;
        callbacks_.on_message(channel, words[2]);
    }
    else if (words[0] == "sunsubscribe" && !has(mutant::channels_stay)) {
        // Not requested: another node serves the slot.
        found->second.subscribed = false;
        found->second.node = 0;
        found->second.sent_at = callbacks_.now();
        callbacks_.on_lost_slot();
    }
}

bool shard_channels::on_refusal(store_partition node, const std::string& text)
{
    // Valkey 8.0's reply to UNSUBSCRIBE on a connection without a subscription. It executes the
    // command behind it.
    if (text.starts_with("NOSUB"))
        return true;
    const redirection redirected = read_redirection(text);
    if (redirected.what == redirection::kind::none || listener_ == nullptr)
        return false;
    if (redirected.what == redirection::kind::moved)
        callbacks_.on_moved(node, redirected);
    else
        callbacks_.on_lost_slot();
    return true; // unconfirmed channels are requested again
}

} // namespace leasehold::redis_store::cluster
