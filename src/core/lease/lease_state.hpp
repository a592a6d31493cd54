#ifndef LEASEHOLD_SRC_CORE_LEASE_LEASE_STATE_HPP
#define LEASEHOLD_SRC_CORE_LEASE_LEASE_STATE_HPP

#include "core/async/completion.hpp"
#include "core/lease/ownership.hpp"

#include <leasehold/detail/fwd.hpp>

#include <boost/intrusive/list.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include <atomic>
#include <cstdint>

namespace leasehold::detail {

/// Waits until a grant ends. Belongs to the strand.
class wait_op : public boost::intrusive_ref_counter<wait_op>,
                public boost::intrusive::list_base_hook<>
{
public:
    explicit wait_op(completion<error_code>::handler_type handler) : done(std::move(handler)) {}

    completion<error_code> done;
};

/// One acquisition as its holder sees it: from a lease given out until it is released or lost. What
/// the store knows of it is its `ownership`, which may serve several grants one after another.
class lease_state : public boost::intrusive_ref_counter<lease_state>
{
public:
    /// How it ended; an `errc` when it was lost.
    static constexpr int active = 0;
    static constexpr int released = -1;

    lease_state(ownership_ptr from, std::uint64_t number, clock::time_point begun) noexcept
        : held(std::move(from)), fence(number), since(begun)
    {}

    const ownership_ptr held;
    const std::uint64_t fence;
    const clock::time_point since;

    /// Written on the strand, read everywhere: a loss is known without the strand having to run.
    std::atomic<int> ended = active;

    /// The holder has gone and could not say so: there was no memory. The grant keeps itself until
    /// that is seen, at the next renewal or at its end.
    std::atomic<bool> abandoned_by_holder = false;

    /// From any thread, by the holder.
    static void abandon(boost::intrusive_ptr<lease_state> state) noexcept
    {
        lease_state& left = *state.detach();
        left.abandoned_by_holder.store(true);
        if (left.ended.load() != active)
            left.take_back(); // it ended meanwhile, and nobody will look again
    }

    /// When it has ended; the caller keeps it. Both sides may come here: one of them takes the
    /// reference.
    void take_back() noexcept
    {
        if (abandoned_by_holder.load() && abandoned_by_holder.exchange(false))
            const boost::intrusive_ptr<lease_state> last(this, false);
    }

    /// On the strand.
    boost::intrusive::list<wait_op, boost::intrusive::constant_time_size<false>> waits;
};

} // namespace leasehold::detail

#endif
