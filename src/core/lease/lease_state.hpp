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

/// One acquisition as its holder sees it, what a `lease` refers to: when it began, how it ended,
/// and the waits for that end. Its `ownership` is the lock in the store, which may serve
/// several leases one after another.
class lease_state final : public boost::intrusive_ref_counter<lease_state>
{
public:
    lease_state(ownership_ptr from, std::uint64_t number, clock::time_point begun) noexcept
        : held(std::move(from)), fence(number), since(begun)
    {}

    const ownership_ptr held;
    const std::uint64_t fence;
    const clock::time_point since;

    // From any thread: an end is known without the strand having to run.
    [[nodiscard]] bool active() const noexcept { return how_ended() == running; }
    [[nodiscard]] bool released() const noexcept { return how_ended() == by_its_holder; }

    /// The holder has gone, and there was no memory to tell the strand. The lease keeps itself
    /// until that is seen, at the next renewal or at its end.
    static void abandon(lease_state_ptr left) noexcept;
    [[nodiscard]] bool abandoned() const noexcept
    {
        return abandoned_.load(std::memory_order_relaxed);
    }

    // On the strand.
    /// Why it was lost; no error when it was released.
    [[nodiscard]] error_code loss() const noexcept;

    /// Ends it: it was released, or lost. Completes the waits.
    void end_released() { end(by_its_holder, {}); }
    void end_lost(errc reason, const details_ptr& details = {})
    {
        end(static_cast<std::int16_t>(reason), details);
    }

    /// @param details Of the loss, if it has ended already.
    void wait(const wait_op_ptr& op, details_ptr details);
    /// A wait wants the details of a loss.
    [[nodiscard]] bool explained() const noexcept;
    void stop_waiting(wait_op& op);

    /// Completes waits whose cancellation could only be marked.
    void complete_cancelled();

    /// The client fails or its context ends: completes the waits with this error, or destroys their
    /// handlers when it is none.
    void drop(error_code told) noexcept;

private:
    // How it ended; the `errc` when it was lost.
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
    boost::intrusive::list<wait_op, boost::intrusive::constant_time_size<false>> waits_;
};

} // namespace leasehold::detail

#endif
