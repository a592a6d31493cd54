#include "core/lease/watchdog.hpp"

#include "core/lease/lease_state.hpp"
#include "mutant.hpp"

#include <algorithm>

namespace leasehold::detail {

void hold::expired()
{
    keeper->due(*this);
}

/// The end of a keep-alive, as its slot sees it.
class watchdog::keep_alive_stop
{
public:
    explicit keep_alive_stop(hold& which) noexcept : hold_(which) {}

    void operator()(asio::cancellation_type) const noexcept
    {
        timer_queue::cancel(hold_);
        hold_.leave();
        // A renewal that waits to be sent is dropped at the flush, the answer to one under way is not looked at.
        static_cast<void>(hold_.life.end({}));
    }

private:
    hold& hold_;
};

/// Renewals that were sent together.
class watchdog::batch final : public timer, public boost::intrusive_ref_counter<batch>
{
public:
    batch(watchdog& keeper, std::vector<hold_ptr> members, clock::time_point sent)
        : keeper_(keeper), members_(std::move(members)), sent_(sent)
    {}

    void send()
    {
        runtime& r = keeper_.runtime_;
        clock::duration limit = runtime::request_limit;
        std::vector<renewal> renewals;
        renewals.reserve(members_.size());
        for (const hold_ptr& each : members_) {
            const auto lease = each->spec->options.lease_time;
            renewals.push_back({each->spec->name, each->owner, lease, each->entry()});
            limit = std::min<clock::duration>(limit, clock::duration(lease) / 4);
        }
        r.timers.schedule(*this, sent_ + limit);
        r.locks().async_renew(renewals, [client = r.shared_from_this(), self = boost::intrusive_ptr<batch>(this)](
                                            error_code failed, std::vector<renewal_result> results) {
            client->turn([&] { self->answered(failed, results); });
        });
    }

private:
    void answered(error_code failed, const std::vector<renewal_result>& results)
    {
        timer_queue::cancel(*this);
        const auto now = keeper_.runtime_.turn_time();
        for (std::size_t i = 0; i < members_.size(); ++i) {
            hold& each = *members_[i];
            if (each.life.ended())
                continue;
            const auto result = failed || i >= results.size() ? renewal_result::failed : results[i];
            if (result == renewal_result::renewed || (has(mutant::gone_ignored) && result == renewal_result::gone))
                keeper_.confirmed(each, sent_, now);
            else if (result == renewal_result::gone || has(mutant::unknown_is_lost))
                keeper_.end(each, errc::lost);
            else if (!given_up_)
                keeper_.failed(each, failed ? failed : error_code(errc::store_refused), now);
        }
    }

    void expired() override
    {
        // A late answer still counts: it is proof.
        given_up_ = true;
        const auto now = keeper_.runtime_.turn_time();
        for (const hold_ptr& each : members_)
            if (!each->life.ended())
                keeper_.failed(*each, errc::outcome_unknown, now);
    }

    watchdog& keeper_;
    std::vector<hold_ptr> members_;
    clock::time_point sent_;
    bool given_up_ = false;
};

void watchdog::start(hold& which)
{
    which.keeper = this;
    which.stop.slot().emplace<keep_alive_stop>(which);
    holds_.push_back(which);
    schedule(which);
}

void watchdog::due(hold& which)
{
    const hold_ptr stays(&which);
    const auto now = runtime_.turn_time();
    if (which.current && which.current->forsaken.load(std::memory_order_relaxed))
        return listener_.on_forsaken(which);
    switch (which.life.due(now)) {
    case fsm::keep_alive::action::wait: schedule(which); break;
    case fsm::keep_alive::action::end: end(which, which.life.reason()); break;
    case fsm::keep_alive::action::renew:
        if (runtime_.online()) {
            which.life.sent();
            gathered_.push_back(stays);
            schedule(which);
        }
        else {
            failed(which, errc::store_unavailable, now);
        }
    }
}

void watchdog::connected()
{
    const auto now = runtime_.turn_time();
    for (hold& each : holds_) {
        each.life.connected(now);
        schedule(each);
    }
}

void watchdog::flush()
{
    if (gathered_.empty())
        return;
    std::erase_if(gathered_, [](const hold_ptr& each) { return each->life.ended(); });
    if (gathered_.empty())
        return;
    const boost::intrusive_ptr<batch> all(new batch(*this, std::exchange(gathered_, {}), runtime_.turn_time()));
    all->send();
}

void watchdog::end(hold& which, errc reason)
{
    const hold_ptr stays(&which);
    timer_queue::cancel(which);
    which.leave();
    if (!which.life.ended())
        which.life.end(reason);
    listener_.on_lost(which, reason);
}

void watchdog::clear() noexcept
{
    holds_.clear();
    gathered_.clear();
}

void watchdog::confirmed(hold& which, clock::time_point sent, clock::time_point now)
{
    // It may come when the deadline has passed: then the lease is over all the same.
    if (which.life.confirmed(sent, now) == fsm::keep_alive::action::end)
        return end(which, which.life.reason());
    which.publish();
    schedule(which);
    ++runtime_.counts.renewed;
    runtime_.tell([&](observer& o) {
        o.renewed(which.spec->name, which.current ? which.current->fence : 0, now - sent);
    });
}

void watchdog::failed(hold& which, error_code why, clock::time_point now)
{
    which.life.failed(now);
    schedule(which);
    ++runtime_.counts.renewals_failed;
    runtime_.tell([&](observer& o) {
        o.renewal_late(which.spec->name, which.current ? which.current->fence : 0, why, which.life.deadline() - now);
    });
}

} // namespace leasehold::detail
