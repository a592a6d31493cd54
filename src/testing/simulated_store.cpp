#include "testing/simulated_store.hpp"

#include "testing/server_state.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace leasehold::testing::impl {
namespace {

// As long as a real client waits before it gives a connection up.
constexpr clock::duration request_timeout = std::chrono::seconds(2);
constexpr clock::duration connect_timeout = std::chrono::seconds(1);
constexpr clock::rep reconnect_floor = 20'000'000;
constexpr clock::rep reconnect_ceiling = 200'000'000;
constexpr std::uint64_t late_by = 1'000'000'000;
constexpr std::uint64_t soon = 2'000'000;
constexpr unsigned attempts_limit = 3;

} // namespace

/// A request on its way.
class simulated_store::arrival final : public alarm
{
public:
    arrival(server_state& to, call_ptr what, bool reset_after) noexcept
        : to_(to), what_(std::move(what)), reset_after_(reset_after)
    {}

private:
    void ring() override
    {
        const std::unique_ptr<arrival> self(this);
        // A request is repeated while it is waited for, and not when its sender has heard of it.
        if (what_->arrivals++ == 0 || !what_->done)
            to_.arrive(what_, reset_after_);
    }

    void drop() noexcept override { delete this; }

    server_state& to_;
    call_ptr what_;
    bool reset_after_;
};

/// An answer on its way.
class simulated_store::posted_op final : public alarm
{
public:
    posted_op(call_ptr what, answer said) noexcept : what_(std::move(what)), said_(std::move(said))
    {}

private:
    void ring() override
    {
        const std::unique_ptr<posted_op> self(this);
        if (const auto to = what_->from.lock())
            to->on_strand([to = to.get(), what = std::move(what_),
                           said = std::move(said_)]() mutable { to->answered(what, said); });
    }

    void drop() noexcept override { delete this; }

    call_ptr what_;
    answer said_;
};

/// How long the oldest request is waited for.
class simulated_store::patience final : public local_alarm
{
public:
    explicit patience(simulated_store& of) noexcept : local_alarm(true), of_(of) {}
    bool runs = false;

private:
    void due() override
    {
        of_.on_strand([of = &of_, this] {
            runs = false;
            of->look_at_time();
        });
    }

    simulated_store& of_;
};

simulated_store::simulated_store(host_state& where, server_state& to)
    : host_(where), server_(to), patience_(std::make_unique<patience>(*this))
{}

simulated_store::~simulated_store() = default;

template <class F>
void simulated_store::on_strand(F f)
{
    if (strand_)
        asio::post(strand_, [self = shared_from_this(), f = std::move(f)]() mutable { f(); });
}

void simulated_store::open(const asio::any_io_executor& strand, store_listener& listener)
{
    strand_ = strand;
    listener_ = &listener;
    attempt();
}

void simulated_store::close()
{
    if (std::exchange(listener_, nullptr) == nullptr)
        return;
    connected_ = false;
    patience_->disarm();
    server_.disconnect(*this, connection_++);
    const auto left = std::exchange(pending_, {});
    if (host_.crashed) {
        // Nothing can be told any more; what is under way must not keep the client.
        for (const call_ptr& each : left) {
            each->done = true;
            each->handler = {};
        }
        strand_ = {};
        return;
    }
    on_strand([this, left] {
        answer none{.failed = errc::outcome_unknown, .acquired = {}, .released = {}, .renewed = {}};
        for (const call_ptr& each : left)
            finish(*each, none);
    });
}

template <class Handler, class Reply>
void simulated_store::refuse(Handler handler, Reply reply)
{
    on_strand([handler = std::move(handler), reply = std::move(reply)]() mutable {
        std::move(handler)(errc::store_unavailable, std::move(reply));
    });
}

/// Whether a request can be sent now.
bool simulated_store::sends() noexcept
{
    if (connected_ && !host_.sends())
        ++host_.befallen.requests_unsent;
    return connected_ && host_.sends();
}

call_ptr simulated_store::make(call::kind what)
{
    return {new call(what, weak_from_this(), host_)};
}

void simulated_store::async_acquire(const acquire_request& request, acquire_handler handler)
{
    if (!sends())
        return refuse(std::move(handler), acquire_reply{});
    const call_ptr c = make(call::kind::acquire);
    c->name = request.name;
    c->owner = request.owner;
    c->entry = request.entry;
    c->lease = request.lease;
    c->fences = request.fences;
    c->latest = server_time_.limit(host_.lease_clock->now(), request.budget);
    c->handler = std::move(handler);
    send(c);
}

void simulated_store::async_renew(std::span<const renewal> renewals, renew_handler handler)
{
    if (!sends())
        return refuse(std::move(handler),
                      std::vector<renewal_result>(renewals.size(), renewal_result::failed));
    const call_ptr c = make(call::kind::renew);
    c->items.reserve(renewals.size());
    for (const renewal& each : renewals)
        c->items.push_back(
            {std::string(each.name), std::string(each.owner), std::string(each.entry), each.lease});
    c->handler = std::move(handler);
    send(c);
}

