#ifndef LEASEHOLD_SRC_CORE_LEASE_OWNERSHIP_HPP
#define LEASEHOLD_SRC_CORE_LEASE_OWNERSHIP_HPP

#include "core/lock_spec.hpp"
#include "core/turn/timer_queue.hpp"
#include "fsm/keep_alive.hpp"

#include <boost/asio/cancellation_signal.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace leasehold::detail {

class wait_queue;
class lease_state;
class watchdog;

/// What the store holds for this client: one owner of one name, or one further entry of an owner.
/// Kept alive by the watchdog. Belongs to the strand, except for the atomics.
class ownership final : public timer,
                        public boost::intrusive::list_base_hook<
                            boost::intrusive::link_mode<boost::intrusive::auto_unlink>>,
                        public boost::intrusive_ref_counter<ownership>
{
    using listed = boost::intrusive::list_base_hook<
        boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

public:
    /// @param entered Empty: it took the lock.
    ownership(spec_ptr lock, std::string owner_id, const std::string& entered,
              clock::time_point sent)
        : owner_taken(!entered.empty()),
          spec(std::move(lock)),
          owner(std::move(owner_id)),
          life(sent, spec->options.lease_time, spec->interval(), spec->longest(sent)),
          since(sent),
          entry_(entered.empty() ? nullptr : std::make_unique<const std::string>(entered))
    {
        publish();
    }

    /// Leaves the watchdog's list.
    void leave() noexcept
    {
        if (listed::is_linked())
            listed::unlink();
    }

    /// Makes the deadline known to all threads.
    void publish() noexcept
    {
        deadline.store(life.deadline().time_since_epoch().count(), std::memory_order_release);
    }

    [[nodiscard]] clock::time_point valid_until() const noexcept
    {
        return clock::time_point(clock::duration(deadline.load(std::memory_order_acquire)));
    }

    /// The name of this entry; empty: it took the lock.
    [[nodiscard]] std::string_view entry() const noexcept
    {
        return entry_ ? std::string_view(*entry_) : std::string_view();
    }

    /// Somebody else may be in under this owner.
    [[nodiscard]] bool shared() const noexcept
    {
        return owner_taken.load(std::memory_order_relaxed);
    }

    std::atomic<bool> owner_taken; ///< It was told to somebody, or by somebody.
    const spec_ptr spec;
    const std::string owner;
    std::atomic<clock::rep> deadline{};

    fsm::keep_alive life;
    asio::cancellation_signal stop; ///< Ends the keep-alive; emitted before a release is sent.
    watchdog* keeper = nullptr;
    wait_queue* place = nullptr;    ///< Who contends for the name; none for entries.
    lease_state* current = nullptr; ///< Its lease keeps it, and ends here before it goes.

    // The fences reserved for handing over, and how long that has gone on.
    std::uint64_t first_fence = 0;
    std::uint32_t fences = 0;
    std::uint32_t handoffs = 0;
    const clock::time_point since;

private:
    void expired() override;

    const std::unique_ptr<const std::string>
        entry_; // few have one, and there is a hold for each lease
};

using ownership_ptr = boost::intrusive_ptr<ownership>;

} // namespace leasehold::detail

#endif
