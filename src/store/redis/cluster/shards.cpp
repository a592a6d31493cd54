#include "store/redis/cluster/shards.hpp"

#include "store/redis/confirmed_requests.hpp"
#include "store/redis/layout/native_layout.hpp"
#include "store/redis/layout/redisson_layout.hpp"
#include "store/redis/protocol/key_names.hpp"
#include "store/redis/transport/owned_transport.hpp"
#include "store/redis/transport/reconnect_pause.hpp"
#include "store/redis/transport/settings.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

namespace leasehold::redis_store::cluster {
namespace {

// Between two questions of who serves what.
constexpr std::chrono::seconds map_pause{1};

// Before what is in between two nodes, or served by nobody, is tried again.
constexpr std::chrono::milliseconds shortest_pause{20};
constexpr std::chrono::milliseconds longest_pause{50};

// So many nodes may send a request on at once; after that there is a pause each time.
constexpr unsigned quick_redirections = 3;

// No caller waits longer for one request.
constexpr std::chrono::milliseconds request_limit{5'000};

redirection redirection_in(error_code code, const std::shared_ptr<const diagnostics>& details)
{
    if (code != errc::store_refused || !details)
        return {};
    return read_redirection(details->server_message);
}

} // namespace

/// A master, or what was one. What its pipeline says is about it alone.
struct shards::node final : public store_listener
{
    enum class state : std::uint8_t
    {
        fresh,   ///< Nothing has been asked of it.
        opening, ///< It is not known yet whether it can be reached.
        up,
        down,
    };

    node(shards& owner, store_partition number, config::address where)
        : all(owner), partition(number), at(std::move(where))
    {}

    void on_hint(std::string_view) override {}
    void on_connected(store_partition) override { all.on_up(*this); }
    void on_disconnected(store_partition, error_code code) override { all.on_down(*this, code); }
    void on_error(store_partition, error_code code, const diagnostics& details) override
    {
        // That a slot is elsewhere is nobody's error.
        if (all.listener_ != nullptr &&
            read_redirection(details.server_message).what == redirection::kind::none)
            all.listener_->on_error(partition, code, details);
    }

