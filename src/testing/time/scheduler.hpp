#ifndef LEASEHOLD_SRC_TESTING_TIME_SCHEDULER_HPP
#define LEASEHOLD_SRC_TESTING_TIME_SCHEDULER_HPP

#include "testing/time/machine_clock.hpp"
#include "testing/time/random.hpp"

#include <leasehold/testing/executor.hpp>

#include <boost/intrusive/set.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace leasehold::testing::impl {

class host_state;

/// An event at a true time, on no host.
class alarm : public boost::intrusive::set_base_hook<
                  boost::intrusive::link_mode<boost::intrusive::auto_unlink>,
                  boost::intrusive::optimize_size<true>>
{
public:
    alarm() = default;
    alarm(const alarm&) = delete;
    alarm& operator=(const alarm&) = delete;

    void disarm() noexcept
    {
        if (is_linked())
            unlink();
    }

protected:
    ~alarm() = default;

private:
    friend class scheduler;

    virtual void ring() = 0;

    /// The world ends, and it will not ring.
    virtual void drop() noexcept {}

    clock::time_point when_{};
    std::uint64_t tie_ = 0;
};

/// Virtual time: the future events, and the work that is ready now.
class scheduler
{
public:
    explicit scheduler(std::uint64_t seed) : seed_(seed), random(seed) {}
    ~scheduler() { clear(); }

    [[nodiscard]] clock::time_point now() const noexcept { return time->now; }
    [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }

    void arm(alarm& a, clock::time_point when)
    {
        a.disarm();
        a.when_ = std::max(when, time->now);
        a.tie_ = random.next();
        alarms_.insert(a);
    }

    /// Calls `f` at that time.
    void at(clock::time_point when, std::function<void()> f);

    void post(host_state& on, std::unique_ptr<task> work);

    /// The host can run again.
    void release(host_state& on);

    /// Destroys the work that is ready on a host.
    void drop(host_state& on);

    bool run_one(clock::time_point end);
    void run_until(clock::time_point end);

    /// Destroys all waiting work.
    void clear() noexcept;

    [[nodiscard]] const host_state* running() const noexcept { return running_; }
    [[nodiscard]] std::uint64_t events() const noexcept { return events_; }

    /// Adds to the summary of the events.
    void witness(std::uint64_t value) noexcept
    {
        hash_ = mix(hash_ ^ (value + 0x9e3779b97f4a7c15 + (hash_ << 6)));
    }
    [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }

    [[nodiscard]] bool traced() const noexcept { return static_cast<bool>(on_line); }
    void line(std::string_view host_name, std::string_view text);

    std::shared_ptr<true_time> time = std::make_shared<true_time>();
    const clock::time_point began = time->now;

private:
    std::uint64_t seed_;

public:
    generator random;
    std::function<void(std::string_view)> on_line;

private:
    struct ready
    {
        host_state* where;
        std::unique_ptr<task> what;
    };

    struct earlier
    {
        bool operator()(const alarm& a, const alarm& b) const noexcept
        {
            return a.when_ != b.when_ ? a.when_ < b.when_ : a.tie_ < b.tie_;
        }
    };

    void run(ready next);

    boost::intrusive::multiset<alarm, boost::intrusive::compare<earlier>,
                               boost::intrusive::constant_time_size<false>>
        alarms_;
    std::vector<ready> ready_;
    host_state* running_ = nullptr;
    std::uint64_t events_ = 0;
    std::uint64_t hash_ = 0;
};

} // namespace leasehold::testing::impl

#endif
