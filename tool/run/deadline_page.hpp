#ifndef LEASEHOLD_TOOL_RUN_DEADLINE_PAGE_HPP
#define LEASEHOLD_TOOL_RUN_DEADLINE_PAGE_HPP

#include <leasehold/clock.hpp>

#include <atomic>
#include <cstdint>

namespace leasehold::tool {

/// Memory shared by the supervisor and the guardian: the deadlines of the command. The guardian
/// reads it at each wake-up, so it does not depend on a running supervisor.
class deadline_page
{
public:
    struct moments
    {
        clock::time_point term_at; ///< The command gets TERM.
        clock::time_point kill_at; ///< The command gets KILL.
    };

    /// @throws std::system_error
    deadline_page();
    ~deadline_page();
    deadline_page(const deadline_page&) = delete;
    deadline_page& operator=(const deadline_page&) = delete;

    void set(moments to) noexcept
    {
        shared_->term_at.store(to.term_at.time_since_epoch().count(), std::memory_order_release);
        shared_->kill_at.store(to.kill_at.time_since_epoch().count(), std::memory_order_release);
    }

    [[nodiscard]] moments get() const noexcept
    {
        return {at(shared_->term_at), at(shared_->kill_at)};
    }

private:
    using ticks = std::atomic<clock::rep>;
    static_assert(ticks::is_always_lock_free);

    struct shared_moments
    {
        ticks term_at{0};
        ticks kill_at{0};
    };

    static clock::time_point at(const ticks& moment) noexcept
    {
        return clock::time_point(clock::duration(moment.load(std::memory_order_acquire)));
    }

    shared_moments* shared_;
};

} // namespace leasehold::tool

#endif