    shards& all;
    const store_partition partition;
    const config::address at;
    std::shared_ptr<pipeline> way;                  ///< Null: fresh.
    std::shared_ptr<replica_confirmation> replicas; ///< With it.
    state now = state::fresh;
    bool announced = false;    ///< The listener takes it to be reachable.
    bool serves = false;       ///< Slots, as far as is known.
    std::size_t under_way = 0; ///< Requests that it has.
    error_code why;            ///< It is down.
};

shards::shards(const config& settings, std::shared_ptr<environment> from)
    : settings_(settings),
      from_(std::move(from)),
      time_(from_->make_time()),
      random_(detail::seed_of(*time_)),
      slots_(slot_count, 0),
      channels_(from_,
                {.on_heard =
                     [this](const std::string& channel, store_partition at, bool first) {
                         if (turns_)
                             turns_->on_heard(*listener_, channel, at, first);
                         else
                             hint(channel);
                     },
                 .on_message =
                     [this](const std::string& channel, const std::string& text) {
                         if (turns_)
                             turns::on_message(*listener_, text);
                         else
                             hint(channel);
                     },
                 .node_of = [this](slot_number slot) { return slots_[slot]; },
                 .settings_of =
                     [this](store_partition partition) { return settings_of(get(partition).at); },
                 .on_moved = [this](store_partition by,
                                    const redirection& said) { learn(said, get(by)); },
                 .on_lost_slot = [this] { want_map(); },
                 .on_change = [this] { set_timer(); },
                 .now = [this] { return now(); }}),
      turns_(settings.layout == config::key_layout::native ? std::make_shared<turns>(channels_)
                                                           : nullptr),
      watched_(turns_ ? nullptr : std::make_unique<watched_names>(channels_))
{
    nodes_.push_back(std::make_unique<node>(*this, 0, config::address{}));
}

shards::~shards() = default;

void shards::hint(const std::string& channel)
{
    watched_->on_hint(channel, [this](std::string_view name) {
        if (listener_ != nullptr)
            listener_->on_hint(name);
    });
}

store_traits shards::traits() const noexcept
{
    store_traits result = turns_ ? native_layout(nullptr, true, floors_).traits()
                                 : redisson_layout(settings_.fence_retention, true).traits();
    result.replica_acks = true;
    return result;
}

std::string shards::server_of(store_partition partition) const
{
    if (partition != 0 && partition < nodes_.size())
        return name_of(nodes_[partition]->at);
    return "the cluster of " + name_of(settings_.addresses.front());
}

void shards::open(const asio::any_io_executor& strand, store_listener& listener)
{
    asio::use_service<detail::context_lifetime>(asio::query(strand, asio::execution::context))
        .add(shared_from_this());
    strand_ = strand;
    home_ = context_poster::make(strand);
    listener_ = &listener;
    time_->open(strand, [weak = weak_from_this()] {
        if (const auto self = weak.lock())
            self->on_time();
    });
    channels_.open(strand, home_, listener);
    want_map();
}

void shards::close() noexcept
{
    if (std::exchange(listener_, nullptr) == nullptr)
        return;
    time_->close();
    if (const auto asked = std::exchange(question_, nullptr))
        asked->close();
    channels_.close();
    if (turns_)
        turns_->close();
    // What nodes have is answered by their pipelines.
    for (const auto& each : nodes_) {
        if (!each->way)
            continue;
        each->way->close();
        each->replicas->close();
    }
    try {
        while (!parked_.empty())
            refuse(parked_.front(), errc::store_unavailable);
    }
    catch (const std::bad_alloc&) {
        forget_all(); // they may keep this, by way of the client
    }
}

// Whatever is kept belongs to the context that ends.
void shards::on_context_end() noexcept
{
    listener_ = nullptr;
    time_->close();
    if (const auto asked = std::exchange(question_, nullptr))
        asked->drop();
    if (turns_)
        turns_->close();
    forget_all();
}

void shards::on_fork() noexcept
{
    if (const auto asked = std::exchange(question_, nullptr))
        asked->close();
    on_context_end();
}

// Handlers are destroyed one after the other: that may reach back into here.
void shards::forget_all() noexcept
{
    const auto parked = std::exchange(parked_, {});
    for (const request_ptr& each : parked)
        each->now = request::standing::answered;
    const auto lanes = std::exchange(lanes_, {});
}

// Nodes.

config shards::settings_of(const config::address& at) const
{
    config result = settings_;
    result.addresses = {at};
    return result;
}

shards::node& shards::get(store_partition partition)
{
    return *nodes_[partition];
}

shards::node& shards::node_at(const config::address& at)
{
    const auto found = std::find_if(nodes_.begin() + 1, nodes_.end(),
                                    [&](const auto& each) { return each->at == at; });
    if (found != nodes_.end())
        return **found;
    const auto number = static_cast<store_partition>(nodes_.size());
    return *nodes_.emplace_back(std::make_unique<node>(*this, number, at));
}

void shards::open_node(node& which)
{
    const config where = settings_of(which.at);
    std::unique_ptr<layout> keys;
    if (turns_) {
        const auto ears = std::make_shared<node_hearing>(turns_, which.partition,
                                                         [this] { return now(); });
        keys = std::make_unique<native_layout>(ears, true, floors_);
    }
    else {
        keys = std::make_unique<redisson_layout>(settings_.fence_retention, true);
    }
    which.way = std::make_shared<pipeline>(make_owned_transport(where, from_), std::move(keys),
                                           from_->make_time(), settings_.timeout);
    which.way->knows_receivers = [this] { return channels_.allowed(); };
    which.replicas = std::make_shared<replica_confirmation>(where, from_);
    // Both connections lead to one node; what is not there has moved to another.
    which.replicas->on_other_server = [weak = weak_from_this()] {
        if (const auto self = weak.lock())
            self->want_map();
    };
    which.now = node::state::opening;
    // Later, because this may be inside a call.
    home_->post([self = shared_from_this(), way = which.way, &which] {
        if (self->listener_ == nullptr || which.way != way)
            return;
        which.replicas->open(self->strand_, self->home_, which);
        way->open(self->strand_, self->home_, which);
    });
}

/// The listener may send requests for its names: it is there, or is connected to then.
void shards::announce(node& which)
{
    if (std::exchange(which.announced, true) || listener_ == nullptr)
        return;
    listener_->on_connected(which.partition);
}

void shards::on_up(node& which)
{
    which.now = node::state::up;
    announce(which);
    retry();
}

void shards::on_down(node& which, error_code why)
{
    which.now = node::state::down;
    which.announced = false;
    which.why = why;
    const std::vector<request_ptr> parked(parked_.begin(), parked_.end());
    for (const request_ptr& each : parked) {
        if (each->now == request::standing::parked && target(*each) == which.partition &&
            each->not_before <= now())
            refuse(each, why);
    }
    if (listener_ != nullptr)
        listener_->on_disconnected(which.partition, why);
    want_map();
}

/// Lets go of nodes that serve nothing any more, when they have answered.
void shards::tidy()
{
    home_->post([self = shared_from_this()] {
        if (self->listener_ == nullptr)
            return;
        for (const auto& each : self->nodes_) {
            const bool needed = std::any_of(self->parked_.begin(), self->parked_.end(),
                                            [&](const request_ptr& waiting) {
                                                return self->target(*waiting) == each->partition;
                                            });
            if (each->serves || each->under_way != 0 || !each->way || needed)
                continue;
            const auto last = std::exchange(each->way, nullptr);
            last->close();
            std::exchange(each->replicas, nullptr)->close();
            each->now = node::state::fresh;
            each->announced = false;
        }
    });
}

// The map.

/// @param from Who is up to date, if that is known.
void shards::want_map(const std::optional<config::address>& from)
{
    if (from)
        map_from_ = from;
    if (std::exchange(map_wanted_, true) || listener_ == nullptr)
        return;
    // Later, because this may be inside a call.
    home_->post([self = shared_from_this()] { self->on_time(); });
}

std::vector<config::address> shards::candidates()
{
    std::vector<config::address> all;
    const auto add = [&](const config::address& one) {
        if (std::find(all.begin(), all.end(), one) == all.end())
            all.push_back(one);
    };
    if (map_from_)
        add(*std::exchange(map_from_, std::nullopt));
    // Each time another one first, so that nobody's mistake is believed for ever.
    std::vector<config::address> up;
    for (const auto& each : nodes_) {
        if (each->now == node::state::up)
            up.push_back(each->at);
    }
    ++seed_;
    const std::vector<config::address>* const groups[] = {&up, &settings_.addresses, &others_};
    for (const auto* group : groups) {
        for (std::size_t i = 0; i < group->size(); ++i)
            add((*group)[(i + seed_) % group->size()]);
    }
    for (const auto& each : nodes_) {
        if (each->partition != 0 && each->serves)
            add(each->at);
    }
    return all;
}

void shards::ask_map()
{
    map_wanted_ = false;
    next_map_ = now() + (map_known_ ? clock::duration(map_pause)
                                    : reconnect_pause(settings_.reconnect, random_));
    question_ = std::make_shared<topology_question>(
        settings_, from_, candidates(),
        topology_question::listener{
            .found =
                [weak = weak_from_this()](const topology& found) {
                    if (const auto self = weak.lock())
                        self->apply(found);
                },
            .failed =
                [weak = weak_from_this()](error_code why, const std::string& said) {
                    if (const auto self = weak.lock())
                        self->on_no_map(why, said);
                }});
    question_->open(strand_);
}

void shards::on_no_map(error_code why, const std::string& said)
{
    question_.reset();
    if (listener_ == nullptr)
        return;
    map_wanted_ = true;
    if (!map_known_ && no_map_reason_ != why) {
        no_map_reason_ = why;
        if (!said.empty()) {
            diagnostics details;
            details.server = server_of(0);
            details.server_message = said;
            listener_->on_error(0, why, details);
        }
        if (listener_ != nullptr)
            listener_->on_disconnected(0, why);
    }
    set_timer();
}

void shards::apply(const topology& found)
{
    question_.reset();
    if (listener_ == nullptr)
        return;
    map_known_ = true;
    others_ = found.others;
    for (const auto& each : nodes_)
        each->serves = false;
    std::vector<store_partition> masters;
    for (const config::address& each : found.masters) {
        node& at = node_at(each);
        at.serves = true;
        masters.push_back(at.partition);
    }
    std::vector<store_partition> next(slot_count, 0);
    for (const topology::range& each : found.ranges)
        std::fill(next.begin() + each.first, next.begin() + each.last + 1, masters[each.master]);
    const bool whole = std::find(next.begin(), next.end(), 0u) == next.end();
    // A node that knows of nobody may not have met the others; who served it before will tell.
    for (std::size_t i = 0; i < slot_count; ++i) {
        if (next[i] == 0 && slots_[i] != 0) {
            next[i] = slots_[i];
            get(next[i]).serves = true;
        }
    }
    // Who waited for a node that cannot be reached is told of the one that serves its names now.
    std::set<store_partition> rescuers;
    for (std::size_t i = 0; i < slot_count; ++i) {
        const bool reachable = get(slots_[i]).announced;
        if (next[i] != slots_[i] && !reachable && get(next[i]).announced)
            rescuers.insert(next[i]);
    }
    slots_ = std::move(next);
    for (const auto& each : nodes_) {
        if (each->serves && each->now == node::state::down)
            map_wanted_ = true; // another one may be about to take its place
    }
    map_wanted_ = map_wanted_ || !whole;
    if (whole)
        no_map_reason_ = {};
    else if (std::exchange(no_map_reason_, errc::store_refused) != errc::store_refused)
        listener_->on_disconnected(0, errc::store_refused);
    if (listener_ == nullptr)
        return;
    for (const store_partition each : rescuers)
        get(each).announced = false;
    const std::size_t count = nodes_.size(); // the listener may make more
    for (std::size_t i = 1; i < count; ++i) {
        node& each = *nodes_[i];
        if (each.serves && each.now != node::state::down && each.now != node::state::opening)
            announce(each);
    }
    if (listener_ == nullptr)
        return;
    channels_.on_map();
    retry();
    tidy();
    set_timer();
}

/// A node says who serves a slot.
void shards::learn(const redirection& said, node& by)
{
    const address_reading reached(settings_);
    node& there = node_at(reached(said.where, by.at));
    if (slots_[said.slot] != there.partition) {
        slots_[said.slot] = there.partition;
        there.serves = true;
        // Whatever is in that slot may ask there. Later, because this may be inside a call.
        home_->post([self = shared_from_this(), &there] {
            if (there.now == node::state::fresh && there.serves)
                self->announce(there);
        });
        channels_.on_map();
    }
    want_map(there.at);
}

// Requests.

bool shards::is_served(std::string_view name) const
{
    if (turns_)
        return true;
    // In this layout some names are in another slot than what belongs to them.
    std::string key;
    fence_key(name, key);
    return slot_of(key) == slot_of(name);
}

store_partition shards::target(const request& one) const
{
    return one.ask_at != 0 ? one.ask_at : slots_[one.slot];
}

void shards::acquire(const acquire_request& asked, store::acquire_handler handler)
{
    const auto one = std::make_shared<request>(asked.name, asked.owner, asked.entry);
    acquire_work work{asked, std::move(handler)};
    work.asked.name = one->name;
    work.asked.owner = one->owner;
    work.asked.entry = one->entry;
    one->work = std::move(work);
    one->give_up = now() + std::max(asked.budget, std::chrono::milliseconds(0));
    if (turns_ && asked.entry.empty()) // the owner of a re-entry may be another client's
        turns_->belongs_to(asked.owner);
    submit(one);
}

void shards::release(const release_request& asked, store::release_handler handler)
{
    const auto one = std::make_shared<request>(asked.name, asked.owner, asked.entry);
    release_work work{.asked = asked, .next = {}, .next_owner = {}, .handler = std::move(handler)};
    work.asked.name = one->name;
    work.asked.owner = one->owner;
    work.asked.entry = one->entry;
    work.asked.next = nullptr;
    // An acquire that is to be confirmed is one of its own.
    if (asked.next != nullptr && asked.next->replica_acks == 0) {
        work.next = *asked.next;
        work.next_owner = asked.next->owner;
    }
    one->work = std::move(work);
    one->give_up = now() + request_limit;
    if (turns_)
        turns_->left(one->slot, one->owner);
    submit(one);
}

void shards::renew(std::span<const renewal> asked, store::renew_handler handler)
{
    const auto round = std::make_shared<renewal_round>();
    round->results.resize(asked.size(), renewal_result::failed);
    round->outstanding = asked.size();
    if (asked.empty()) {
        if (home_)
            home_->post([done = std::move(handler)]() mutable {
                std::move(done)(error_code(), renew_reply());
            });
        return;
    }
    std::vector<request_ptr> all;
    all.reserve(asked.size());
    for (std::size_t i = 0; i < asked.size(); ++i) {
        const renewal& each = asked[i];
        const auto one = std::make_shared<request>(each.name, each.owner, each.entry);
        renewal_work work{each, round, i};
        work.asked.name = one->name;
        work.asked.owner = one->owner;
        work.asked.entry = one->entry;
        one->work = std::move(work);
        one->give_up = now() + std::min(request_limit, each.lease / 4);
        all.push_back(one);
    }
    round->handler = std::move(handler);
    for (const request_ptr& each : all)
        submit(each);
}

void shards::watch(std::string_view name)
{
    if (watched_ && listener_ != nullptr && is_served(name))
        watched_->watch(name);
    set_timer();
}

void shards::unwatch(std::string_view name)
{
    if (watched_)
        watched_->unwatch(name);
}

/// Takes a request in; inside a call.
void shards::submit(const request_ptr& one)
{
    if (!home_)
        return; // it was never opened: nobody is there to be told
    if (!one->is_renewal())
        lanes_[one->name].requests.push_back(one);
    park(one);
    if (listener_ == nullptr)
        return refuse(one, errc::store_unavailable);
    if (!is_served(one->name))
        return refuse(one, errc::invalid_name);
    if (one->is_renewal())
        go(one);
    else
        advance(one->name);
    if (one->now == request::standing::parked)
        set_timer();
}

void shards::park(const request_ptr& one)
{
    one->now = request::standing::parked;
    one->place = parked_.insert(parked_.end(), one);
}

void shards::unpark(request& one)
{
    if (one.now == request::standing::parked)
        parked_.erase(one.place);
}

/// Sends of a name what may be sent now.
void shards::advance(const std::string& name)
{
    const auto found = lanes_.find(name);
    if (found == lanes_.end())
        return;
    lane& all = found->second;
    // It is not answered meanwhile: that comes later, always.
    for (std::size_t i = 0; i < all.requests.size(); ++i) {
        const request_ptr one = all.requests[i];
        if (one->now != request::standing::parked)
            continue;
        if (one->not_before > now() || !may_go(all, *one))
            return;
        go(one);
        if (one->now == request::standing::parked)
            return; // it waits for its node, and the others wait for it
    }
}

/// All that is before it is at the node that it goes to.
bool shards::may_go(lane& all, const request& one) const
{
    for (const request_ptr& each : all.requests) {
        if (each.get() == &one)
            return true;
        if (each->now == request::standing::answered)
            continue;
        if (each->now == request::standing::parked)
            return false;
        if (each->at != target(one))
            all.careful = true;
        if (all.careful)
            return false;
    }
    return true;
}

/// To the node that serves it, if that is there.
void shards::go(const request_ptr& one)
{
    const store_partition to = target(*one);
    node& there = get(to);
    if (to == 0)
        return refuse(one, errc::store_unavailable);
    switch (there.now) {
    case node::state::fresh: return open_node(there);
    case node::state::opening: return;
    case node::state::down: return refuse(one, there.why);
    case node::state::up: return send(one, there);
    }
}

void shards::send(const request_ptr& one, node& to)
{
    const bool asking = std::exchange(one->ask_at, 0) != 0;
    unpark(*one);
    one->now = request::standing::sent;
    one->at = to.partition;
    ++to.under_way;
    const auto self = shared_from_this();
    // What is left of the time that its caller gives it.
    const auto left = [&](std::chrono::milliseconds budget) {
        using std::chrono::milliseconds;
        return std::min(budget, std::chrono::floor<milliseconds>(one->give_up - now()));
    };
    if (auto* const taking = std::get_if<acquire_work>(&one->work)) {
        acquire_request asked = taking->asked;
        if (one->redirections > 0 || asked.budget > std::chrono::milliseconds(0))
            asked.budget = left(asked.budget);
        auto done = [self, one](error_code code, acquire_reply reply) {
            self->answered(one, code, std::move(reply));
        };
        if (asked.replica_acks > 0)
            acquire_confirmed(to.way, to.replicas, asked, std::move(done), asking);
        else
            to.way->acquire(asked, std::move(done), asking);
    }
    else if (auto* const leaving = std::get_if<release_work>(&one->work)) {
        release_request asked = leaving->asked;
        acquire_request next = leaving->next;
        if (!leaving->next_owner.empty()) {
            next.name = one->name;
            next.owner = leaving->next_owner;
            next.entry = {};
            const auto spent = request_limit -
                               std::chrono::floor<std::chrono::milliseconds>(one->give_up - now());
            next.budget -= spent;
            asked.next = &next;
        }
        to.way->release(
            asked,
            [self, one](error_code code, release_reply reply) {
                self->answered(one, code, std::move(reply));
            },
            asking);
    }
    else if (auto* const keeping = std::get_if<renewal_work>(&one->work)) {
        auto done = [self, one](error_code code, renew_reply reply) {
            self->answered(one, code, std::move(reply));
        };
        if (keeping->asked.replica_acks > 0)
            renew_confirmed(to.way, to.replicas, {&keeping->asked, 1}, std::move(done), asking);
        else
            to.way->renew({&keeping->asked, 1}, std::move(done), asking);
    }
}

template <class Reply>
void shards::answered(const request_ptr& one, error_code code, Reply reply)
{
    node& by = get(one->at);
    --by.under_way;
    if (one->now != request::standing::sent)
        return; // the context has ended
    const redirection said = redirection_in(code, reply.details);
    if (said.what != redirection::kind::none && listener_ != nullptr) {
        one->said = reply.details;
        if (redirect(one, by, said))
            return;
    }
    if (!by.serves && by.under_way == 0 && listener_ != nullptr)
        tidy();
    finish(one, code, std::move(reply));
}

/// True when it is asked again, now or later.
bool shards::redirect(const request_ptr& one, node& by, const redirection& said)
{
    using kind = redirection::kind;
    if (said.what == kind::moved)
        learn(said, by);
    else if (said.what == kind::down)
        want_map();
    if (!one->is_renewal()) {
        lane& all = lanes_[one->name];
        all.careful = true;
        if (is_undone(all, *one))
            return false;
    }
    if (now() >= one->give_up)
        return false;
    ++one->redirections;
    if (said.what == kind::ask) {
        const address_reading reached(settings_);
        one->ask_at = node_at(reached(said.where, by.at)).partition;
    }
    const bool elsewhere = said.what == kind::moved || said.what == kind::ask;
    const bool at_once = elsewhere && one->redirections <= quick_redirections &&
                         target(*one) != by.partition;
    // Where nobody serves it that may last.
    const int times = said.what == kind::down ? 5 : 1;
    one->not_before = at_once ? clock::time_point{}
                              : now() + times * fsm::pick(random_, clock::duration(shortest_pause),
                                                          clock::duration(longest_pause));
    park(one);
    if (one->is_renewal()) {
        if (one->not_before <= now())
            go(one);
    }
    else {
        advance(one->name);
    }
    set_timer();
    return true;
}

/// It was not executed and is not sent any more. Its handler is called later.
void shards::refuse(request_ptr one, error_code code)
{
    unpark(*one);
    one->now = request::standing::answered;
    home_->post([self = shared_from_this(), one, code] { self->finish_refused(one, code); });
}

void shards::finish_refused(const request_ptr& one, error_code code)
{
    std::shared_ptr<const diagnostics> details = one->said;
    if (!details) {
        const auto made = std::make_shared<diagnostics>();
        made->server = server_of(target(*one));
        made->key = one->name;
        details = made;
    }
    if (std::holds_alternative<acquire_work>(one->work)) {
        acquire_reply reply;
        reply.result = acquire_reply::outcome::late;
        reply.details = code ? details : nullptr;
        finish(one, code, std::move(reply));
    }
    else if (std::holds_alternative<release_work>(one->work)) {
        release_reply reply;
        reply.details = details;
        finish(one, code, std::move(reply));
    }
    else {
        finish(one, code, renew_reply({renewal_result::failed}, details));
    }
}

void shards::finish(const request_ptr& one, error_code code, acquire_reply reply)
{
    const bool in_line = !code && reply.result == acquire_reply::outcome::held && reply.in_line;
    if (turns_ && in_line)
        turns_->joined(one->slot, one->name, one->owner);
    else if (turns_ && !code)
        turns_->left(one->slot, one->owner);
    leave_lane(one);
    auto& work = std::get<acquire_work>(one->work);
    std::move(work.handler)(code, std::move(reply));
    advance(one->name);
    watch_time();
}

void shards::finish(const request_ptr& one, error_code code, release_reply reply)
{
    auto& work = std::get<release_work>(one->work);
    if (turns_ && !code && reply.next && reply.next->in_line)
        turns_->joined(one->slot, one->name, work.next_owner);
    leave_lane(one);
    std::move(work.handler)(code, std::move(reply));
    advance(one->name);
    watch_time();
}

void shards::finish(const request_ptr& one, error_code code, renew_reply reply)
{
    one->now = request::standing::answered;
    const auto& work = std::get<renewal_work>(one->work);
    renewal_round& round = *work.round;
    if (reply.details)
        round.details = std::move(reply.details);
    if (code) {
        round.error = code;
    }
    else {
        round.any_ran = true;
        if (!reply.results.empty())
            round.results[work.place] = reply.results.front();
    }
    if (--round.outstanding == 0)
        std::move(round.handler)(round.any_ran ? error_code() : round.error,
                                 renew_reply(std::move(round.results), std::move(round.details)));
}

void shards::leave_lane(const request_ptr& one)
{
    one->now = request::standing::answered;
    const auto found = lanes_.find(one->name);
    if (found == lanes_.end())
        return;
    std::erase(found->second.requests, one);
    if (found->second.requests.empty())
        lanes_.erase(found);
}

/// What waits here may go on: a node or the map is another.
void shards::retry()
{
    const std::vector<request_ptr> parked(parked_.begin(), parked_.end());
    for (const request_ptr& each : parked) {
        if (each->now != request::standing::parked || each->not_before > now())
            continue;
        if (each->is_renewal())
            go(each);
        else
            advance(each->name);
    }
}

// Time.

/// As `set_timer`, where seldom anything is to be waited for.
void shards::watch_time()
{
    if (!parked_.empty() || (turns_ && turns_->take_changed()))
        set_timer();
}

void shards::set_timer()
{
    if (listener_ == nullptr)
        return;
    auto next = std::min(channels_.next_look(),
                         turns_ ? turns_->next_look() : clock::time_point::max());
    if (map_wanted_ && !question_)
        next = std::min(next, next_map_);
    for (const request_ptr& each : parked_) {
        next = std::min(next, each->give_up);
        if (each->not_before != clock::time_point{})
            next = std::min(next, each->not_before);
    }
    if (next != clock::time_point::max())
        time_->wake_at(next);
}

void shards::on_time()
{
    if (listener_ == nullptr)
        return;
    const auto at = now();
    const std::vector<request_ptr> parked(parked_.begin(), parked_.end());
    for (const request_ptr& each : parked) {
        if (each->now != request::standing::parked)
            continue;
        if (each->not_before <= at)
            each->not_before = {};
        if (each->give_up > at)
            continue;
        if (each->said)
            refuse(each, errc::store_refused);
        else
            refuse(each, std::holds_alternative<acquire_work>(each->work)
                             ? error_code() // it is too late
                             : error_code(errc::store_unavailable));
    }
    retry();
    if (map_wanted_ && !question_ && next_map_ <= at)
        ask_map();
    channels_.look();
    if (turns_)
        turns_->look(at);
    set_timer();
}

namespace {

class cluster_store final : public store
{
public:
    cluster_store(const config& settings, std::shared_ptr<environment> from)
        : all_(std::make_shared<shards>(settings, std::move(from)))
    {}
    ~cluster_store() override { all_->close(); }

