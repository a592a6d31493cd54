#ifndef LEASEHOLD_SRC_MEMORY_LOCK_TABLE_HPP
#define LEASEHOLD_SRC_MEMORY_LOCK_TABLE_HPP

#include "base/name_map.hpp"
#include "memory/waiter_queue.hpp"

#include <leasehold/store.hpp>

#include <boost/intrusive/list.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::memory {

using std::chrono::microseconds;
using std::chrono::milliseconds;

/// The time at the simulated server. Redis measures leases and fences by one clock; a store in this
/// process can measure leases by one that never steps.
struct instant
{
    microseconds ticks; ///< Measures leases, retention and the caller's budget.
    microseconds wall;  ///< The floor of the fences.

    /// A server with one clock, like Redis.
    static constexpr instant one_clock(microseconds t) noexcept { return {t, t}; }
};

using detail::name_map;

/// A granted owner that is to be notified.
struct granted_owner
{
    client_id client = 0;
    std::string owner{};
};

/// The data of a server and the effect of the Lua scripts, as plain data: no thread, no clock, no
/// wait. The same calls with the same times give the same replies. Time may also step back, as a
/// server's may.
class LEASEHOLD_EXPORT lock_table
{
public:
    /// No limit to the budget of an acquire.
    static constexpr microseconds no_limit{0};

    /// @param fence_retention Time for which a fence is kept after its grant. 0: forever.
    explicit lock_table(milliseconds fence_retention = std::chrono::hours(24)) noexcept
        : retention_(fence_retention)
    {}

    /// For the grants from now on.
    void set_retention(milliseconds fence_retention) noexcept { retention_ = fence_retention; }
    [[nodiscard]] milliseconds retention() const noexcept { return retention_; }

    lock_table(const lock_table& other);
    lock_table& operator=(const lock_table& other);

    /// Adds a client that may wait in queues. Its id differs from all others, also former ones.
    client_id join();

    /// Removes the client: its waiters get no more grants.
    void part(client_id client) noexcept { clients_.erase(client); }

    /// The origin of a request and the target of its notification.
    struct call
    {
        client_id client = 0; ///< The client of the request; 0: one that cannot wait.
        /// The last tick at which an acquire may take effect, or `no_limit`. Budgets are not
        /// checked.
        microseconds latest = no_limit;
        /// Set if this grants the lock to another owner. Null: no client can be notified.
        granted_owner* granted = nullptr;
    };

    acquire_reply acquire(const acquire_request& request, const call& by, instant now);
    renewal_result renew(const renewal& request, instant now);

    /// The caller has to notify the watchers of a freed name, and to count them.
    release_reply release(const release_request& request, const call& by, instant now);

    /// DEL. False if there was no lock.
    bool erase(std::string_view name, instant now);

    /// FLUSHALL.
    void clear() noexcept;

    /// The number of held locks. Checks every name.
    [[nodiscard]] std::size_t size(instant now) const noexcept;

    /// The holder of a lock; empty: none. Valid until the next call that is not const.
    [[nodiscard]] std::string_view owner(std::string_view name, instant now) const noexcept;

    /// The number of names that use memory: held, or with a fence that is kept.
    [[nodiscard]] std::size_t names() const noexcept { return slots_.size(); }

private:
    /// Further entries, and waiters. Few locks have any, and there is a slot for each lock.
    struct crowd
    {
        std::vector<std::string> entries;
        std::uint64_t count = 1; ///< Includes the first entry, while it exists.
        waiter_queue waiting;
    };

    struct slot : boost::intrusive::list_base_hook<
                      boost::intrusive::link_mode<boost::intrusive::normal_link>>
    {
        const std::string* name = nullptr;
        std::string owner; ///< Empty: no lock.
        std::unique_ptr<crowd> more;
        milliseconds expires{};
        std::uint64_t fence = 0; ///< 0: none.
        milliseconds fence_expires{};

        [[nodiscard]] bool has_entry(std::string_view entry) const noexcept;
        bool erase_entry(std::string_view entry) noexcept;   ///< Whether it existed.
        bool leave_queue(std::string_view leaving) noexcept; ///< Whether it was in the queue.
    };

    /// The slot of a name, without expired data; null: there is none.
    slot* find(std::string_view name, instant now) noexcept;
    slot& make(std::string_view name);
    acquire_reply reenter(const acquire_request& request, slot* lock, instant now);
    acquire_reply take(const acquire_request& request, slot& target, instant now);
    acquire_reply confirm(const acquire_request& request, slot& lock, instant now);
    acquire_reply wait(const acquire_request& request, slot& lock, const call& by, instant now);
    acquire_reply grant(const acquire_request& request, slot& target, instant now);
    bool grant_next(slot& target, std::string_view but, const call& by, instant now);
    [[nodiscard]] const waiter* first_in_queue(slot& target, instant now);
    void sweep(instant now);

    static crowd& others(slot& target);
    static void drop_lock(slot& target) noexcept;
    static void tidy(slot& target) noexcept;
    static void raise(slot& target, milliseconds lease, instant now) noexcept;

    name_map<slot> slots_;
    boost::intrusive::list<slot, boost::intrusive::constant_time_size<false>>
        round_; ///< The next to be swept is in front.
    milliseconds retention_;
    boost::unordered_flat_set<client_id> clients_; ///< The clients that have not left.
    client_id last_client_ = 0;
};

} // namespace leasehold::memory

#endif
