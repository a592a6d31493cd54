#include "redis/cluster/request_router.hpp"

#include "base/mutant.hpp"
#include "redis/protocol/key_names.hpp"
#include "redis/replicas/confirmed_requests.hpp"

#include <algorithm>
#include <chrono>
#include <type_traits>
#include <utility>

namespace leasehold::redis_store::cluster {
namespace {

// The pause before a request is retried that no node serves, or whose slot moves.
constexpr std::chrono::milliseconds shortest_pause{20};
constexpr std::chrono::milliseconds longest_pause{50};

// This many redirections are followed at once; each further one after a pause.
constexpr unsigned quick_redirections = 3;

// The maximum time of one request.
constexpr std::chrono::milliseconds request_limit{5'000};

redirection redirection_in(error_code code, const std::shared_ptr<const diagnostics>& details)
{
    if (code != errc::store_refused || !details)
        return {};
    return read_redirection(details->server_message);
}

} // namespace

request_router::request_router(const redis_config& settings, slot_map& map,
                               detail::time_source& time, fsm::random_source& random,
                               grant_channels& grants, user callbacks)
    : settings_(settings),
      map_(map),
      time_(time),
      random_(random),
      grants_(grants),
      callbacks_(std::move(callbacks))
{}

void request_router::open(const std::shared_ptr<request_router>& self,
                          const std::shared_ptr<detail::context_poster>& poster)
{
    self_ = self;
    poster_ = poster;
    open_ = true;
}

void request_router::refuse_all()
{
    while (lanes_.any_parked())
        refuse(lanes_.parked().front(), errc::store_unavailable);
}

void request_router::forget_all() noexcept
{
    open_ = false;
    lanes_.forget_all();
}

void request_router::on_down(const master_node& which)
{
    for (const request_ptr& each : lanes_.all_parked()) {
        if (each->now == request::state::parked && target(*each) == which.partition &&
            each->not_before <= now())
            refuse(each, which.why);
    }
}

bool request_router::waits_for(store_partition node) const
{
    return std::any_of(lanes_.parked().begin(), lanes_.parked().end(),
                       [&](const request_ptr& each) { return target(*each) == node; });
}

clock::time_point request_router::next_check() const
{
    auto next = clock::time_point::max();
    for (const request_ptr& each : lanes_.parked()) {
        next = std::min(next, each->give_up);
        if (each->not_before != clock::time_point{})
            next = std::min(next, each->not_before);
    }
    return next;
}

void request_router::check(clock::time_point at)
{
    for (const request_ptr& each : lanes_.all_parked()) {
        if (each->now != request::state::parked)
            continue;
        if (each->not_before <= at)
            each->not_before = {};
        if (each->give_up > at)
            continue;
        if (each->rejection)
            refuse(each, errc::store_refused);
        else
            refuse(each, std::holds_alternative<acquire_work>(each->work)
                             ? error_code() // it is too late
                             : error_code(errc::store_unavailable));
    }
    retry();
}

/// Reports the time of the next `check`, which is seldom needed.
void request_router::schedule_check()
{
    if (lanes_.any_parked() || grants_.take_changed())
        callbacks_.on_change();
}

bool request_router::is_served(std::string_view name) const
{
    if (settings_.layout == redis_config::key_layout::native)
        return true;
    // In the other layout, some keys of a name may be in another slot.
    std::string key;
    fence_key(name, key);
    return slot_of(key) == slot_of(name);
}

store_partition request_router::target(const request& one) const
{
    return one.ask_at != 0 ? one.ask_at : map_[one.slot];
}

void request_router::acquire(const acquire_request& request, store::acquire_handler handler)
{
    const auto one = std::make_shared<cluster::request>(request.name, request.owner, request.entry);
    acquire_work work{request, std::move(handler)};
    work.request.name = one->name;
    work.request.owner = one->owner;
    work.request.entry = one->entry;
    one->work = std::move(work);
    one->give_up = now() + std::max(request.budget, std::chrono::milliseconds(0));
    if (request.entry.empty()) // the owner of a reentrant acquisition may belong to another client
        grants_.belongs_to(request.owner);
    submit(one);
}

void request_router::release(const release_request& request, store::release_handler handler)
{
    const auto one = std::make_shared<cluster::request>(request.name, request.owner, request.entry);
    release_work work{
        .request = request, .next = {}, .next_owner = {}, .handler = std::move(handler)};
    work.request.name = one->name;
    work.request.owner = one->owner;
    work.request.entry = one->entry;
    work.request.next = nullptr;
    if (request.next != nullptr) {
        work.next = *request.next;
        work.next_owner = request.next->owner;
    }
    one->work = std::move(work);
    one->give_up = now() + request_limit;
    // A grant, or its renewal, may be awaiting confirmation at another node than the current one.
    for (const auto& each : map_.nodes())
        if (each->replicas)
            each->replicas->leaving(request.owner, request.entry);
    grants_.left(one->slot, one->owner);
    submit(one);
}

void request_router::renew(std::span<const renewal> renewals, store::renew_handler handler)
{
    const auto round = std::make_shared<renewal_round>();
    round->results.resize(renewals.size(), renewal_result::failed);
    round->outstanding = renewals.size();
    if (renewals.empty()) {
        if (poster_)
            poster_->post([done = std::move(handler)]() mutable {
                std::move(done)(error_code(), renew_reply());
            });
        return;
    }
    if (has(mutant::renewals_share_command)) {
        const master_node& first = map_.get(map_[slot_of(renewals.front().name)]);
        if (first.now == master_node::state::up)
            return first.way->renew(renewals, std::move(handler));
    }
    std::vector<request_ptr> all;
    all.reserve(renewals.size());
    for (std::size_t i = 0; i < renewals.size(); ++i) {
        const renewal& each = renewals[i];
        const auto one = std::make_shared<request>(each.name, each.owner, each.entry);
        renewal_work work{each, round, i};
        work.request.name = one->name;
        work.request.owner = one->owner;
        work.request.entry = one->entry;
        one->work = std::move(work);
        one->give_up = now() + std::min(request_limit, each.lease / 4);
        all.push_back(one);
    }
    round->handler = std::move(handler);
    for (const request_ptr& each : all)
        submit(each);
}

/// Accepts a request; inside a call.
void request_router::submit(const request_ptr& one)
{
    if (!poster_)
        return; // never opened: there is no caller to notify
    lanes_.add(one);
    if (!open_)
        return refuse(one, errc::store_unavailable);
    if (!is_served(one->name))
        return refuse(one, errc::invalid_name);
    if (one->is_renewal())
        go(one);
    else
        advance(one->name);
    if (one->now == request::state::parked)
        callbacks_.on_change();
}

/// Sends the requests for a name that may be sent now.
void request_router::advance(const std::string& name)
{
    lane* const all = lanes_.find(name);
    if (all == nullptr)
        return;
    // No request is answered in this loop: replies always come later.
    for (std::size_t i = 0; i < all->requests.size(); ++i) {
        const request_ptr one = all->requests[i];
        if (one->now != request::state::parked)
            continue;
        if (one->not_before > now() || !request_lanes::may_go(*all, *one, target(*one)))
            return;
        go(one);
        if (one->now == request::state::parked)
            return; // it waits for its node, and the others wait for it
    }
}

/// Sends it to the node that serves it, if that node can be reached.
void request_router::go(const request_ptr& one)
{
    const store_partition to = target(*one);
    master_node& there = map_.get(to);
    if (to == 0)
        return refuse(one, errc::store_unavailable);
    switch (there.now) {
    case master_node::state::fresh: return callbacks_.open(there);
    case master_node::state::opening: return;
    case master_node::state::down: return refuse(one, there.why);
    case master_node::state::up: return send(one, there);
    }
}

void request_router::send(const request_ptr& one, master_node& to)
{
    const bool asking = std::exchange(one->ask_at, 0) != 0 && !has(mutant::asking_left_out);
    lanes_.unpark(*one);
    one->now = request::state::sent;
    one->at = to.partition;
    ++to.under_way;
    to.used = true;
    const auto self = self_.lock();
    // The rest of the caller's time limit.
    const auto left = [&](std::chrono::milliseconds budget) {
        using std::chrono::milliseconds;
        return std::min(budget, std::chrono::floor<milliseconds>(one->give_up - now()));
    };
    if (auto* const taking = std::get_if<acquire_work>(&one->work)) {
        acquire_request request = taking->request;
        if (one->redirections > 0 || request.budget > std::chrono::milliseconds(0))
            request.budget = left(request.budget);
        auto done = [self, one](error_code code, acquire_reply reply) {
            self->answered(one, code, std::move(reply));
        };
        if (request.replica_acks > 0)
            acquire_confirmed(to.way, to.replicas, request, std::move(done), asking);
        else
            to.way->acquire(request, std::move(done), asking);
    }
    else if (auto* const leaving = std::get_if<release_work>(&one->work)) {
        release_request request = leaving->request;
        acquire_request next = leaving->next;
        if (!leaving->next_owner.empty()) {
            next.name = one->name;
            next.owner = leaving->next_owner;
            next.entry = {};
            const auto spent = request_limit -
                               std::chrono::floor<std::chrono::milliseconds>(one->give_up - now());
            next.budget -= spent;
            request.next = &next;
        }
        // Its acquire may have been sent to this node only now.
        if (to.replicas)
            to.replicas->leaving(request.owner, request.entry);
        to.way->release(
            request,
            [self, one](error_code code, release_reply reply) {
                self->answered(one, code, std::move(reply));
            },
            asking);
    }
    else if (auto* const keeping = std::get_if<renewal_work>(&one->work)) {
        auto done = [self, one](error_code code, renew_reply reply) {
            self->answered(one, code, std::move(reply));
        };
        if (keeping->request.replica_acks > 0)
            renew_confirmed(to.way, to.replicas, {&keeping->request, 1}, std::move(done), asking);
        else
            to.way->renew({&keeping->request, 1}, std::move(done), asking);
    }
}

template <class Reply>
void request_router::answered(const request_ptr& one, error_code code, Reply reply)
{
    master_node& by = map_.get(one->at);
    --by.under_way;
    if (one->now != request::state::sent)
        return; // the context has ended
    const redirection redirected = redirection_in(code, reply.details);
    if (redirected.what != redirection::kind::none && open_) {
        one->rejection = reply.details;
        if (redirect(one, by, redirected))
            return;
    }
    if constexpr (std::is_same_v<Reply, renew_reply>) {
        // A part of the lock is at another node.
        const bool is_divided = !code && reply.results.front() == renewal_result::failed;
        if (is_divided && open_ && redirect(one, by, {.what = redirection::kind::try_again}))
            return;
    }
    if (!by.serves && by.under_way == 0 && open_)
        callbacks_.tidy();
    finish(one, code, std::move(reply));
}

/// Whether it is sent again, now or later.
bool request_router::redirect(const request_ptr& one, master_node& by,
                              const redirection& redirected)
{
    using kind = redirection::kind;
    if (redirected.what == kind::moved)
        callbacks_.learn(redirected, by);
    else if (redirected.what == kind::down)
        callbacks_.want_map();
    if (!one->is_renewal() && lanes_.go_carefully(*one))
        return false;
    if (redirected.what == kind::try_again && has(mutant::try_again_is_final))
        return false;
    if (now() >= one->give_up)
        return false;
    if (auto* const taking = std::get_if<acquire_work>(&one->work);
        taking != nullptr && has(mutant::redirect_not_charged))
        one->give_up = now() + taking->request.budget;
    ++one->redirections;
    if (redirected.what == kind::ask) {
        const address_reading reached(settings_);
        one->ask_at = map_.at(reached(redirected.where, by.at)).partition;
    }
    const bool elsewhere = redirected.what == kind::moved || redirected.what == kind::ask;
    const bool at_once = elsewhere && one->redirections <= quick_redirections &&
                         target(*one) != by.partition;
    // A slot that no node serves may stay so for longer.
    const int times = redirected.what == kind::down ? 5 : 1;
    one->not_before = at_once ? clock::time_point{}
                              : now() + times * fsm::pick(random_, clock::duration(shortest_pause),
                                                          clock::duration(longest_pause));
    lanes_.park(one);
    if (one->is_renewal()) {
        if (one->not_before <= now())
            go(one);
    }
    else {
        advance(one->name);
    }
    callbacks_.on_change();
    return true;
}

/// It was not executed and is not sent any more. Its handler is called later.
void request_router::refuse(request_ptr one, error_code code)
{
    lanes_.unpark(*one);
    one->now = request::state::answered;
    poster_->post([self = self_.lock(), one, code] { self->finish_refused(one, code); });
}

void request_router::finish_refused(const request_ptr& one, error_code code)
{
    std::shared_ptr<const diagnostics> details = one->rejection;
    if (!details) {
        const store_partition at = target(*one);
        const auto known = map_.knows(at) ? map_.get(at).trouble : nullptr;
        const auto made = known ? std::make_shared<diagnostics>(*known)
                                : std::make_shared<diagnostics>();
        made->server = callbacks_.server_of(at);
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

void request_router::finish(const request_ptr& one, error_code code, acquire_reply reply)
{
    const bool queued = !code && reply.result == acquire_reply::outcome::held && reply.queued;
    if (queued)
        grants_.joined(one->slot, one->name, one->owner);
    else if (!code)
        grants_.left(one->slot, one->owner);
    lanes_.leave(one);
    auto& work = std::get<acquire_work>(one->work);
    std::move(work.handler)(code, std::move(reply));
    advance(one->name);
    schedule_check();
}

void request_router::finish(const request_ptr& one, error_code code, release_reply reply)
{
    auto& work = std::get<release_work>(one->work);
    if (!code && reply.next && reply.next->queued)
        grants_.joined(one->slot, one->name, work.next_owner);
    lanes_.leave(one);
    std::move(work.handler)(code, std::move(reply));
    advance(one->name);
    schedule_check();
}

void request_router::finish(const request_ptr& one, error_code code, renew_reply reply)
{
    one->now = request::state::answered;
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

/// Sends the requests that wait here: a node or the map has changed.
void request_router::retry()
{
    for (const request_ptr& each : lanes_.all_parked()) {
        if (each->now != request::state::parked || each->not_before > now())
            continue;
        if (each->is_renewal())
            go(each);
        else
            advance(each->name);
    }
}

} // namespace leasehold::redis_store::cluster
