#include "sim/silent_holders.hpp"

#include "redis/commands/native_keys.hpp"
#include "testing/server/server_state.hpp"

#include <algorithm>

namespace leasehold::test::sim {

using namespace std::chrono_literals;
using redis_store::native::client_of;

namespace {

// A waiter polls again within a third of its presence. Clocks drift.
constexpr clock::duration pace = 3400ms;

// The first three waiters of a queue poll when a holder may have been silent for too long, one
// after the other.
constexpr std::int64_t lookers = 3;

// The maximum time of a poll and its reply without a fault.
constexpr clock::duration at_most = 100ms;

} // namespace

void silent_holders::follow_server()
{
    const auto& all = trial_.scenario.options;
    if (std::none_of(all.begin(), all.end(),
                     [](const lock_options& each) { return each.dead_holder_grace != 0ms; }))
        return;
    testing::impl::server_state& server = trial_.server.state();
    server.on_alive = [this](std::string_view client) {
        alive_.insert_or_assign(std::string(client), trial_.now());
    };
    server.on_answered = [this](const testing::impl::lock_request& asked,
                                const testing::impl::lock_effect& said) {
        looked(asked.name, said);
    };
}

void silent_holders::looked(std::string_view name, const testing::impl::lock_effect& said)
{
    // A granted owner does not wait.
    if (said.taken)
        looks_.erase({std::string(client_of(said.owner)), std::string(name)});
    if (said.queued.empty())
        return;
    const bool among_first = said.place >= 0 && said.place < lookers;
    const clock::duration behind = among_first ? 2ms + said.place * 50ms : pace;
    const clock::duration next = among_first && said.held_for >= 0
                                     ? milliseconds(said.held_for) + behind
                                     : pace;
    look& last = looks_[{std::string(client_of(said.queued)), std::string(name)}];
    const bool again = last.owner == said.queued && last.found_silent;
    last = {.owner = std::string(said.queued),
            .when = trial_.now(),
            .next = std::min(next, pace),
            .behind = behind};
    // The server counts in milliseconds, and its clock drifts.
    const name_state& n = trial_.named(name);
    const auto silent = silent_at(n);
    last.found_silent = silent && is_reliable() &&
                        trial_.now() > *silent + trial_.server.state().promise_of(name) / 200 + 1ms;
    if (again && last.found_silent)
        trial_.wrong("silent holder: " + n.text + " was to be free " + ms_since(*silent) +
                     " ms ago, and polls do not free it");
}

/// With a wrong clock no poll is in time, and no holder is found silent.
bool silent_holders::is_reliable() const noexcept
{
    return !trial_.clocks_beyond && !trial_.stepped_back;
}

/// Since that poll, and only if its client can.
bool silent_holders::waits(const process& p, const name_state& n, const look& last) const
{
    if (p.dead || p.closing || p.host->is_crashed())
        return false;
    const auto line = trial_.server.state().queue_of(n.text);
    return std::find(line.begin(), line.end(), last.owner) != line.end() &&
           std::any_of(trial_.actors.begin(), trial_.actors.end(), [&](const actor& a) {
               return a.client == &p && a.waits && &trial_.names[a.op->name] == &n &&
                      a.op->what != verb::try_once && a.started <= last.when;
           });
}

void silent_holders::probe()
{
    if (looks_.empty() || !is_reliable())
        return;
    for (const name_state& n : trial_.names)
        probe(n);
}

/// The time when the holder will have been silent for its grace. Empty: it sends no heartbeats.
std::optional<clock::time_point> silent_holders::silent_at(const name_state& n) const
{
    const clock::duration grace = trial_.server.state().promise_of(n.text);
    const auto heard = alive_.find(client_of(trial_.server.holder(n.text)));
    if (grace == clock::duration::zero() || heard == alive_.end())
        return std::nullopt;
    // If the server may have lost the record, it first knows the holder after the next poll.
    return std::max(after(trial_.store_trouble), heard->second) + grace;
}

/// When the waiters have polled again after the trouble.
clock::time_point silent_holders::after(clock::time_point trouble) const
{
    clock::duration longest_pause{};
    for (const lock_options& each : trial_.scenario.options)
        longest_pause = std::max<clock::duration>(longest_pause, each.backoff_ceiling);
    return trouble == never ? never : trouble + to_notice + longest_pause + pace;
}

void silent_holders::probe(const name_state& n)
{
    const auto silent = silent_at(n);
    if (!silent)
        return;
    for (const process* const each : trial_.clients) {
        const auto core = each->core.lock();
        const auto found = core ? looks_.find({core->uuid(), n.text}) : looks_.end();
        if (found == looks_.end() || !waits(*each, n, found->second))
            continue;
        const look& last = found->second;
        const auto troubled = after(
            std::max(trial_.store_trouble, trial_.client_trouble[each->client]));
        const auto next_poll = std::max(last.when + last.next,
                                        troubled > last.when + pace ? troubled : never);
        if (trial_.now() > std::max(next_poll, *silent + last.behind) + at_most)
            trial_.wrong("silent holder: " + n.text + " was to be free " + ms_since(*silent) +
                         " ms ago, and " + each->host->name() + " waits");
    }
}

std::string silent_holders::ms_since(clock::time_point when) const
{
    return std::to_string((trial_.now() - when) / 1ms);
}

} // namespace leasehold::test::sim
