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
class wait_op : public boost::intrusive_ref_counter<wait_op>, public boost::intrusive::list_base_hook<>
{
public:
    explicit wait_op(completion<error_code>::handler_type handler) : done(std::move(handler)) {}

    completion<error_code> done;
};

/// One acquisition as its holder sees it: from a lease given out until it is released or lost. What the store knows of it is its `hold`, which
/// may serve several grants one after another.
class grant : public boost::intrusive_ref_counter<grant>
{
public:
    /// How it ended; an `errc` when it was lost.
    static constexpr int active = 0;
    static constexpr int released = -1;

    grant(hold_ptr from, std::uint64_t number, clock::time_point begun) noexcept
        : held(std::move(from)), fence(number), since(begun)
    {}

    const hold_ptr held;
    const std::uint64_t fence;
    const clock::time_point since;

    /// Written on the strand, read everywhere: a loss is known without the strand having to run.
    std::atomic<int> ended = active;

    /// The holder has gone and could not say so: there was no memory. The grant keeps itself until that is seen, at the next renewal or at its end.
    std::atomic<bool> forsaken = false;

    /// From any thread, by the holder.
    static void forsake(boost::intrusive_ptr<grant> which) noexcept
    {
        grant& left = *which.detach();
        left.forsaken.store(true);
        if (left.ended.load() != active)
            left.take_back(); // it ended meanwhile, and nobody will look again
    }

    /// When it has ended; the caller keeps it. Both sides may come here: one of them takes the reference.
    void take_back() noexcept
    {
        if (forsaken.load() && forsaken.exchange(false))
            const boost::intrusive_ptr<grant> last(this, false);
    }

    /// On the strand.
    boost::intrusive::list<wait_op, boost::intrusive::constant_time_size<false>> waits;
};

} // namespace leasehold::detail

#endif