    [[nodiscard]] store_traits traits() const noexcept override { return all_->traits(); }
    [[nodiscard]] store_partition partition_of(std::string_view name) const noexcept override
    {
        return all_->partition_of(name);
    }
    [[nodiscard]] std::string server_of(store_partition partition) const override
    {
        return all_->server_of(partition);
    }

    void open(const asio::any_io_executor& strand, store_listener& listener) override
    {
        all_->open(strand, listener);
    }
    void close() override { all_->close(); }

    void async_acquire(const acquire_request& asked, acquire_handler handler) override
    {
        all_->acquire(asked, std::move(handler));
    }
    void async_renew(std::span<const renewal> asked, renew_handler handler) override
    {
        all_->renew(asked, std::move(handler));
    }
    void async_release(const release_request& asked, release_handler handler) override
    {
        all_->release(asked, std::move(handler));
    }
    void watch(std::string_view name) override { all_->watch(name); }
    void unwatch(std::string_view name) override { all_->unwatch(name); }

private:
    const std::shared_ptr<shards> all_;
};

} // namespace

std::shared_ptr<store> make_cluster_store(const config& settings, std::shared_ptr<environment> from)
{
    return std::make_shared<cluster_store>(settings, std::move(from));
}

} // namespace leasehold::redis_store::cluster
