#include "testing/time/host_state.hpp"

#include <algorithm>
#include <utility>

namespace leasehold::testing::impl {

void local_alarm::arm(host_state& on, clock::time_point local)
{
    where_ = &on;
    local_ = local;
    if (!listed::is_linked())
        on.local_alarms.push_back(*this);
    const auto truth = on.lease_clock->when_shows(local);
    if (truth == clock::time_point::max())
        alarm::disarm();
    else
        on.time.arm(*this, truth);
}

void local_alarm::ring()
{
    host_state& on = *where_;
    // A clock that was slowed down meanwhile does not show the time yet.
    if (on.lease_clock->now() < local_)
        return arm(on, local_);
    // The timers of the operating system stop while the machine is suspended.
    if (by_timer_ && on.paused && on.timers_late > clock::duration::zero())
        return on.time.arm(*this, on.pause_ends +
                                      clock::duration(static_cast<clock::rep>(on.random.below(
                                          static_cast<std::uint64_t>(on.timers_late.count())))));
    listed::unlink();
    due();
}

host_state::host_state(scheduler& all, std::size_t index, std::string called)
    : time(all),
      number(index),
      name(called.empty() ? "host " + std::to_string(index) : std::move(called)),
      random(mix(all.seed()) + index),
      lease_clock(
          std::make_shared<machine_clock>(all.time, std::chrono::seconds(random.below(1'000'000))))
{}

host_state::~host_state() = default;

void host_state::pause(clock::duration how_long, bool suspended)
{
    if (crashed)
        return;
    paused = true;
    pause_ends = std::max(pause_ends, time.now() + how_long);
    timers_late = suspended ? std::chrono::seconds(1) : clock::duration::zero();
    line(suspended ? "SUSPENDED" : "PAUSED");
    time.at(pause_ends, [this] {
        if (paused && time.now() >= pause_ends)
            resume();
    });
}

void host_state::resume()
{
    line("runs again");
    paused = false;
    timers_late = {};
    time.release(*this);
}

void host_state::drift(std::int64_t rate)
{
    lease_clock->drift(rate);
    for (local_alarm& each : local_alarms)
        each.arm(*this, each.local_);
}

void host_state::cut_off(direction which, clock::duration how_long)
{
    off.extend(which, time.now() + how_long);
    line(which == direction::both        ? "CUT OFF"
         : which == direction::to_server ? "CUT OFF to the server"
                                         : "CUT OFF from the server");
}

void host_state::cut_off(const server_state& to, direction which, clock::duration how_long)
{
    way_to(to).off.extend(which, time.now() + how_long);
}

host_state::way& host_state::way_to(const server_state& to)
{
    for (way& each : ways)
        if (each.to == &to)
            return each;
    return ways.emplace_back(way{.to = &to});
}

const host_state::way* host_state::find_way(const server_state& to) const noexcept
{
    const auto found = std::find_if(ways.begin(), ways.end(),
                                    [&](const way& each) { return each.to == &to; });
    return found == ways.end() ? nullptr : &*found;
}

const conditions& host_state::messages_to(const server_state& to) const noexcept
{
    const way* const own = find_way(to);
    return own != nullptr && own->messages ? *own->messages : messages;
}

clock::time_point host_state::cut_until_to(const server_state& to) const noexcept
{
    const way* const own = find_way(to);
    return std::max(off.to_server_until,
                    own == nullptr ? clock::time_point() : own->off.to_server_until);
}

clock::time_point host_state::cut_until_from(const server_state& from) const noexcept
{
    const way* const own = find_way(from);
    return std::max(off.from_server_until,
                    own == nullptr ? clock::time_point() : own->off.from_server_until);
}

void host_state::add_connection(const std::shared_ptr<connection_end>& made)
{
    std::erase_if(connections, [](const auto& each) { return each.expired(); });
    connections.push_back(made);
}

void host_state::drop_waits() noexcept
{
    for (const auto& each : std::exchange(connections, {}))
        if (const auto alive = each.lock())
            alive->drop();
    while (!local_alarms.empty()) {
        local_alarm& each = local_alarms.front();
        each.disarm();
        each.drop();
    }
}

clock::duration host_state::delay(const server_state& to)
{
    const conditions& net = messages_to(to);
    const auto usual = random.between(net.delay_floor.count(), net.delay_ceiling.count());
    if (!random.chance(net.slow))
        return clock::duration(usual);
    ++befallen.late;
    return clock::duration(usual) + net.slow_delay;
}

} // namespace leasehold::testing::impl
