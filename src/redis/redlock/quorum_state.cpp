#include "redis/redlock/quorum_state.hpp"

#include "base/mutant.hpp"
#include "fsm/lease/keep_alive.hpp"
#include "redis/redlock/assembly.hpp"

#include <boost/asio/query.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace leasehold::quorum {

quorum_state::quorum_state(std::vector<std::unique_ptr<member>> members, unsigned grants,
                           std::unique_ptr<detail::time_source> time)
    : size{static_cast<unsigned>(members.size()), grants},
      time_(std::move(time)),
      random_(detail::seed_of(*time_))
{
    BOOST_ASSERT(size.valid());
    members_.resize(members.size());
    for (std::size_t i = 0; i < members.size(); ++i)
        members_[i].way = std::move(members[i]);
}

void quorum_state::open(const asio::any_io_executor& strand, store_listener& listener)
{
    asio::use_service<detail::context_lifetime>(asio::query(strand, asio::execution::context))
        .add(shared_from_this());
    poster_ = detail::context_poster::make(strand);
    listener_ = &listener;
    time_->open(strand, [weak = weak_from_this()] {
        if (const auto self = weak.lock())
            self->on_time();
    });
    for (unsigned i = 0; i < size.members; ++i)
        at(i).open(strand, *this, i);
}

void quorum_state::close() noexcept
{
    listener_ = nullptr;
    time_->close();
    timers_.clear();
    partials_.clear();
    for (known& each : members_) {
        each.reachable = false;
        each.way->close();
    }
    if (draining_)
        post(std::exchange(draining_, nullptr));
}

void quorum_state::on_context_end() noexcept
{
    listener_ = nullptr;
    time_->close();
    timers_.clear();
    partials_.clear();
    draining_ = nullptr;
    poster_.reset();
    for (known& each : members_)
        each.reachable = false;
}

mask quorum_state::reachable() const noexcept
{
    mask all = 0;
    for (unsigned i = 0; i < size.members; ++i)
        all |= members_[i].reachable ? bit(i) : 0;
    return all;
}

mask quorum_state::granting() const noexcept
{
    mask all = 0;
    const auto at = now();
    for (unsigned i = 0; i < size.members; ++i) {
        const known& each = members_[i];
        all |= each.reachable && each.is_member && each.silent_until <= at ? bit(i) : 0;
    }
    return all;
}

std::uint64_t quorum_state::next_fence() const noexcept
{
    std::array<std::int64_t, fsm::quorum_size::most_members> times{};
    std::size_t count = 0;
    for (const known& each : members_) {
        if (const std::int64_t time = each.reachable ? each.way->time() : 0; time > 0)
            times[count++] = time;
    }
    // The median: a member with a wrong clock must not make offers that others reject.
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(count / 2);
    std::nth_element(times.begin(), middle, times.begin() + static_cast<std::ptrdiff_t>(count));
    return std::max(largest_ + 1, count > 0 ? static_cast<std::uint64_t>(*middle) : 0);
}

clock::duration quorum_state::patience(std::chrono::milliseconds lease) noexcept
{
    return std::clamp<clock::duration>(clock::duration(lease) / 8, std::chrono::milliseconds(10),
                                       std::chrono::seconds(1));
}

std::uint64_t quorum_state::draw()
{
    // A double can represent it.
    return std::uniform_int_distribution<std::uint64_t>(1, (std::uint64_t(1) << 53) - 1)(random_);
}

// A holder writes its record at each member; some may have lost it, or reject it.
void quorum_state::describe(std::string_view holder, store::describe_handler done)
{
    struct question
    {
        store::describe_handler done;
        unsigned outstanding;
    };
    const mask members = reachable();
    if (members == 0)
        return post([done = std::move(done)]() mutable { std::move(done)(client_info()); });
    const auto all = std::make_shared<question>(question{std::move(done), count(members)});
    for (unsigned i = 0; i < size.members; ++i) {
        if (!contains(members, i))
            continue;
        at(i).async_describe(holder, [all](client_info info) {
            --all->outstanding;
            if (all->done && (!info.empty() || all->outstanding == 0))
                std::exchange(all->done, nullptr)(std::move(info));
        });
    }
}

std::string quorum_state::servers() const
{
    std::string all;
    for (const known& each : members_) {
        all += all.empty() ? "" : ",";
        all += each.way->server();
    }
    return all;
}