void simulated_store::async_release(const release_request& request, release_handler handler)
{
    if (!sends())
        return refuse(std::move(handler), release_reply{});
    const call_ptr c = make(call::kind::release);
    c->name = request.name;
    c->owner = request.owner;
    c->entry = request.entry;
    c->handler = std::move(handler);
    send(c);
}

void simulated_store::watch(std::string_view name)
{
    if (!is_open() || std::find(watched_.begin(), watched_.end(), name) != watched_.end())
        return;
    watched_.emplace_back(name);
    if (connected_)
        subscribe(name);
}

void simulated_store::unwatch(std::string_view name)
{
    if (std::erase(watched_, name) == 0 || !connected_)
        return;
    const call_ptr c = make(call::kind::unsubscribe);
    c->name = name;
    send(c);
}

void simulated_store::subscribe(std::string_view name)
{
    const call_ptr c = make(call::kind::subscribe);
    c->name = name;
    send(c);
}

void simulated_store::send(const call_ptr& what)
{
    what->connection = connection_;
    what->sent_at = host_.lease_clock->now();
    what->sent = host_.time.now();
    pending_.push_back(what);
    watch_time();
    transmit(what);
    if (what->has_steps())
        host_.told(what->sent_step());
}

void simulated_store::transmit(const call_ptr& what)
{
    const conditions& net = host_.messages;
    if (host_.random.chance(net.loss)) {
        ++host_.befallen.requests_lost;
        if (host_.time.traced())
            line("request LOST: " + server_state::describe(*what));
        return;
    }
    if (host_.random.chance(net.reset_before)) {
        ++host_.befallen.requests_lost;
        line("connection RESET before the request arrived");
        return reset();
    }
    const bool reset_after = host_.random.chance(net.reset_after);
    const bool twice = host_.random.chance(net.duplication);
    arrive_after(what, {}, reset_after);
    if (!twice)
        return;
    ++host_.befallen.requests_doubled;
    arrive_after(what,
                 clock::duration(1 + static_cast<clock::rep>(host_.random.below(
                                         host_.random.below(2) == 0 ? soon : late_by))),
                 false);
}

clock::duration simulated_store::latency() noexcept
{
    return host_.delay();
}

void simulated_store::arrive_after(const call_ptr& what, clock::duration extra, bool reset_after)
{
    const clock::time_point now = host_.time.now();
    clock::time_point when = now + latency() + extra;
    if (host_.cut_to_server()) {
        if (host_.random.below(2) == 0) {
            ++host_.befallen.requests_lost;
            return;
        }
        ++host_.befallen.late;
        when = host_.cut_to_server_until + latency();
    }
    if (host_.random.chance(host_.messages.reordering)) {
        ++host_.befallen.late;
        when += clock::duration(static_cast<clock::rep>(host_.random.below(late_by)));
    }
    else if (extra == clock::duration::zero())
        last_up_ = when = std::max(when, last_up_ + clock::duration(1));
    host_.time.arm(*new arrival(server_, what, reset_after), when);
}

void simulated_store::reply(const call_ptr& to, answer said)
{
    if (to->connection != connection_)
        return; // the connection that it came by has ended
    if (host_.random.chance(host_.messages.reply_loss)) {
        ++host_.befallen.replies_lost;
        if (host_.time.traced())
            line("answer LOST: " + server_state::describe(*to));
        return;
    }
    clock::time_point when = host_.time.now() + latency();
    if (host_.cut_from_server()) {
        if (host_.random.below(2) == 0) {
            ++host_.befallen.replies_lost;
            return;
        }
        ++host_.befallen.late;
        when = host_.cut_from_server_until + latency();
    }
    if (host_.random.chance(host_.messages.reordering)) {
        ++host_.befallen.late;
        when += clock::duration(static_cast<clock::rep>(host_.random.below(late_by)));
    }
    else {
        last_down_ = when = std::max(when, last_down_ + clock::duration(1));
    }
    host_.time.arm(*new posted_op(to, std::move(said)), when);
}

void simulated_store::publish(std::string_view name, std::uint64_t connection)
{
    if (connection != connection_)
        return;
    if (host_.time.now() < host_.no_hints_until || host_.cut_from_server() ||
        host_.random.chance(host_.messages.hint_loss)) {
        ++host_.befallen.hints_lost;
        return;
    }
    const int copies = host_.random.chance(host_.messages.hint_doubling) ? 2 : 1;
    host_.befallen.hints_doubled += copies == 2 ? 1 : 0;
    for (int i = 0; i < copies; ++i) {
        const auto delay = latency();
        host_.time.at(host_.time.now() + delay,
                      [weak = weak_from_this(), text = std::string(name)] {
                          if (const auto self = weak.lock())
                              self->false_hint(text);
                      });
    }
}

