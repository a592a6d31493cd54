#ifndef LEASEHOLD_SRC_MEMORY_LOCK_TABLE_HPP
#define LEASEHOLD_SRC_MEMORY_LOCK_TABLE_HPP

#include "base/name_map.hpp"
#include "memory/line.hpp"

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

/// The time at the pretended server. Redis measures leases and fences by one clock; a store in this
/// process can do better and measure leases by one that never steps.
struct instant
{
    microseconds ticks; ///< What leases, retention and the caller's budget are measured by.
    microseconds wall;  ///< The floor of the fences.

    /// A server with one clock, as Redis is.
    static constexpr instant one_clock(microseconds t) noexcept { return {t, t}; }
};

using detail::name_map;

/// Who has its turn and is to be told.
struct turn
{
    client_id client = 0;
    std::string owner{};
};

/// What a server holds, and what the Lua scripts do with it, as plain data: no thread, no clock,
/// nothing to wait for. The same calls with the same times give the same answers. Time may also
/// step back, as a server's may.
class LEASEHOLD_EXPORT lock_table
{
public:
    /// No limit to the budget of an acquire.
    static constexpr microseconds no_limit{0};

    /// @param fence_retention How long a fence outlives its grant; 0: for ever.
    explicit lock_table(milliseconds fence_retention = std::chrono::hours(24)) noexcept
        : retention_(fence_retention)
    {}

    /// Of the grants from now on.
    void set_retention(milliseconds fence_retention) noexcept { retention_ = fence_retention; }
    [[nodiscard]] milliseconds retention() const noexcept { return retention_; }

    lock_table(const lock_table& other);
    lock_table& operator=(const lock_table& other);

    /// A client comes, and may wait in lines. Told apart from every other, those that went
    /// included.
    client_id enter();

    /// It has gone: what it waits for is not given to it any more.
    void part(client_id client) noexcept { clients_.erase(client); }

    /// What somebody asks for and where the news of a turn goes.
    struct call
    {
        client_id client = 0; ///< Who asks; 0: nobody who could wait.
        /// The last tick at which an acquire may take effect, or `no_limit`. Budgets are not looked
        /// at.
        microseconds latest = no_limit;
        turn* told = nullptr; ///< Set when another has its turn by this; null: nobody can be told.
    };

    acquire_reply acquire(const acquire_request& request, const call& by, instant now);
    renewal_result renew(const renewal& request, instant now);

    /// Telling the watchers of a freed name, and counting them, is up to the caller.
    release_reply release(const release_request& request, const call& by, instant now);

    /// DEL. False when there was no lock.
    bool erase(std::string_view name, instant now);

    /// FLUSHALL.
    void clear() noexcept;

    /// How many locks are held. Looks at every name.
    [[nodiscard]] std::size_t size(instant now) const noexcept;

    /// Who holds a lock; empty: nobody. Valid until the next call that is not const.
    [[nodiscard]] std::string_view owner(std::string_view name, instant now) const noexcept;

    /// How many names take up memory: held, or with a fence that is kept.
    [[nodiscard]] std::size_t names() const noexcept { return slots_.size(); }

private:
    /// Who is in beside the first, and who waits. Few locks have any, and there is a slot for each
    /// lock.
    struct crowd
    {
        std::vector<std::string> entries;
        std::uint64_t count = 1; ///< The first too, while it is in.
        line waiting;
        bool assigned = false; ///< It is the owner's turn, and no acquire has confirmed it yet.
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
        bool erase_entry(std::string_view entry) noexcept; ///< Whether it was there.
        bool leave_line(std::string_view who) noexcept;    ///< Whether it was in line.
    };

    /// The slot of a name, without what has expired; null: there is none.
    slot* find(std::string_view name, instant now) noexcept;
    slot& make(std::string_view name);
    acquire_reply enter(const acquire_request& request, slot* lock, instant now);
    acquire_reply take(const acquire_request& request, slot& target, instant now);
    acquire_reply confirm(const acquire_request& request, slot& lock, instant now);
    acquire_reply wait(const acquire_request& request, slot& lock, const call& by, instant now);
    acquire_reply grant(const acquire_request& request, slot& target, instant now);
    bool pass_on(slot& target, std::string_view but, const call& by, instant now);
    [[nodiscard]] const waiter* first_in_line(slot& target, instant now);
    void sweep(instant now);

    static crowd& others(slot& target);
    static void drop_lock(slot& target) noexcept;
    static void tidy(slot& target) noexcept;
    static void raise(slot& target, milliseconds lease, instant now) noexcept;

    name_map<slot> slots_;
    boost::intrusive::list<slot, boost::intrusive::constant_time_size<false>>
        round_; ///< The next to be swept is in front.
    milliseconds retention_;
    boost::unordered_flat_set<client_id> clients_; ///< Those that have not gone.
    client_id last_client_ = 0;
};

} // namespace leasehold::memory

#endif
