#ifndef LEASEHOLD_SRC_CORE_LEASE_LEASE_STATE_HPP
#define LEASEHOLD_SRC_CORE_LEASE_LEASE_STATE_HPP

#include "core/async/operation.hpp"
#include "core/lease/ownership.hpp"

#include <leasehold/clock.hpp>
#include <leasehold/detail/fwd.hpp>
#include <leasehold/error.hpp>

#include <boost/intrusive/list.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <utility>

namespace leasehold::detail {

/// Waits until a lease ends. Belongs to the strand.
class wait_op : public boost::intrusive_ref_counter<wait_op>,
                public boost::intrusive::list_base_hook<>
{
public:
    explicit wait_op(completion<error_code>::handler_type&& handler) : done(std::move(handler)) {}

    completion<error_code> done;
};

using wait_op_ptr = boost::intrusive_ptr<wait_op>;

/// The state behind one `lease`: the start and end of one acquisition, and the waits for the end.
/// Its `ownership` is the lock in the store, which may serve several leases one after another.
class lease_state final : public boost::intrusive_ref_counter<lease_state>
{
public:
    lease_state(ownership_ptr from, std::uint64_t number, clock::time_point begun) noexcept
        : held(std::move(from)), fence(number), since(begun)
    {}

    const ownership_ptr held;
    const std::uint64_t fence;
    const clock::time_point since;

    // From any thread: an end is visible even if the strand is blocked.
    [[nodiscard]] bool active() const noexcept { return how_ended() == running; }
    [[nodiscard]] bool released() const noexcept { return how_ended() == by_its_holder; }

    /// Called when the holder drops its lease and memory is exhausted, so that the strand cannot be
    /// notified. The lease keeps itself alive until the strand finds this, at the next renewal or
    /// at the end.
    static void abandon(lease_state_ptr left) noexcept;
    [[nodiscard]] bool abandoned() const noexcept
    {
        return abandoned_.load(std::memory_order_relaxed);
    }

    /// Called when the holder detaches its lease. From then on the client does not release it.
    void detach() noexcept { detached_.store(true, std::memory_order_relaxed); }
    [[nodiscard]] bool detached() const noexcept
    {
        return detached_.load(std::memory_order_relaxed);
    }

    /// A lease that is destroyed sooner after its grant, and was not used, was probably never kept.
    static constexpr clock::duration no_use = std::chrono::microseconds(200);

    /// Called when the program uses its lease, or ends it other than by destroying it.
    void use() noexcept
    {
        if (!used()) // another thread may read the same cache line
            used_.store(true, std::memory_order_relaxed);
    }
    [[nodiscard]] bool used() const noexcept { return used_.load(std::memory_order_relaxed); }

    // On the strand.
    /// The reason of a loss; no error if the lease was released.
    [[nodiscard]] error_code loss() const noexcept;

    /// Ends the lease and completes the waits.
    void end_released() { end(by_its_holder, {}); }
    void end_lost(errc reason, const details_ptr& details = {})
    {
        end(static_cast<std::int16_t>(reason), details);
    }

    /// @param details Of the loss, if the lease has ended already.
    void wait(const wait_op_ptr& op, details_ptr details);
    /// Whether a wait needs the details of a loss.
    [[nodiscard]] bool explained() const noexcept;
    void stop_waiting(wait_op& op);

    /// Completes waits whose cancellation is only marked.
    void complete_cancelled();

    /// Called when the client fails or its context ends. Completes the waits with this error;
    /// without an error it destroys their handlers.
    void drop(error_code error) noexcept;

private:
    // Values of the end. After a loss: the `errc`.
    static constexpr std::int16_t running = 0;
    static constexpr std::int16_t by_its_holder = -1;

    [[nodiscard]] std::int16_t how_ended() const noexcept
    {
        return ended_.load(std::memory_order_acquire);
    }

    void end(std::int16_t how, const details_ptr& details);
    void take_back() noexcept;

    /// The result of a wait.
    [[nodiscard]] error_code outcome() const noexcept;

    std::atomic<std::int16_t> ended_ = running; ///< Written on the strand.
    std::atomic<bool> abandoned_ = false;
    std::atomic<bool> detached_ = false;
    std::atomic<bool> used_ = false;
    boost::intrusive::list<wait_op, boost::intrusive::constant_time_size<false>> waits_;
};

} // namespace leasehold::detail

#endif
