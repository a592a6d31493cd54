#ifndef LEASEHOLD_SRC_CORE_ACQUIRE_ACQUIRE_WINDOW_HPP
#define LEASEHOLD_SRC_CORE_ACQUIRE_ACQUIRE_WINDOW_HPP

#include <boost/assert.hpp>
#include <boost/intrusive/list.hpp>

#include <cstddef>

namespace leasehold::detail {

/// How many acquires of a client are under way at once; those beyond wait here, in order.
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

    explicit acquire_window(std::size_t limit = usual_limit) noexcept : limit_(limit) {}

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

        /// There is room: its acquire is to be sent now.
        virtual void on_room() = 0;
    };

    /// Lets it send, now or when there is room.
    void enter(entry& who)
    {
        BOOST_ASSERT(!who.waits_for_window());
        if (under_way_ < limit_ && waiting_.empty())
            who.on_room();
        else
            waiting_.push_back(who);
    }

    /// An acquire was handed to the store.
    void sent() noexcept { ++under_way_; }

    /// The store has done with it, whoever waited for that.
    void done()
    {
        BOOST_ASSERT(under_way_ > 0);
        --under_way_;
        while (under_way_ < limit_ && !waiting_.empty()) {
            entry& first = waiting_.front();
            waiting_.pop_front();
            first.on_room();
        }
    }

private:
    const std::size_t limit_;
    std::size_t under_way_ = 0;
    boost::intrusive::list<entry, boost::intrusive::base_hook<hook>,
                           boost::intrusive::constant_time_size<false>>
        waiting_;
};

} // namespace leasehold::detail

#endif
