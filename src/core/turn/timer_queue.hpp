#ifndef LEASEHOLD_SRC_CORE_TURN_TIMER_QUEUE_HPP
#define LEASEHOLD_SRC_CORE_TURN_TIMER_QUEUE_HPP

#include <leasehold/clock.hpp>

#include <boost/intrusive/set.hpp>

#include <cstddef>

namespace leasehold::detail {

/// An event at a time. Leaves its queue when it is destroyed.
class timer : public boost::intrusive::set_base_hook<
                  boost::intrusive::link_mode<boost::intrusive::auto_unlink>,
                  boost::intrusive::optimize_size<true>>
{
public:
    timer() = default;
    timer(const timer&) = delete;
    timer& operator=(const timer&) = delete;

    [[nodiscard]] clock::time_point due() const noexcept { return due_; }

protected:
    ~timer() = default;

private:
    friend class timer_queue;

    /// The time has come; the timer is not in the queue any more.
    virtual void expired() = 0;

    clock::time_point due_{};
};

/// The timers of one client, ordered by due time: renewals, deadlines, backoff, limits. One Asio
/// timer serves all.
class timer_queue
{
public:
    void schedule(timer& t, clock::time_point due)
    {
        if (t.is_linked()) {
            if (t.due_ == due)
                return;
            t.unlink();
        }
        t.due_ = due;
        // Often this is the latest timer, such as the deadline of a renewed lease.
        queue_.insert(queue_.end(), t);
    }

    static void cancel(timer& t) noexcept
    {
        if (t.is_linked())
            t.unlink();
    }

    /// The due time of the first one; the maximum if there is none.
    [[nodiscard]] clock::time_point next() const noexcept
    {
        return queue_.empty() ? clock::time_point::max() : queue_.begin()->due();
    }

    /// Expires the timers that are due at `now`; at most `most`, so that one turn of the strand
    /// stays short.
    void run(clock::time_point now, std::size_t most)
    {
        for (; most > 0 && !queue_.empty() && queue_.begin()->due() <= now; --most) {
            timer& first = *queue_.begin();
            first.unlink();
            first.expired();
        }
    }

    void clear() noexcept { queue_.clear(); }

private:
    struct earlier
    {
        bool operator()(const timer& a, const timer& b) const noexcept { return a.due() < b.due(); }
    };

    boost::intrusive::multiset<timer, boost::intrusive::compare<earlier>,
                               boost::intrusive::constant_time_size<false>>
        queue_;
};

} // namespace leasehold::detail

#endif