std::string quorum_state::trouble_of(unsigned number, error_code failed) const
{
    const known& each = members_[number];
    std::string text = each.way->server();
    text += ": ";
    if (failed)
        text += failed.message();
    else if (!each.reachable)
        text += error_code(each.why ? each.why : error_code(errc::store_unavailable)).message();
    else if (!each.inspected)
        text += "has not said what it knows";
    else if (!each.is_member)
        text += "has restarted or forgotten, and is no member";
    else if (each.silent_until > now())
        text += "waits until what it may have forgotten is over";
    else
        text += "grants";
    if (const std::string_view words = words_of(each.details); !words.empty())
        text.append(" (").append(words).append(")");
    return text;
}

// Reaching members

void quorum_state::on_reachable(unsigned number)
{
    known& each = members_[number];
    each.reachable = true;
    each.inspected = false;
    each.is_member = false;
    each.why = {};
    each.details.reset();
    ++each.connection;
    inspect(number);
}

void quorum_state::on_unreachable(unsigned number, error_code why, const details_ptr& details)
{
    known& each = members_[number];
    each.reachable = false;
    each.inspected = false;
    each.is_member = false;
    each.why = why;
    each.details = details;
    review();
}

void quorum_state::on_member_error(unsigned number, error_code code, const diagnostics& details)
{
    static_cast<void>(number);
    if (listener_ != nullptr)
        listener_->on_error(0, code, details);
}

void quorum_state::inspect(unsigned number)
{
    at(number).async_inspect(
        draw(), [self = shared_from_this(), number, connection = members_[number].connection](
                    error_code failed, const inspect_answer& answer) {
            self->inspected(number, connection, failed, answer);
        });
}

void quorum_state::inspected(unsigned number, unsigned connection, error_code failed,
                             const inspect_answer& answer)
{
    known& each = members_[number];
    if (listener_ == nullptr || connection != each.connection || !each.reachable)
        return;
    if (failed) {
        leave_again(number);
        each.why = failed;
        assemble_later(fsm::pick(random_, again_floor, again_ceiling));
        return review();
    }
    take_inspection(number, answer);
    leave_again(number);
    complete_at(number);
    if (!each.is_member)
        on_blank_member(number);
    review();
}

void quorum_state::take_inspection(unsigned number, const inspect_answer& answer)
{
    known& each = members_[number];
    each.inspected = true;
    each.inspected_at = now();
    each.is_member = answer.is_member;
    each.why = {};
    each.silent_until = answer.is_member ? now() + clock::duration(answer.silent)
                                         : clock::time_point();
    each.view = {.reachable = true,
                 .is_member = answer.is_member,
                 .epoch = answer.epoch,
                 .largest = answer.largest,
                 .nonce = answer.nonce,
                 .began = answer.began,
                 .lease = answer.lease};
    saw_epoch(answer.epoch);
    saw(answer.largest);
    set_timer();
}

void quorum_state::on_blank_member(unsigned number)
{
    known& each = members_[number];
    const bool is_new = std::exchange(each.is_member, false);
    if (is_new) {
        each.inspected = false;
        inspect(number); // to learn its state
        return review();
    }
    // The first client does it for all; others see that it was done. If all are blank, doing it
    // at once affects no lease.
    const bool all = std::all_of(members_.begin(), members_.end(), [](const known& k) {
        return k.reachable && k.inspected && !k.is_member;
    });
    assemble_later(all ? clock::duration() : fsm::pick(random_, {}, std::chrono::milliseconds(50)));
}

void quorum_state::on_silent(unsigned number, std::chrono::milliseconds left)
{
    members_[number].silent_until = now() + clock::duration(left);
    set_timer();
}

void quorum_state::joined(unsigned number, const seed_answer& answer, std::uint64_t epoch)
{
    known& each = members_[number];
    if (!each.reachable)
        return;
    saw_epoch(epoch);
    each.is_member = answer.is_member;
    each.silent_until = now() + clock::duration(answer.silent);
    if (!answer.is_member)
        on_blank_member(number);
    set_timer();
    review();
}

void quorum_state::assemble_later(clock::duration pause)
{
    // The first start is not affected.
    if (has(mutant::lost_member_left_out) && was_online_)
        return;
    assemble_at_ = std::min(assemble_at_, now() + pause);
    set_timer();
}

/// Repeats a query of a member that timed out or failed for lack of memory. No other event would
/// repeat it while the connection lasts.
void quorum_state::inspect_again()
{
    const bool unknown = std::any_of(members_.begin(), members_.end(), [](const known& each) {
        return each.reachable && !each.inspected && each.why != condition::bad_request;
    });
    if (unknown)
        assemble_later(fsm::pick(random_, again_floor, again_ceiling));
}

