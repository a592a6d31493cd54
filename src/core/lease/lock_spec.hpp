#ifndef LEASEHOLD_SRC_CORE_LEASE_LOCK_SPEC_HPP
#define LEASEHOLD_SRC_CORE_LEASE_LOCK_SPEC_HPP

#include <leasehold/clock.hpp>
#include <leasehold/detail/fwd.hpp>
#include <leasehold/options.hpp>
#include <leasehold/owner.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace leasehold::detail {

/// A name and its options. Shared by a mutex and all operations and leases of it.
struct lock_spec
{
    lock_spec(client_state_ptr of, std::string lock, const lock_options& chosen)
        : client(std::move(of)),
          name(std::move(lock)),
          options(chosen),
          interval(interval_of(chosen)),
          replica_timeout(replica_timeout_of(chosen))
    {}

    /// The lock of `same`, acquired reentrantly under `holder`.
    lock_spec(const lock_spec& same, owner holder) : lock_spec(same.client, same.name, same.options)
    {
        under = std::make_unique<const owner>(std::move(holder));
    }

    client_state_ptr client; ///< Keeps the client's state alive while handles exist.
    std::string name;
    lock_options options;
    clock::duration interval;                  ///< Between renewals; zero: no renewals.
    std::chrono::milliseconds replica_timeout; ///< Maximum wait for the replicas.
    /// The owner of a reentrant acquisition. Null: a new owner acquires the lock. A pointer,
    /// because each lease refers to a `lock_spec`, and few are reentrant.
    std::unique_ptr<const owner> under;

    /// Whether a lock acquired with these options may be handed to a waiter with those of `other`.
    /// Reentrant acquisitions do not wait in the queue and are never handed off.
    [[nodiscard]] bool serves(const lock_spec& other) const noexcept
    {
        const lock_options& a = options;
        const lock_options& b = other.options;
        return a.lease_time == b.lease_time && a.renew == b.renew &&
               a.renew_interval == b.renew_interval && a.longest_hold == b.longest_hold &&
               a.replica_acks == b.replica_acks && a.replica_timeout == b.replica_timeout &&
               a.dead_holder_grace == b.dead_holder_grace;
    }

private:
    [[nodiscard]] static clock::duration interval_of(const lock_options& o) noexcept
    {
        if (!o.renew)
            return clock::duration::zero();
        return o.renew_interval.count() != 0 ? clock::duration(o.renew_interval)
                                             : clock::duration(o.lease_time) / 3;
    }

    [[nodiscard]] static std::chrono::milliseconds replica_timeout_of(
        const lock_options& o) noexcept
    {
        using std::chrono::milliseconds;
        return o.replica_timeout.count() != 0
                   ? o.replica_timeout
                   : std::clamp(o.lease_time / 8, milliseconds(1), milliseconds(1'000));
    }
};

} // namespace leasehold::detail

#endif
