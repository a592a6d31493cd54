#ifndef LEASEHOLD_OBSERVER_GROUP_HPP
#define LEASEHOLD_OBSERVER_GROUP_HPP

#include <leasehold/diagnostics.hpp>
#include <leasehold/error.hpp>
#include <leasehold/observer.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace leasehold {

/// Combines several observers, for example a log and metrics. Each gets every event, in the order
/// of the list.
///
/// @par Threads
/// As `observer`: the members are called on the strand of the client.
/// @par Lifetime
/// Shares ownership of the observers.
class observer_group final : public observer
{
public:
    /// @param members None of them null.
    explicit observer_group(std::vector<std::shared_ptr<observer>> members)
        : members_(std::move(members))
    {}

    /// True if it is true for every member.
    [[nodiscard]] bool only_problems() const noexcept override
    {
        return std::all_of(members_.begin(), members_.end(),
                           [](const auto& one) { return one->only_problems(); });
    }

    /// @name Events
    /// @{

    /// Forwards the event to each member: see `observer`.
    void began(std::string_view name) noexcept override
    {
        each([&](observer& one) { one.began(name); });
    }
    void acquired(std::string_view name, std::uint64_t fence, duration waited,
                  bool handed_off) noexcept override
    {
        each([&](observer& one) { one.acquired(name, fence, waited, handed_off); });
    }
    void not_acquired(std::string_view name, error_code why, duration waited,
                      const diagnostics& details) noexcept override
    {
        each([&](observer& one) { one.not_acquired(name, why, waited, details); });
    }
    void contended(std::string_view name, std::string_view holder,
                   duration waited) noexcept override
    {
        each([&](observer& one) { one.contended(name, holder, waited); });
    }
    void waiting(std::string_view name, std::chrono::milliseconds remaining) noexcept override
    {
        each([&](observer& one) { one.waiting(name, remaining); });
    }
    void long_wait(std::string_view name, error_code why, duration waited,
                   std::chrono::milliseconds remaining,
                   const diagnostics& details) noexcept override
    {
        each([&](observer& one) { one.long_wait(name, why, waited, remaining, details); });
    }
    void long_wait_ended(std::string_view name, error_code why, duration waited) noexcept override
    {
        each([&](observer& one) { one.long_wait_ended(name, why, waited); });
    }
    void suspect_expiry(std::string_view name,
                        std::chrono::milliseconds remaining) noexcept override
    {
        each([&](observer& one) { one.suspect_expiry(name, remaining); });
    }
    void renewed(std::string_view name, std::uint64_t fence, duration took,
                 duration left) noexcept override
    {
        each([&](observer& one) { one.renewed(name, fence, took, left); });
    }
    void renewal_late(std::string_view name, std::uint64_t fence, error_code why,
                      duration left) noexcept override
    {
        each([&](observer& one) { one.renewal_late(name, fence, why, left); });
    }
    void lost(std::string_view name, std::uint64_t fence, duration held, error_code reason,
              const diagnostics& details) noexcept override
    {
        each([&](observer& one) { one.lost(name, fence, held, reason, details); });
    }
    void released(std::string_view name, std::uint64_t fence, duration held) noexcept override
    {
        each([&](observer& one) { one.released(name, fence, held); });
    }
    void unused(std::string_view name, std::uint64_t fence, duration held) noexcept override
    {
        each([&](observer& one) { one.unused(name, fence, held); });
    }
    void granted_next(std::string_view name) noexcept override
    {
        each([&](observer& one) { one.granted_next(name); });
    }
    void answered(store_request request, duration took, error_code why) noexcept override
    {
        each([&](observer& one) { one.answered(request, took, why); });
    }
    void connected() noexcept override
    {
        each([](observer& one) { one.connected(); });
    }
    void store_error(error_code code, const diagnostics& details) noexcept override
    {
        each([&](observer& one) { one.store_error(code, details); });
    }
    void disconnected(error_code why) noexcept override
    {
        each([&](observer& one) { one.disconnected(why); });
    }
    /// @}

private:
    template <class F>
    void each(F notify) const
    {
        for (const std::shared_ptr<observer>& one : members_)
            notify(*one);
    }

    const std::vector<std::shared_ptr<observer>> members_;
};

} // namespace leasehold

#endif