void simulated_store::false_hint(std::string_view name)
{
    on_strand([this, text = std::string(name)] {
        if (connected_ && listener_ != nullptr &&
            std::find(watched_.begin(), watched_.end(), text) != watched_.end()) {
            ++host_.befallen.hints;
            listener_->on_hint(text);
        }
    });
}

void simulated_store::answered(const call_ptr& to, answer& said)
{
    if (to->done || to->connection != connection_ || !connected_)
        return;
    server_time_.learn(said.server_us, host_.lease_clock->now());
    if (said.script_missing) {
        ++host_.befallen.scripts_missing;
        if (++to->attempts < attempts_limit)
            return transmit(to);
        said.failed = errc::store_refused;
    }
    std::erase(pending_, to);
    if (to->what == call::kind::subscribe) {
        to->done = true;
        if (!said.failed && listener_ != nullptr &&
            std::find(watched_.begin(), watched_.end(), to->name) != watched_.end())
            listener_->on_hint(to->name);
        return;
    }
    finish(*to, said);
    if (to->has_steps())
        host_.told(to->answered_step());
}

void simulated_store::finish(call& what, answer& said)
{
    if (std::exchange(what.done, true))
        return;
    auto handler = std::exchange(what.handler, {});
    if (auto* const acquire = std::get_if<acquire_handler>(&handler))
        std::move (*acquire)(said.failed, said.acquired);
    else if (auto* const renew = std::get_if<renew_handler>(&handler))
        std::move (*renew)(said.failed, std::move(said.renewed));
    else if (auto* const release = std::get_if<release_handler>(&handler))
        std::move (*release)(said.failed, said.released);
}

void simulated_store::reset()
{
    on_strand([this, connection = connection_] { lost(connection); });
}

void simulated_store::lost(std::uint64_t connection)
{
    if (connection != connection_ || !is_open() || !connected_)
        return;
    connected_ = false;
    ++host_.befallen.connections_lost;
    patience_->disarm();
    patience_->runs = false;
    server_.disconnect(*this, connection_++);
    const auto unknown = std::exchange(pending_, {});
    if (host_.time.traced())
        line("connection lost");
    listener_->on_disconnected(0, errc::store_unavailable);
    answer none{.failed = errc::outcome_unknown, .acquired = {}, .released = {}, .renewed = {}};
    for (const call_ptr& each : unknown)
        finish(*each, none);
    host_.told(step::disconnected);
    if (is_open())
        attempt_later();
}

void simulated_store::retry()
{
    ++host_.befallen.connects_failed;
    attempt_later();
}

void simulated_store::attempt_later()
{
    const auto pause = clock::duration(host_.random.between(reconnect_floor, reconnect_ceiling));
    host_.time.at(host_.time.now() + pause, [weak = weak_from_this()] {
        if (const auto self = weak.lock())
            self->on_strand([of = self.get()] { of->attempt(); });
    });
}

void simulated_store::attempt()
{
    if (!is_open())
        return;
    const auto there = latency();
    const auto back = latency();
    const bool cut = host_.cut_to_server() || host_.cut_from_server();
    const auto after = host_.time.now() + (cut ? connect_timeout : there);
    host_.time.at(after, [weak = weak_from_this(), cut, back, connection = connection_] {
        const auto self = weak.lock();
        if (!self || !self->is_open() || self->host_.crashed)
            return;
        if (cut || !self->server_.accepts())
            return self->retry();
        self->server_.connect(self);
        self->host_.time.at(
            self->host_.time.now() + back,
            [weak, connection, us = self->server_.time_us(), life = self->server_.life()] {
                if (const auto again = weak.lock())
                    again->on_strand([of = again.get(), connection, us, life] {
                        if (!of->is_open() || connection != of->connection_)
                            return;
                        if (life == of->server_.life())
                            of->connected(us);
                        else
                            of->retry(); // it went down meanwhile
                    });
            });
    });
}

void simulated_store::connected(std::int64_t server_us)
{
    connected_ = true;
    last_up_ = last_down_ = {};
    server_time_.learn(server_us, host_.lease_clock->now());
    if (host_.time.traced())
        line("connected");
    host_.told(step::connected);
    for (const std::string& each : watched_)
        subscribe(each);
    listener_->on_connected(0);
}

void simulated_store::watch_time()
{
    if (patience_->runs || pending_.empty())
        return;
    patience_->runs = true;
    patience_->arm(host_, pending_.front()->sent_at + request_timeout);
}

void simulated_store::look_at_time()
{
    if (pending_.empty())
        return;
    if (pending_.front()->sent_at + request_timeout > host_.lease_clock->now())
        return watch_time();
    if (host_.time.traced())
        line("no answer, the connection is given up");
    lost(connection_);
}

} // namespace leasehold::testing::impl
