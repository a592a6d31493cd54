#ifndef LEASEHOLD_TEST_SUPPORT_RECORDING_OBSERVER_HPP
#define LEASEHOLD_TEST_SUPPORT_RECORDING_OBSERVER_HPP

#include <leasehold/observer.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leasehold::test {

/// Records all notifications. Its own functions may be called from any thread.
class recording_observer final : public observer
{
public:
    enum class kind : std::uint8_t
    {
        began,
        contended,
        acquired,
        not_acquired,
        waiting,
        long_wait,
        long_wait_ended,
        suspect_expiry,
        renewed,
        renewal_late,
        lost,
        released,
        unused,
        granted_next,
        answered,
        store_error,
        connected,
        disconnected,
    };

    struct event
    {
        kind what;
        std::string name;
        std::uint64_t fence = 0;
        error_code code;
        duration time{}; ///< The duration of the event, if any.
        bool handed_off = false;
        diagnostics details{};
        std::string holder{};
        store_request request{};
        duration left{};
    };

    std::vector<event> events() const
    {
        const std::lock_guard lock(mutex_);
        return events_;
    }

    std::vector<event> events(kind event_kind) const
    {
        const std::lock_guard lock(mutex_);
        std::vector<event> some;
        for (const event& each : events_)
            if (each.what == event_kind)
                some.push_back(each);
        return some;
    }

    std::size_t count(kind event_kind) const
    {
        const std::lock_guard lock(mutex_);
        return count_locked(event_kind);
    }

    /// Blocks until `times` events of this kind have come, for contexts that run on other threads.
    /// Throws `std::runtime_error` after `limit`.
    void wait_for(kind event_kind, std::size_t times = 1,
                  std::chrono::milliseconds limit = std::chrono::seconds(10)) const
    {
        std::unique_lock lock(mutex_);
        if (!changed_.wait_for(lock, limit, [&] { return count_locked(event_kind) >= times; }))
            throw std::runtime_error("recording_observer: the event did not come in time");
    }

    void clear()
    {
        const std::lock_guard lock(mutex_);
        events_.clear();
    }

    void began(std::string_view name) noexcept override
    {
        add({kind::began, std::string(name), 0, {}});
    }
    void contended(std::string_view name, std::string_view holder,
                   duration waited) noexcept override
    {
        event seen{kind::contended, std::string(name), 0, {}, waited};
        seen.holder = holder;
        add(std::move(seen));
    }
    void acquired(std::string_view name, std::uint64_t fence, duration waited,
                  bool handed_off) noexcept override
    {
        add({kind::acquired, std::string(name), fence, {}, waited, handed_off});
    }
    void not_acquired(std::string_view name, error_code code, duration waited,
                      const diagnostics& details) noexcept override
    {
        add({kind::not_acquired, std::string(name), 0, code, waited, false, details});
    }
    void waiting(std::string_view name, std::chrono::milliseconds remaining) noexcept override
    {
        add({kind::waiting, std::string(name), 0, {}, remaining});
    }
    void long_wait(std::string_view name, error_code code, duration waited,
                   std::chrono::milliseconds remaining,
                   const diagnostics& details) noexcept override
    {
        event seen{kind::long_wait, std::string(name), 0, code, waited, false, details};
        seen.left = remaining;
        add(std::move(seen));
    }
    void long_wait_ended(std::string_view name, error_code code, duration waited) noexcept override
    {
        add({kind::long_wait_ended, std::string(name), 0, code, waited});
    }
    void suspect_expiry(std::string_view name,
                        std::chrono::milliseconds remaining) noexcept override
    {
        add({kind::suspect_expiry, std::string(name), 0, {}, remaining});
    }
    void renewed(std::string_view name, std::uint64_t fence, duration took,
                 duration left) noexcept override
    {
        event seen{kind::renewed, std::string(name), fence, {}, took};
        seen.left = left;
        add(std::move(seen));
    }
    void renewal_late(std::string_view name, std::uint64_t fence, error_code code,
                      duration left) noexcept override
    {
        add({kind::renewal_late, std::string(name), fence, code, left});
    }
    void lost(std::string_view name, std::uint64_t fence, duration held, error_code reason,
              const diagnostics& details) noexcept override
    {
        add({kind::lost, std::string(name), fence, reason, held, false, details});
    }
    void released(std::string_view name, std::uint64_t fence, duration held) noexcept override
    {
        add({kind::released, std::string(name), fence, {}, held});
    }
    void unused(std::string_view name, std::uint64_t fence, duration held) noexcept override
    {
        add({kind::unused, std::string(name), fence, {}, held});
    }
    void granted_next(std::string_view name) noexcept override
    {
        add({kind::granted_next, std::string(name), 0, {}});
    }
    void answered(store_request request, duration took, error_code why) noexcept override
    {
        event seen{kind::answered, {}, 0, why, took};
        seen.request = request;
        add(std::move(seen));
    }
    void store_error(error_code code, const diagnostics& details) noexcept override
    {
        add({kind::store_error, details.to_string(), 0, code});
    }
    void connected() noexcept override { add({kind::connected, {}, 0, {}}); }
    void disconnected(error_code why) noexcept override { add({kind::disconnected, {}, 0, why}); }

private:
    std::size_t count_locked(kind event_kind) const
    {
        std::size_t count = 0;
        for (const event& each : events_)
            count += each.what == event_kind ? 1 : 0;
        return count;
    }

    void add(event e)
    {
        {
            const std::lock_guard lock(mutex_);
            events_.push_back(std::move(e));
        }
        changed_.notify_all();
    }

    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    std::vector<event> events_;
};

} // namespace leasehold::test

#endif
