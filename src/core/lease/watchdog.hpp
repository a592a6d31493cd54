#ifndef LEASEHOLD_SRC_CORE_LEASE_WATCHDOG_HPP
#define LEASEHOLD_SRC_CORE_LEASE_WATCHDOG_HPP

#include "core/lease/ownership.hpp"
#include "core/turn/turn_context.hpp"

#include <vector>

namespace leasehold::detail {

/// Renews what is held until it is released or lost. One timer queue for all leases; those due in
/// one turn go to the store in one batch.
class watchdog
{
public:
    /// Who is told of an end.
    class listener
    {
    public:
        /// The hold is over, for a reason other than a release. It is not watched any more.
        virtual void on_lost(ownership& held, errc reason) = 0;
        /// Its holder has gone without a word.
        virtual void on_abandoned(ownership& held) = 0;

    protected:
        ~listener() = default;
    };

    watchdog(turn_context& r, listener& told) noexcept : context_(r), listener_(told) {}

    /// Keeps the hold alive until its `stop` is emitted or it is lost.
    void start(ownership& held);

    /// The hold's time has come.
    void due(ownership& held);

    /// The store can be reached again: everything is renewed at once, to learn what it still knows.
    void connected();

    /// Sends what the turn has gathered.
    void flush();

    void end(ownership& held, errc reason);

    /// All that is watched, oldest first.
    using holds = boost::intrusive::list<ownership, boost::intrusive::constant_time_size<false>>;
    [[nodiscard]] holds& watched() noexcept { return holds_; }

    void clear() noexcept;

private:
    class keep_alive_stop;
    class batch;

    void schedule(ownership& held) { context_.timers.schedule(held, held.life.next()); }
    void confirmed(ownership& held, clock::time_point sent, clock::time_point now);
    void failed(ownership& held, error_code why, clock::time_point now);

    turn_context& context_;
    listener& listener_;
    holds holds_;
    std::vector<ownership_ptr> gathered_;
};

} // namespace leasehold::detail

#endif
