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

/// How many acquires of a client are under way at once in one partition of the store; those beyond
/// wait here, in order.
///
/// A store answers in the order of asking. With more acquires under way than it answers within the
/// time that each is waited for, they all come too late, are given back and asked again; and long
/// before that, renewals behind them do. Renewals and releases do not wait here.
class acquire_window
{
    using hook = boost::intrusive::list_base_hook<
        boost::intrusive::tag<acquire_window>,
        boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

public:
    /// Enough to keep a fast server busy over a slow line, and answered within milliseconds over a
    /// fast one. The pipeline to a Redis server has as many under way.
    static constexpr std::size_t usual_limit = 1'000;

    acquire_window(acquire_windows& all, store_partition of) noexcept : partition(of), all_(all) {}

    /// Something that is to send an acquire. Leaves when it is destroyed.
    class entry : public hook
    {
    public:
        [[nodiscard]] bool waits_for_window() const noexcept { return hook::is_linked(); }

        /// It is not to be sent any more.
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

        /// What it asks for; this says which partition it belongs to.
        [[nodiscard]] virtual const std::string& asked_name() const noexcept = 0;
        /// There is room there: its acquire is to be sent now.
        virtual void on_room(acquire_window& there) = 0;
    };

    /// An acquire was handed to the store.
    void sent() noexcept { ++under_way_; }

    /// The store has done with it, whoever waited for that.
    void done();

    const store_partition partition;

private:
    friend class acquire_windows;

    void enter(entry& who);
    void follow_names();
    [[nodiscard]] bool has_room() const noexcept;

    acquire_windows& all_;
    std::size_t under_way_ = 0;
    boost::intrusive::list<entry, boost::intrusive::base_hook<hook>,
                           boost::intrusive::constant_time_size<false>>
        waiting_;
};

/// A window for each partition of the store: one that does not answer holds up no acquire of the
/// others. A partition that is gone has an empty one.
class acquire_windows
{
public:
    /// @param limit Of each.
    acquire_windows(const turn_context& r, std::size_t limit) : context_(r), limit_(limit)
    {
        all_.emplace_back(*this, 0); // most stores have no other
    }
    acquire_windows(const acquire_windows&) = delete;
    acquire_windows& operator=(const acquire_windows&) = delete;

    /// Lets it send, now or when there is room.
    void enter(acquire_window::entry& who)
    {
        BOOST_ASSERT(!who.waits_for_window());
        of(who).enter(who);
    }

    /// Names may have gone from one partition to another: who waits for one of them goes on there.
    void follow_names();

private:
    friend class acquire_window;

    [[nodiscard]] acquire_window& of(const acquire_window::entry& who);

    const turn_context& context_;
    const std::size_t limit_;
    std::list<acquire_window> all_; // they stay where they are
};

} // namespace leasehold::detail

#endif
