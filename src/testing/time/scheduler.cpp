#include "testing/time/scheduler.hpp"

#include "testing/time/host_state.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

namespace leasehold::testing::impl {
namespace {

class call_at final : public alarm
{
public:
    explicit call_at(std::function<void()> f) noexcept : f_(std::move(f)) {}

private:
    void ring() override
    {
        const std::unique_ptr<call_at> self(this);
        f_();
    }

    void drop() noexcept override { delete this; }

    std::function<void()> f_;
};

} // namespace

void scheduler::at(clock::time_point when, std::function<void()> f)
{
    arm(*new call_at(std::move(f)), when);
}

void scheduler::post(host_state& on, std::unique_ptr<task> work)
{
    if (on.crashed)
        return; // destroyed here
    if (on.paused) {
        ++on.befallen.tasks_held_up;
        on.held.push_back(std::move(work));
    }
    else
        ready_.push_back({&on, std::move(work)});
}

void scheduler::release(host_state& on)
{
    for (auto& each : std::exchange(on.held, {}))
        ready_.push_back({&on, std::move(each)});
}

void scheduler::drop(host_state& on)
{
    std::vector<std::unique_ptr<task>> last = std::exchange(on.held, {});
    std::erase_if(ready_, [&](ready& each) {
        if (each.where != &on)
            return false;
        last.push_back(std::move(each.what));
        return true;
    });
    // Destroyed last: a coroutine that ends may do anything but run.
}

void scheduler::run(ready next)
{
    ++events_;
    witness(next.where->number);
    running_ = next.where;
    const struct leave
    {
        scheduler& s;
        ~leave() { s.running_ = nullptr; }
    } leave{*this};
    next.what->run();
}

bool scheduler::run_one(clock::time_point end)
{
    for (;;) {
        while (!ready_.empty()) {
            const std::size_t index = ready_.size() == 1
                                          ? 0
                                          : static_cast<std::size_t>(random.below(ready_.size()));
            ready next = std::move(ready_[index]);
            if (index + 1 != ready_.size())
                ready_[index] = std::move(ready_.back());
            ready_.pop_back();
            if (next.where->paused) {
                ++next.where->befallen.tasks_held_up;
                next.where->held.push_back(std::move(next.what));
                continue;
            }
            run(std::move(next));
            return true;
        }
        if (alarms_.empty() || alarms_.begin()->when_ > end)
            return false;
        alarm& next = *alarms_.begin();
        next.unlink();
        if (next.when_ > time->now) {
            time->now = next.when_;
            witness(static_cast<std::uint64_t>(time->now.time_since_epoch().count()));
        }
        ++events_;
        next.ring();
        return true;
    }
}

void scheduler::run_until(clock::time_point end)
{
    while (run_one(end)) {
    }
    time->now = std::max(time->now, end);
}

void scheduler::clear() noexcept
{
    while (!ready_.empty() || !alarms_.empty()) {
        const auto last = std::exchange(ready_, {});
        while (!alarms_.empty()) {
            alarm& next = *alarms_.begin();
            next.unlink();
            next.drop();
        }
    }
}

void scheduler::line(std::string_view host_name, std::string_view text)
{
    if (!on_line)
        return;
    char stamp[32];
    const auto us = std::chrono::duration_cast<std::chrono::microseconds>(now() - began).count();
    std::snprintf(stamp, sizeof stamp, "%4lld.%06lld ", static_cast<long long>(us / 1'000'000),
                  static_cast<long long>(us % 1'000'000));
    std::string all(stamp);
    all.append(host_name)
        .append(host_name.size() < 10 ? 10 - host_name.size() : 1, ' ')
        .append(text);
    on_line(all);
}

} // namespace leasehold::testing::impl
