#include "redis/cluster/shards.hpp"

#include "base/mutant.hpp"
#include "redis/commands/native_commands.hpp"
#include "redis/commands/redisson_commands.hpp"
#include "redis/config/address.hpp"
#include "redis/protocol/key_names.hpp"

#include <algorithm>
#include <utility>

namespace leasehold::redis_store::cluster {

shards::shards(const redis_config& settings, std::shared_ptr<environment> from)
    : settings_(settings),
      from_(std::move(from)),
      time_(from_->make_time()),
      random_(detail::seed_of(*time_)),
      of_nodes_({.on_settled =
                     [this](master_node& which) {
                         if (listener_ != nullptr)
                             listener_->on_settled(which.partition);
                     },
                 .on_up = [this](master_node& which) { on_up(which); },
                 .on_down = [this](master_node& which, error_code why) { on_down(which, why); },
                 .on_error =
                     [this](master_node& by, error_code code, const diagnostics& details) {
                         // A moved slot is not an error of the lock.
                         if (listener_ != nullptr &&
                             read_redirection(details.server_message).what ==
                                 redirection::kind::none)
                             listener_->on_error(by.partition, code, details);
                     }}),
      map_(of_nodes_),
      refresh_(settings_, from_, random_),
      channels_(from_, {.on_subscribed =
                            [this](const std::string& channel, store_partition at, bool first) {
                                const bool of_grants = grants_->is_channel(channel);
                                if (of_grants || first)
                                    grants_->on_subscribed(*listener_, channel, at, first);
                                if (!of_grants)
                                    wakeup(channel);
                            },
                        .on_message =
                            [this](const std::string& channel, const std::string& text) {
                                if (grants_->is_channel(channel))
                                    grant_channels::on_message(*listener_, text);
                                else
                                    wakeup(channel);
                            },
                        .node_of = [this](slot_number slot) { return map_[slot]; },
                        .settings_of =
                            [this](store_partition partition) {
                                return settings_of(map_.get(partition).at);
                            },
                        .on_moved = [this](store_partition by,
                                           const redirection& to) { learn(to, map_.get(by)); },
                        .on_lost_slot = [this] { want_map(); },
                        .on_change = [this] { set_timer(); },
                        .now = [this] { return now(); }}),
      grants_(std::make_shared<grant_channels>(channels_, settings_.prefix)),
      watched_(settings.layout == redis_config::key_layout::native
                   ? nullptr
                   : std::make_unique<watched_names>(channels_)),
      note_(client_note::make(settings_, *from_)),
      router_(settings_, map_, *time_, random_, *grants_,
              {.open = [this](master_node& which) { open_node(which); },
               .learn = [this](const redirection& to, master_node& by) { learn(to, by); },
               .want_map = [this] { want_map(); },
               .tidy = [this] { tidy(); },
               .server_of = [this](store_partition node) { return server_of(node); },
               .on_change = [this] { set_timer(); }})
{}

shards::~shards() = default;

void shards::wakeup(const std::string& channel)
{
    watched_->on_wakeup(channel, [this](std::string_view name) {
        if (listener_ != nullptr)
            listener_->on_wakeup(name);
    });
}

store_traits shards::traits() const noexcept
{
    store_traits result = watched_
                              ? redisson_commands(settings_.fence_retention, nullptr, true).traits()
                              : native_commands(nullptr, true, floors_).traits();
    result.replica_acks = true;
    result.describes_holders = note_ != nullptr;
    return result;
}

std::string shards::server_of(store_partition partition) const
{
    if (map_.knows(partition))
        return name_of(map_.get(partition).at);
    return "the cluster of " + name_of(settings_.addresses.front());
}

void shards::open(const asio::any_io_executor& strand, store_listener& listener)
{
    asio::use_service<detail::context_lifetime>(asio::query(strand, asio::execution::context))
        .add(shared_from_this());
    strand_ = strand;
    poster_ = detail::context_poster::make(strand);
    listener_ = &listener;
    time_->open(strand, [weak = weak_from_this()] {
        if (const auto self = weak.lock())
            self->on_time();
    });
    channels_.open(strand, poster_, listener);
    router_.open(std::shared_ptr<request_router>(shared_from_this(), &router_), poster_);
    want_map();
}

void shards::close() noexcept
{
    if (std::exchange(listener_, nullptr) == nullptr)
        return;
    time_->close();
    router_.close();
    refresh_.close();
    channels_.close();
    grants_->close();
    for (const auto& each : map_.nodes())
        each->close();
    try {
        router_.refuse_all();
    }
    catch (const std::bad_alloc&) {
        router_.forget_all(); // they may keep this object alive, through the client
    }
}

// Everything that is kept belongs to the context that ends.
void shards::on_context_end() noexcept
{
    listener_ = nullptr;
    time_->close();
    refresh_.drop();
    grants_->close();
    router_.forget_all();
}

void shards::on_fork() noexcept
{
    refresh_.close();
    on_context_end();
}

// Nodes.

redis_config shards::settings_of(const redis_config::address& at) const
{
    redis_config result = settings_;
    result.addresses = {at};
    return result;
}

void shards::open_node(master_node& which)
{
    const redis_config where = settings_of(which.at);
    const auto subscription = std::make_shared<node_subscription>(grants_, which.partition,
                                                                  [this] { return now(); });
    std::unique_ptr<command_set> keys;
    if (watched_)
        keys = std::make_unique<redisson_commands>(settings_.fence_retention, subscription, true);
    else
        keys = std::make_unique<native_commands>(subscription, true, floors_, settings_.prefix);
    which.open(
        where, from_, std::move(keys), [this] { return channels_.allowed(); },
        [weak = weak_from_this()] {
            if (const auto self = weak.lock())
                self->want_map();
        });
    which.replicas->other_slot = [weak = weak_from_this(), partition = which.partition](
                                     slot_number but) -> std::optional<slot_number> {
        const auto self = weak.lock();
        return self ? self->map_.other_slot_of(partition, but) : std::nullopt;
    };
    // Later, because this may be inside a call.
    poster_->post([self = shared_from_this(), way = which.way, &which] {
        if (self->listener_ != nullptr && which.way == way)
            which.connect(self->strand_, self->poster_);
    });
}

/// The listener may send requests for its names: the node is connected, or is connected for them.
void shards::announce(master_node& which)
{
    if (std::exchange(which.announced, true) || listener_ == nullptr)
        return;
    listener_->on_connected(which.partition);
}

void shards::on_up(master_node& which)
{
    which.now = master_node::state::up;
    announce(which);
    router_.retry();
    if (note_ && map_[slot_of(note_->key())] == which.partition) {
        note_->begin();
        write_note();
    }
}

void shards::on_down(master_node& which, error_code why)
{
    which.now = master_node::state::down;
    which.announced = false;
    which.why = why;
    if (!which.used && !router_.waits_for(which.partition)) {
        // It was opened only for the client's record, and that failure affects no caller.
        poster_->post([self = shared_from_this(), &which] {
            const bool needed = which.used || self->router_.waits_for(which.partition);
            if (self->listener_ == nullptr || which.now != master_node::state::down || needed)
                return;
            which.let_go();
            // A request may wait for the node to be ready.
            if (which.serves && !has(mutant::let_go_unseen))
                self->announce(which);
        });
        return;
    }
    router_.on_down(which);
    if (listener_ != nullptr)
        listener_->on_disconnected(which.partition, why);
    if (!has(mutant::down_not_followed))
        want_map();
}

master_node* shards::node_beside(std::string_view key)
{
    const store_partition partition = map_[slot_of(key)];
    if (listener_ == nullptr || partition == 0)
        return nullptr;
    master_node& found = map_.get(partition);
    if (found.now == master_node::state::fresh)
        open_node(found);
    return found.now == master_node::state::up ? &found : nullptr;
}

void shards::introduce(std::string_view owner, std::string_view entry,
                       std::chrono::milliseconds lease)
{
    if (!note_)
        return;
    note_->goes_with(owner, entry, lease);
    write_note();
}

void shards::write_note()
{
    constexpr std::chrono::seconds pause{10};
    if (now() < note_->due)
        return;
    master_node* const there = node_beside(note_->key());
    if (there == nullptr)
        return note_->put_off(now() + pause); // or until it has arrived
    redis_store::write_note(note_, *there->way);
}

void shards::describe(std::string_view holder, store::describe_handler handler)
{
    note_reading note(settings_.prefix, holder);
    if (master_node* const there = node_beside(note.key()))
        read_note(*there->way, std::move(note), std::move(handler));
    else if (poster_)
        poster_->post([done = std::move(handler)]() mutable { std::move(done)(client_info()); });
}

/// Closes nodes that serve nothing any more, when they have answered.
void shards::tidy()
{
    poster_->post([self = shared_from_this()] {
        if (self->listener_ == nullptr)
            return;
        for (const auto& each : self->map_.nodes()) {
            const bool needed = self->router_.waits_for(each->partition);
            if (!each->serves && each->under_way == 0 && each->way && !needed)
                each->let_go();
        }
    });
}

// The map.

/// @param from A node that is up to date, if one is known.
void shards::want_map(const std::optional<redis_config::address>& from)
{
    if (!refresh_.want(from) || listener_ == nullptr)
        return;
    // Later, because this may be inside a call.
    poster_->post([self = shared_from_this()] { self->on_time(); });
}

void shards::ask_map()
{
    refresh_.ask(map_, now(), strand_,
                 {.found =
                      [weak = weak_from_this()](const topology& found) {
                          if (const auto self = weak.lock())
                              self->apply(found);
                      },
                  .failed =
                      [weak = weak_from_this()](error_code why, const std::string& text) {
                          if (const auto self = weak.lock())
                              self->on_no_map(why, text);
                      }});
}

void shards::on_no_map(error_code why, const std::string& text)
{
    refresh_.failed();
    if (listener_ == nullptr)
        return;
    if (!refresh_.known() && (no_map_reason_ != why || no_map_words_ != text)) {
        no_map_reason_ = why;
        no_map_words_ = text;
        if (!text.empty()) {
            diagnostics details;
            details.server = server_of(0);
            if (why == errc::store_unavailable)
                details.connection_error = text;
            else
                details.server_message = text;
            listener_->on_error(0, why, details);
        }
        if (listener_ != nullptr)
            listener_->on_disconnected(0, why);
    }
    set_timer();
}

void shards::apply(const topology& found)
{
    refresh_.answered(found);
    if (listener_ == nullptr)
        return;
    const slot_map::change change = map_.apply(found);
    if (change.any_down || !change.whole)
        refresh_.want();
    if (change.whole)
        no_map_reason_ = {};
    else if (std::exchange(no_map_reason_, errc::store_refused) != errc::store_refused)
        listener_->on_disconnected(0, errc::store_refused);
    if (listener_ == nullptr)
        return;
    // Waiters at an unreachable node are notified of the node that serves their names now.
    for (const store_partition each : change.rescuers)
        map_.get(each).announced = false;
    const std::size_t count = map_.nodes().size(); // the listener may add nodes
    for (std::size_t i = 1; i < count; ++i) {
        master_node& each = *map_.nodes()[i];
        if (each.serves && each.now != master_node::state::down &&
            each.now != master_node::state::opening)
            announce(each);
    }
    if (listener_ == nullptr)
        return;
    channels_.on_map();
    router_.retry();
    tidy();
    set_timer();
}

/// A node reports which node serves a slot.
void shards::learn(const redirection& redirected, master_node& by)
{
    const address_reading reached(settings_);
    master_node& there = map_.at(reached(redirected.where, by.at));
    const master_node& before = map_.get(map_[redirected.slot]);
    if (map_.move(redirected.slot, there)) {
        // Waiters at an unreachable node are notified of this one, too.
        if (!before.announced && !has(mutant::new_node_not_notified))
            there.announced = false;
        // Names in that slot may send requests there. Later, because this may be inside a call.
        poster_->post([self = shared_from_this(), &there] {
            const bool can_ask = there.now == master_node::state::fresh ||
                                 there.now == master_node::state::up;
            if (can_ask && there.serves)
                self->announce(there);
        });
        channels_.on_map();
    }
    want_map(there.at);
}

// Time.

void shards::watch(std::string_view name)
{
    if (watched_ && listener_ != nullptr && router_.is_served(name))
        watched_->watch(name);
    set_timer();
}

void shards::unwatch(std::string_view name)
{
    if (watched_)
        watched_->unwatch(name);
}

void shards::set_timer()
{
    if (listener_ == nullptr)
        return;
    auto next = std::min(channels_.next_check(), grants_->next_check());
    next = std::min({next, refresh_.next_time(), router_.next_check()});
    if (next != clock::time_point::max())
        time_->wake_at(next);
}

void shards::on_time()
{
    if (listener_ == nullptr)
        return;
    const auto at = now();
    router_.check(at);
    if (refresh_.due(at))
        ask_map();
    channels_.check();
    grants_->check(at);
    set_timer();
}

} // namespace leasehold::redis_store::cluster
