#ifndef LEASEHOLD_SRC_CORE_LEASE_LOCK_SPEC_HPP
#define LEASEHOLD_SRC_CORE_LEASE_LOCK_SPEC_HPP

#include <leasehold/clock.hpp>
#include <leasehold/detail/fwd.hpp>
#include <leasehold/options.hpp>

#include <algorithm>
#include <chrono>
#include <string>

namespace leasehold::detail {

/// A name and how it is locked: what a mutex carries, and all that was made through it shares.
struct lock_spec
{
    client_state_ptr owner; ///< The client's state; keeps it for as long as there are handles.
    std::string name;
    lock_options options;

    /// The time between renewals; zero: never renewed.
    [[nodiscard]] clock::duration interval() const noexcept
    {
        if (!options.renew)
            return clock::duration::zero();
        if (options.renew_interval.count() != 0)
            return options.renew_interval;
        return clock::duration(options.lease_time) / 3;
    }

    /// How long replicas have to confirm it.
    [[nodiscard]] std::chrono::milliseconds replica_timeout() const noexcept
    {
        using std::chrono::milliseconds;
        if (options.replica_timeout.count() != 0)
            return options.replica_timeout;
        return std::clamp(options.lease_time / 8, milliseconds(1), milliseconds(1'000));
    }

    /// When a lease that begins at `since` has been held for long enough.
    [[nodiscard]] clock::time_point longest(clock::time_point since) const noexcept
    {
        const auto room = std::chrono::duration_cast<std::chrono::milliseconds>(
            clock::time_point::max() - since);
        return options.longest_hold >= room ? clock::time_point::max()
                                            : since + options.longest_hold;
    }

    /// Whether a lease taken under these options serves somebody who asked for `other`.
    [[nodiscard]] bool serves(const lock_spec& other) const noexcept
    {
        const lock_options& a = options;
        const lock_options& b = other.options;
        return this == &other ||
               (a.lease_time == b.lease_time && a.renew == b.renew &&
                a.renew_interval == b.renew_interval && a.longest_hold == b.longest_hold &&
                a.replica_acks == b.replica_acks && a.replica_timeout == b.replica_timeout &&
                a.dead_holder_grace == b.dead_holder_grace);
    }
};

} // namespace leasehold::detail

#endif