void quorum_state::assemble()
{
    assemble_at_ = clock::time_point::max();
    if (!assembling_.expired() || listener_ == nullptr)
        return;
    const auto made = std::make_shared<assembly>(shared_from_this());
    assembling_ = made;
    made->start();
}

// Usability

error_code quorum_state::trouble() const noexcept
{
    unsigned undecided = 0;
    unsigned hopeless = 0;
    error_code reason;
    for (const known& each : members_) {
        undecided += !each.why && (!each.inspected || (!each.is_member && !stuck_)) ? 1U : 0U;
        if (each.why == condition::bad_request) {
            ++hopeless;
            reason = each.why;
        }
    }
    if (hopeless > size.members - size.grants)
        return reason;
    if (count(granting()) + undecided >= size.grants || !assembling_.expired())
        return {};
    return errc::no_quorum;
}

void quorum_state::review()
{
    if (listener_ == nullptr)
        return;
    unsigned known_to = 0;
    for (const known& each : members_)
        known_to += each.reachable && each.inspected ? 1 : 0;
    // Leases are renewed wherever they are held, also by blank servers.
    const bool online = count(granting()) >= size.grants ||
                        (was_online_ && known_to >= size.majority());
    if (online && !std::exchange(online_, true)) {
        was_online_ = true;
        reported_trouble_.clear();
        listener_->on_connected(0);
        return;
    }
    if (!online)
        report_trouble();
}

void quorum_state::report_trouble()
{
    const bool was = std::exchange(online_, false);
    const error_code code = was ? error_code(errc::no_quorum) : trouble();
    if (!code)
        return;
    auto details = std::make_shared<diagnostics>();
    details->server = servers();
    std::string& text = details->server_message;
    text = std::to_string(count(granting())) + " of " + std::to_string(size.members) +
           " members grant";
    for (unsigned i = 0; i < size.members; ++i)
        text += "; " + trouble_of(i, {});
    if (!was && reported_trouble_ == text)
        return;
    reported_trouble_ = text;
    listener_->on_error(0, code, *details);
    if (listener_ != nullptr)
        listener_->on_disconnected(0, code);
}

// Releases

void quorum_state::leave_at(unsigned number, const departure& leaving)
{
    if (!members_[number].reachable)
        return leave_later(number, leaving);
    release_at(number, leaving.request(), true,
               [this, number, leaving, sent = now()](error_code failed, const release_answer&) {
                   if (!failed)
                       left(number, leaving.request(), sent);
                   else if (failed != condition::bad_request)
                       leave_later(number, leaving);
               });
}

void quorum_state::leave_later(unsigned number, departure leaving)
{
    if (listener_ == nullptr || has(mutant::unanswered_not_reported))
        return;
    // The member can be reached and rejects the release, or it is too early for it. So no new
    // connection will cause a retry.
    if (members_[number].reachable || leaving.not_before > now()) {
        const auto again = now() + fsm::pick(random_, again_floor, again_ceiling);
        leave_at_ = std::min(leave_at_, std::max(again, leaving.not_before));
        set_timer();
    }
    members_[number].leaving.add(std::move(leaving));
}

/// Repeats a release for at most twice the longest lease that the member knows. Another client may
/// renew the owner there, and a query before the release cannot detect this.
void quorum_state::leave_again(unsigned number)
{
    known& there = members_[number];
    const auto leaving = there.leaving.take();
    const clock::duration longest = std::max(lease_, there.view.lease);
    for (const departure& each : leaving) {
        if (each.not_before > now())
            leave_later(number, each);
        else if (there.inspected_at <= each.since ||
                 now() - each.since < 2 * longest + std::chrono::seconds(1))
            leave_at(number, each);
    }
}

bool quorum_state::drained() const noexcept
{
    return releases_ == 0 && std::none_of(members_.begin(), members_.end(), [](const known& each) {
               return each.reachable && !each.leaving.empty();
           });
}

bool quorum_state::drain(store::drain_handler done)
{
    if (drained())
        return false;
    draining_ = std::move(done);
    drain_until_ = now() + patience();
    set_timer();
    return true;
}

void quorum_state::end_drain()
{
    if (!draining_ || (!drained() && now() < drain_until_))
        return;
    drain_until_ = clock::time_point::max();
    std::exchange(draining_, nullptr)();
}

void quorum_state::may_run(unsigned number, std::string_view owner, std::string_view entry,
                           clock::time_point limit)
{
    members_[number].leaving.may_run(owner, entry, limit, now());
}

void quorum_state::left(unsigned number, const release_request& leaving, clock::time_point sent)
{
    if (auto again = members_[number].leaving.again(leaving, sent, now()))
        leave_later(number, *std::move(again));
}

