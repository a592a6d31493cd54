#include "chaos/nemesis.hpp"

#include "chaos/boot_time.hpp"

#include <algorithm>
#include <utility>

namespace leasehold::test::chaos {

namespace {

/// With several servers, a fault affects all of them in one of three cases, and otherwise each of
/// them or not.
bool struck(const planned_fault& by, std::size_t proxy, std::size_t proxies)
{
    const std::uint64_t drawn = by.detail >> 24U;
    return proxies == 1 || drawn % 3 == 0 || (drawn / 3 >> proxy) % 2 == 0;
}

} // namespace

std::vector<fault_kind> faults_of_clients()
{
    std::vector<fault_kind> all;
    for (auto i = static_cast<std::size_t>(fault_kind::stop_client);
         i < static_cast<std::size_t>(fault_kind::count_); ++i)
        all.push_back(static_cast<fault_kind>(i));
    return all;
}

nemesis::nemesis(std::vector<planned_fault> plan, std::chrono::milliseconds lease,
                 deployment& servers, client_fleet& clients)
    : plan_(std::move(plan)),
      lease_(lease),
      servers_(servers),
      crew_(clients),
      started_(boot_time())
{}

bool nemesis::busy(std::size_t place) const
{
    return std::any_of(active_.begin(), active_.end(),
                       [&](const active& each) { return each.what.place == place; });
}

void nemesis::step(stamp now)
{
    for (const active& each : active_)
        if (each.until <= now)
            end(each);
    std::erase_if(active_, [&](const active& each) { return each.until <= now; });
    if (next_ == plan_.size())
        return;
    const planned_fault& next = plan_[next_];
    if (now < started_ + next.begin || active_.size() == most_at_once || busy(next.place))
        return;
    ++next_;
    begin(next, now);
}

void nemesis::heal()
{
    for (const active& each : active_)
        end(each);
    active_.clear();
}

void nemesis::begin(const planned_fault& planned, stamp now)
{
    log_.push_back({.what = name_of(planned.kind),
                    .whom = planned.place == the_server ? "server" : crew_.name(planned.place),
                    .begin = boot_time(),
                    .end = stamp::max(),
                    .loses = planned.place == the_server && servers_.loses(planned.kind),
                    .forgets = planned.place == the_server && servers_.forgets(planned.kind)});
    active_.push_back({.what = planned, .until = now + planned.length, .logged = log_.size() - 1});
    if (planned.place == the_server)
        servers_.begin(planned, log_.back());
    else
        begin_at_client(planned);
    if (planned.length.count() == 0) {
        log_.back().end = boot_time();
        active_.pop_back();
    }
}

void nemesis::begin_at_client(const planned_fault& planned)
{
    if (planned.kind == fault_kind::stop_client)
        return crew_.pause(planned.place);
    if (planned.kind == fault_kind::kill_client)
        return crew_.kill(planned.place);
    const auto& all = crew_.proxies(planned.place);
    for (std::size_t i = 0; i < all.size(); ++i)
        if (struck(planned, i, all.size()))
            begin_on_the_way(planned, *all[i]);
}

void nemesis::begin_on_the_way(const planned_fault& planned, fault_proxy& proxy) const
{
    const std::string command = servers_.request_text();
    switch (planned.kind) {
    case fault_kind::half_open: return proxy.drop();
    case fault_kind::blackhole: return proxy.stall();
    case fault_kind::drop_requests: return proxy.drop_requests();
    case fault_kind::drop_replies: return proxy.drop_replies();
    case fault_kind::hold_replies: return proxy.stall_replies();
    case fault_kind::reset_connections: return proxy.reset_all();
    case fault_kind::refuse_connections: proxy.refuse(); return proxy.reset_all();
    case fault_kind::latency:
        // In both directions: from a part of the lease time to more than two of them.
        return proxy.delay(lease_ * (2 + planned.detail % 11) / 10);
    case fault_kind::reset_around_command:
        switch (command.empty() ? 2 + planned.detail % 2 : planned.detail % 4) {
        case 0: return proxy.forward_then_reset(command);
        case 1: return proxy.reset_before(command);
        case 2: return proxy.cut_after_request_bytes(planned.detail / 4 % 200, command);
        default: return proxy.cut_after_reply_bytes(planned.detail / 4 % 20, command);
        }
    default: return;
    }
}

void nemesis::end(const active& over)
{
    if (over.what.place == the_server)
        servers_.end(over.what, log_[over.logged]);
    else
        end_at_client(over.what);
    log_[over.logged].end = boot_time();
}

void nemesis::end_at_client(const planned_fault& planned)
{
    if (planned.kind == fault_kind::stop_client)
        return crew_.resume(planned.place);
    if (planned.kind == fault_kind::kill_client)
        return crew_.start(planned.place);
    for (const auto& each : crew_.proxies(planned.place))
        end_on_the_way(planned, *each);
}

void nemesis::end_on_the_way(const planned_fault& planned, fault_proxy& proxy)
{
    switch (planned.kind) {
    case fault_kind::refuse_connections: return proxy.accept();
    case fault_kind::latency: return proxy.delay({});
    default: return proxy.forward();
    }
}

} // namespace leasehold::test::chaos
