#ifndef LEASEHOLD_SRC_CORE_ACQUIRE_ACQUIRE_WINDOW_HPP
#define LEASEHOLD_SRC_CORE_ACQUIRE_ACQUIRE_WINDOW_HPP

#include "core/turn/turn_context.hpp"

#include <leasehold/store.hpp>

#include <boost/assert.hpp>
#include <boost/intrusive/list.hpp>

#include <cstddef>
#include <list>
#include <string>

namespace leasehold::detail {

class acquire_windows;

/// Limits the outstanding acquires of a client in one partition of the store. Further acquires wait
/// here, in order. Renewals and releases do not wait here.
///
/// A store replies in the order of the requests. If more acquires are outstanding than it executes
/// within their time limit, all replies are late: the locks are released and requested again. Long
/// before that, the renewals behind these acquires are late.
class acquire_window
{
    using hook = boost::intrusive::list_base_hook<
        boost::intrusive::tag<acquire_window>,
        boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

public:
    /// Enough to keep a fast server busy over a slow network. Over a fast network, the server
    /// answers them within milliseconds. The pipeline to a Redis server has about the same limit.
    static constexpr std::size_t usual_limit = 1'000;

    acquire_window(acquire_windows& all, store_partition of) noexcept : partition(of), all_(all) {}

    /// An object that sends an acquire. Leaves the window when it is destroyed.
    class entry : public hook
    {
    public:
        [[nodiscard]] bool waits_for_window() const noexcept { return hook::is_linked(); }

        /// Stops waiting: the acquire is not sent.
        void withdraw() noexcept
        {
            if (hook::is_linked())
                hook::unlink();
        }

    protected:
        ~entry() = default;

    private:
        friend class acquire_window;
        friend class acquire_windows;

        /// The name of the requested lock, which determines the partition.
        [[nodiscard]] virtual const std::string& asked_name() const noexcept = 0;
        /// Sends the acquire now: `there` has room for it.
        virtual void on_room(acquire_window& there) = 0;
    };

    /// An acquire was passed to the store.
    void sent() noexcept { ++under_way_; }

    /// The store has completed an acquire, even if no caller waits for it. Makes room for others.
    void done();

    const store_partition partition;

private:
    friend class acquire_windows;

    void add(entry& one);
    void follow_names();
    [[nodiscard]] bool has_room() const noexcept;

    acquire_windows& all_;
    std::size_t under_way_ = 0;
    boost::intrusive::list<entry, boost::intrusive::base_hook<hook>,
                           boost::intrusive::constant_time_size<false>>
        waiting_;
};

/// One window for each partition of the store, so that a partition that does not answer delays no
/// acquire in the others. A partition that no longer exists keeps an empty window.
class acquire_windows
{
public:
    /// @param limit The maximum number of outstanding acquires in each partition.
    acquire_windows(const turn_context& r, std::size_t limit) : context_(r), limit_(limit)
    {
        all_.emplace_back(*this, 0); // most stores have one partition
    }
    acquire_windows(const acquire_windows&) = delete;
    acquire_windows& operator=(const acquire_windows&) = delete;

    /// Calls its `on_room`, now or when there is room.
    void add(acquire_window::entry& one)
    {
        BOOST_ASSERT(!one.waits_for_window());
        of(one).add(one);
    }

    /// Called when names may have moved to other partitions. Moves the waiting acquires of such
    /// names to the windows of their new partitions.
    void follow_names();

private:
    friend class acquire_window;

    [[nodiscard]] acquire_window& of(const acquire_window::entry& one);

    const turn_context& context_;
    const std::size_t limit_;
    std::list<acquire_window> all_; // addresses must not change
};

} // namespace leasehold::detail

#endif