// Locks that some members lack

bool quorum_state::create_at(unsigned number, const partial_locks::pointer& lock,
                             std::function<void(bool)> done)
{
    const auto sent = now();
    const auto limit = lock->at.limit();
    // The limit of a lock without a majority is in the past.
    if (lock->left || !members_[number].reachable || limit <= sent || has(mutant::not_written_back))
        return false;
    const auto budget = std::chrono::duration_cast<std::chrono::milliseconds>(limit - sent);
    if (budget.count() == 0)
        return false;
    const clock::duration lease = lock->lease;
    const std::vector<upkeep> missing{{lock->what(), true}};
    at(number).async_renew(missing, budget,
                           [self = shared_from_this(), number, lock,
                            until = sent + lease - fsm::drift_margin(lease), limit,
                            done = std::move(done)](const std::vector<kept>& results) {
                               const kept result = results.empty() ? kept::failed : results.front();
                               if (result == kept::failed)
                                   self->may_run(number, lock->owner, lock->entry, limit);
                               if (result == kept::yes) {
                                   lock->at.confirmed(number, until);
                                   if (!lock->left && lock->at.complete(self->now()))
                                       self->partials_.forget(*lock);
                               }
                               if (done)
                                   done(result == kept::yes);
                           });
    return true;
}

/// The member can be reached again, or for the first time.
void quorum_state::complete_at(unsigned number)
{
    for (const auto& [key, lock] : partials_) {
        if (lock->at.until(number) <= now())
            create_at(number, lock, {});
    }
}

void quorum_state::add(operation& made)
{
    operations_.push_back(made);
}

void quorum_state::on_leave(const release_request& leaving)
{
    if (const auto partial = partials_.find(leaving.owner, leaving.entry)) {
        partial->left = true;
        partials_.forget(*partial);
    }
    for (auto each = operations_.begin(); each != operations_.end();) {
        const auto stays = each->shared_from_this();
        ++each;
        stays->on_leave(leaving);
    }
}

// Releases by other clients

void quorum_state::watch(std::string_view name)
{
    if (listener_ == nullptr || !watches_.add(name))
        return;
    for (known& each : members_)
        each.way->watch(name);
}

void quorum_state::unwatch(std::string_view name)
{
    if (!watches_.remove(name))
        return;
    for (known& each : members_)
        each.way->unwatch(name);
}

void quorum_state::on_watching(unsigned number, std::string_view name)
{
    wake(name, watches_.watching(number, name, reachable() | bit(number), now()));
}

void quorum_state::on_unsubscribed(unsigned number)
{
    watches_.unsubscribed(number, size.majority());
}

void quorum_state::on_released(unsigned number, std::string_view name, std::string_view sign,
                               std::uint64_t largest)
{
    saw(largest);
    wake(name, watches_.released(number, name, sign, size.grants, now()));
}

/// Reports a release, unless it is to be reported later.
void quorum_state::wake(std::string_view name, bool at_once)
{
    if (!at_once)
        set_timer();
    else if (listener_ != nullptr)
        listener_->on_wakeup(std::string(name)); // it may unwatch it
}

// Time

void quorum_state::schedule(operation& made, clock::time_point when)
{
    timers_.schedule(made, when);
    set_timer();
}

void quorum_state::set_timer()
{
    if (listener_ == nullptr)
        return;
    auto next = std::min({timers_.next(), assemble_at_, leave_at_, watches_.next(), drain_until_});
    for (const known& each : members_) {
        if (each.is_member && each.silent_until > now())
            next = std::min(next, each.silent_until);
    }
    if (next >= wakes_at_)
        return;
    wakes_at_ = next;
    time_->wake_at(next);
}

void quorum_state::on_time()
{
    const auto stays = shared_from_this();
    wakes_at_ = clock::time_point::max();
    const auto at = now();
    timers_.run(at, 1000);
    if (assemble_at_ <= at)
        assemble();
    if (leave_at_ <= at) {
        leave_at_ = clock::time_point::max();
        for (unsigned i = 0; i < size.members; ++i) {
            if (is_reachable(i))
                leave_again(i);
        }
    }
    if (watches_.next() <= at)
        report_releases(at);
    review(); // a member's silence may have ended
    set_timer();
    end_drain();
}

void quorum_state::report_releases(clock::time_point at)
{
    // The listener may unwatch names.
    for (const std::string& name : watches_.due(at, size.majority())) {
        if (listener_ != nullptr && watches_.contains(name))
            listener_->on_wakeup(name);
    }
}

} // namespace leasehold::quorum
