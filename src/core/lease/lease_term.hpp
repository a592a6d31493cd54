#ifndef LEASEHOLD_SRC_CORE_LEASE_LEASE_TERM_HPP
#define LEASEHOLD_SRC_CORE_LEASE_LEASE_TERM_HPP

#include "core/async/completion.hpp"

#include <leasehold/clock.hpp>
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

/// The term of one lease: when it began, how it ended, and who waits for the end.
class lease_term : public boost::intrusive_ref_counter<lease_term>
{
public:
    lease_term(std::uint64_t number, clock::time_point begun) noexcept : fence(number), since(begun)
    {}
    virtual ~lease_term() = default;

    const std::uint64_t fence;
    const clock::time_point since;

    // From any thread: an end is known without the strand having to run.
    [[nodiscard]] bool active() const noexcept { return how_ended() == running; }
    [[nodiscard]] bool released() const noexcept { return how_ended() == by_its_holder; }

    /// The holder has gone and could not say so: there was no memory. The lease keeps itself until
    /// that is seen, at the next renewal or at its end.
    static void abandon(boost::intrusive_ptr<lease_term> term) noexcept;
    [[nodiscard]] bool abandoned() const noexcept
    {
        return abandoned_.load(std::memory_order_relaxed);
    }

    // On the strand.
    /// Why it was lost; no error when it was released.
    [[nodiscard]] error_code loss() const noexcept;

    /// Ends it: it was released, or lost. Whoever waits is told.
    void end_released() { end(by_its_holder, {}); }
    void end_lost(errc reason, const details_ptr& details = {})
    {
        end(static_cast<std::int16_t>(reason), details);
    }

    /// @param details Of the loss, if it has ended already.
    void wait(const wait_op_ptr& op, details_ptr details);
    /// Somebody waits who wants the details of a loss.
    [[nodiscard]] bool explained() const noexcept;
    void stop_waiting(wait_op& op);

    /// Completes waits whose cancellation could only be marked.
    void complete_cancelled();

    /// The client fails or its context ends: tells whoever waits this error, or destroys the
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

    /// What a wait is told.
    [[nodiscard]] error_code outcome() const noexcept;

    std::atomic<std::int16_t> ended_ = running; ///< Written on the strand.
    std::atomic<bool> abandoned_ = false;
    boost::intrusive::list<wait_op, boost::intrusive::constant_time_size<false>> waits_;
};

using lease_term_ptr = boost::intrusive_ptr<lease_term>;

} // namespace leasehold::detail

#endif
