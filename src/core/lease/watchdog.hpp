#ifndef LEASEHOLD_SRC_CORE_LEASE_WATCHDOG_HPP
#define LEASEHOLD_SRC_CORE_LEASE_WATCHDOG_HPP

#include "core/lease/ownership.hpp"
#include "core/turn/turn_context.hpp"

#include <vector>

namespace leasehold::detail {

/// Renews what is held until it is released or lost. One timer queue for all leases; those due in one turn go to the store in one batch.
class watchdog
{
public:
    /// Who is told of an end.
    class listener
    {
    public:
        /// The hold is over, for a reason other than a release. It is not watched any more.
        virtual void on_lost(hold& which, errc reason) = 0;
        /// Its holder has gone without a word.
        virtual void on_forsaken(hold& which) = 0;

    protected:
        ~listener() = default;
    };

    watchdog(runtime& r, listener& told) noexcept : runtime_(r), listener_(told) {}

    /// Keeps the hold alive until its `stop` is emitted or it is lost.
    void start(hold& which);

    /// The hold's time has come.
    void due(hold& which);

    /// The store can be reached again: everything is renewed at once, to learn what it still knows.
    void connected();

    /// Sends what the turn has gathered.
    void flush();

    void end(hold& which, errc reason);

    /// All that is watched, oldest first.
    using holds = boost::intrusive::list<hold, boost::intrusive::constant_time_size<false>>;
    [[nodiscard]] holds& watched() noexcept { return holds_; }

    void clear() noexcept;

private:
    class keep_alive_stop;
    class batch;

    void schedule(hold& which) { runtime_.timers.schedule(which, which.life.next()); }
    void confirmed(hold& which, clock::time_point sent, clock::time_point now);
    void failed(hold& which, error_code why, clock::time_point now);

    runtime& runtime_;
    listener& listener_;
    holds holds_;
    std::vector<hold_ptr> gathered_;
};

} // namespace leasehold::detail

#endif
