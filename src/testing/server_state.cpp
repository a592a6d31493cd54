#include "testing/server_state.hpp"

#include "testing/simulated_store.hpp"

#include <algorithm>
#include <utility>

namespace leasehold::testing::impl {
namespace {

// What is older than this is in every replica and on every disk.
constexpr clock::duration longest_lag = std::chrono::seconds(30);
constexpr std::size_t journal_limit = 4096;
// A server runs no two scripts in one microsecond, and fences are told apart by it when the
// counters are lost.
constexpr clock::duration least = std::chrono::microseconds(2);

std::string short_id(const std::string& owner)
{
    // The beginning tells clients apart, the end their acquisitions.
    const auto colon = owner.find(':');
    return colon == std::string::npos || colon < 4 ? owner
                                                   : owner.substr(0, 4) + owner.substr(colon);
}

} // namespace

/// The server takes the next command.
class server_state::worker final : public alarm
{
public:
    explicit worker(server_state& of) noexcept : of_(of) {}

private:
    void ring() override { of_.work(); }

    server_state& of_;
};

server_state::~server_state() = default;

server_state::server_state(scheduler& all, std::string called)
    : time(all),
      name(called.empty() ? "server" : std::move(called)),
      clock_of_it(all.time, std::chrono::seconds(1'700'000'000)),
      worker_(std::make_unique<worker>(*this))
{
    scripts_known.fill(true);
}

std::int64_t server_state::time_us() const noexcept
{
    return std::chrono::floor<std::chrono::microseconds>(clock_of_it.now().time_since_epoch())
        .count();
}

void server_state::arrive(const call_ptr& what, bool reset_after)
{
    if (!accepts())
        return;
    const bool free = queue_.empty() && time.now() >= std::max(stalled_until, next_free_);
    if (!free) {
        queue_.push_back({what, reset_after});
        if (queue_.size() == 1)
            time.arm(*worker_, std::max(stalled_until, next_free_));
        return;
    }
    next_free_ = time.now() + std::max(each_takes, least);
    if (each_takes == clock::duration::zero())
        return run(what, reset_after);
    queue_.push_back({what, reset_after});
    time.arm(*worker_, next_free_);
}

/// One after the other, in the order in which they came.
void server_state::work()
{
    if (queue_.empty())
        return;
    if (time.now() < stalled_until)
        return time.arm(*worker_, stalled_until);
    const waiting next = std::move(queue_.front());
    queue_.pop_front();
    if (!queue_.empty())
        time.arm(*worker_, time.now() + std::max(each_takes, least));
    next_free_ = time.now() + std::max(each_takes, least);
    run(next.what, next.reset_after);
}

/// Works on at the new speed.
void server_state::speed(clock::duration each)
{
    each_takes = each;
    next_free_ = std::min(next_free_, time.now() + std::max(each, least));
    if (!queue_.empty())
        time.arm(*worker_, std::max(stalled_until, next_free_));
}

void server_state::run(const call_ptr& what, bool reset_after)
{
    ++commands;
    answer said = execute(*what);
    said.server_us = time_us();
    time.witness(static_cast<std::uint64_t>(what->what) << 32 |
                 static_cast<std::uint64_t>(said.failed.value()) << 16 |
                 static_cast<std::uint64_t>(said.acquired.result) << 8 |
                 static_cast<std::uint64_t>(said.released.result));
    if (what->has_steps())
        what->host.told(what->ran_step());
    const auto to = what->from.lock();
    if (!to)
        return;
    if (reset_after) {
        what->host.line("connection RESET after the request ran");
        if (what->connection == to->connection())
            to->reset();
        return;
    }
    to->reply(what, std::move(said));
}

answer server_state::execute(call& what)
{
    answer said;
    const auto result = [&](const char* text) {
        if (time.traced())
            line(describe(what) + " -> " + text);
    };
    if (what.what == call::kind::subscribe) {
        const auto who = what.from.lock();
        if (who && who->connection() == what.connection)
            subscriptions.push_back({who.get(), who, what.connection, what.name});
        return said;
    }
    if (what.what == call::kind::unsubscribe) {
        std::erase_if(subscriptions, [&](const subscription& s) {
            return s.connection == what.connection && s.id == what.from.lock().get() &&
                   s.name == what.name;
        });
        return said;
    }
    if (time.now() < refuses_until) {
        said.failed = errc::store_refused;
        said.renewed.resize(what.items.size(), renewal_result::failed);
        result("refused");
        return said;
    }
    if (time.now() < denies_until) {
        said.failed = errc::permission_denied;
        said.renewed.resize(what.items.size(), renewal_result::failed);
        result("denied");
        return said;
    }
    if (!std::exchange(scripts_known[static_cast<std::size_t>(what.what)], true)) {
        said.script_missing = true;
        result("no script");
        return said;
    }
    const auto now = instant();
    switch (what.what) {
    case call::kind::acquire: execute_acquire(what, said); break;
    case call::kind::renew:
        for (const call::item& each : what.items) {
            if (fails_renewals_of(each.name)) {
                if (time.traced())
                    line("renew " + each.name + " by " + short_id(each.owner) + " -> failed");
                said.renewed.push_back(renewal_result::failed);
                continue;
            }
            const auto got = is_overwritten(each.name)
                                 ? renewal_result::gone
                                 : data.renew({each.name, each.owner, each.lease, each.entry}, now);
            if (got == renewal_result::renewed)
                note(written::kind::renew, each.name, each.owner, each.entry, each.lease);
            if (time.traced())
                line("renew " + each.name + " by " + short_id(each.owner) +
                     (got == renewal_result::renewed ? " -> renewed" : " -> GONE"));
            said.renewed.push_back(got);
        }
        break;
    case call::kind::release:
        if (is_overwritten(what.name)) {
            said.failed = errc::wrong_type;
            result("wrong type");
            break;
        }
        said.released.result = data.release({what.name, what.owner, what.entry}, now);
        if (said.released.result != release_reply::outcome::not_owner)
            note(written::kind::release, what.name, what.owner, what.entry);
        result(said.released.result == release_reply::outcome::freed  ? "freed"
               : said.released.result == release_reply::outcome::left ? "left"
                                                                      : "not owner");
        if (said.released.result == release_reply::outcome::freed)
            publish(what.name, said.released);
        if (said.released.result == release_reply::outcome::freed && on_free)
            on_free(what.name);
        break;
    default: break;
    }
    return said;
}

void server_state::execute_acquire(call& what, answer& said)
{
    if (is_overwritten(what.name)) {
        said.failed = errc::wrong_type;
        if (time.traced())
            line(describe(what) + " -> wrong type");
        return;
    }
    const auto now = instant();
    const acquire_request request{what.name, what.owner, what.entry, what.lease, what.fences, {}};
    // A repetition finds the owner in.
    const bool repeated = what.entry.empty() &&
                          data.renew({what.name, what.owner, std::chrono::milliseconds(0)}, now) ==
                              renewal_result::renewed;
    said.acquired = data.acquire(request, memory::microseconds(what.latest), now);
    const bool granted = said.acquired.result == acquire_reply::outcome::granted;
    if (granted) {
        note(written::kind::acquire, what.name, what.owner, what.entry, what.lease, what.fences);
        time.witness(said.acquired.first_fence);
    }
    if (time.traced()) {
        std::string text = describe(what) + " -> ";
        switch (said.acquired.result) {
        case acquire_reply::outcome::granted:
            text += what.entry.empty()
                        ? "GRANTED fence " +
                              std::to_string(said.acquired.first_fence % 1'000'000'000)
                        : "entered";
            break;
        case acquire_reply::outcome::held:
            text += "held for " + std::to_string(said.acquired.remaining.count()) + " ms";
            break;
        case acquire_reply::outcome::late: text += "too late"; break;
        case acquire_reply::outcome::gone: text += "gone"; break;
        }
        line(text);
    }
    if (granted && what.entry.empty() && on_grant)
        on_grant({what.name, what.owner, said.acquired.first_fence, said.acquired.fences, repeated,
                  time.now() - what.sent});
}

void server_state::publish(std::string_view freed, release_reply& reply)
{
    for (const subscription& each : subscriptions) {
        if (each.name != freed)
            continue;
        ++reply.receivers;
        if (const auto to = each.who.lock())
            to->publish(freed, each.connection);
    }
}

void server_state::connect(const std::shared_ptr<simulated_store>& who)
{
    std::erase_if(connected_,
                  [&](const auto& each) { return each.expired() || each.lock() == who; });
    connected_.push_back(who);
}

void server_state::disconnect(simulated_store& who, std::uint64_t connection)
{
    std::erase_if(subscriptions, [&](const subscription& s) {
        return s.id == &who && s.connection == connection;
    });
    std::erase_if(connected_,
                  [&](const auto& each) { return each.expired() || each.lock().get() == &who; });
}

void server_state::go_down(clock::duration how_long)
{
    down_until = std::max(down_until, time.now() + how_long);
    ++life_;
    queue_.clear();
    next_free_ = {};
    stalled_until = {};
    subscriptions.clear();
    for (const auto& each : std::exchange(connected_, {})) {
        // One that is cut off does not hear of it.
        if (const auto who = each.lock(); who && !who->host().cut_from_server())
            who->reset();
    }
    scripts_known.fill(false);
}

void server_state::note(written::kind what, std::string_view n, std::string_view owner,
                        std::string_view entry, std::chrono::milliseconds lease,
                        std::uint32_t fences)
{
    journal_.push_back({what, std::string(n), std::string(owner), std::string(entry), lease, fences,
                        instant(), time.now()});
    while (journal_.size() > journal_limit && journal_.front().when < time.now() - longest_lag) {
        replay(old_, journal_.front());
        journal_.pop_front();
    }
}

void server_state::replay(memory::lock_table& onto, const written& one)
{
    switch (one.what) {
    case written::kind::acquire:
        static_cast<void>(onto.acquire({one.name, one.owner, one.entry, one.lease, one.fences, {}},
                                       memory::lock_table::no_limit, one.at));
        break;
    case written::kind::renew:
        static_cast<void>(onto.renew({one.name, one.owner, one.lease, one.entry}, one.at));
        break;
    case written::kind::release:
        static_cast<void>(onto.release({one.name, one.owner, one.entry}, one.at));
        break;
    case written::kind::erase: static_cast<void>(onto.erase(one.name, one.at)); break;
    case written::kind::flush: onto.clear(); break;
    }
}

/// The data as it was that long ago.
std::size_t server_state::lose(clock::duration latest)
{
    const auto kept = time.now() - latest;
    std::size_t gone = 0;
    for (; !journal_.empty() && journal_.back().when > kept; ++gone)
        journal_.pop_back();
    memory::lock_table again(old_);
    for (const written& each : journal_)
        replay(again, each);
    data = again;
    return gone;
}

std::size_t server_state::flush_all()
{
    const std::size_t gone = data.names() + overwritten_.size();
    data.clear();
    overwritten_.clear();
    note(written::kind::flush, {});
    return gone;
}

bool server_state::erase(std::string_view n)
{
    const bool was_overwritten = std::erase(overwritten_, n) != 0;
    const bool was_locked = data.erase(n, instant());
    if (was_locked)
        note(written::kind::erase, n);
    return was_locked || was_overwritten;
}

bool server_state::overwrite(std::string_view n)
{
    const bool was_there = erase(n);
    overwritten_.emplace_back(n);
    return was_there;
}

bool server_state::seize(std::string_view n, std::chrono::milliseconds how_long)
{
    const bool was_there = erase(n);
    const std::string who = "foreigner:" + std::to_string(++foreigners_);
    const auto got = data.acquire({n, who, {}, how_long, 1, {}}, memory::lock_table::no_limit,
                                  instant());
    note(written::kind::acquire, n, who, {}, how_long, 1);
    if (on_grant)
        on_grant({n, who, got.first_fence, got.fences, false, {}});
    return was_there;
}

bool server_state::fails_renewals_of(std::string_view n) const noexcept
{
    return std::any_of(no_renewals.begin(), no_renewals.end(), [&](const auto& each) {
        return each.first == n && time.now() < each.second;
    });
}

bool server_state::is_overwritten(std::string_view n) const noexcept
{
    return !overwritten_.empty() &&
           std::find(overwritten_.begin(), overwritten_.end(), n) != overwritten_.end();
}

std::string server_state::describe(const call& what)
{
    switch (what.what) {
    case call::kind::acquire:
        return (what.entry.empty() ? "acquire " : "enter ") + what.name + " for " + what.host.name +
               " as " + short_id(what.owner);
    case call::kind::renew:
        return "renew " + std::to_string(what.items.size()) + " for " + what.host.name;
    case call::kind::release:
        return (what.entry.empty() ? "release " : "leave ") + what.name + " for " + what.host.name +
               " as " + short_id(what.owner);
    case call::kind::subscribe: return "watch " + what.name;
    case call::kind::unsubscribe: return "unwatch " + what.name;
    }
    return {};
}

} // namespace leasehold::testing::impl
