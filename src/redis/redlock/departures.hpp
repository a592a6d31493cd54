#ifndef LEASEHOLD_SRC_REDIS_REDLOCK_DEPARTURES_HPP
#define LEASEHOLD_SRC_REDIS_REDLOCK_DEPARTURES_HPP

#include <leasehold/clock.hpp>
#include <leasehold/store.hpp>

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::quorum {

/// A release that a member has not answered.
struct departure
{
    departure(const release_request& of, clock::time_point now)
        : name(of.name), owner(of.owner), entry(of.entry), since(now)
    {}

    [[nodiscard]] release_request request() const noexcept
    {
        return {.name = name, .owner = owner, .entry = entry};
    }

    std::string name;
    std::string owner;
    std::string entry;
    clock::time_point since;
    clock::time_point not_before{};
};

/// The releases that one member has yet to answer, and the requests that may still take a lock
/// there.
class departures
{
public:
    [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }
    /// Beyond a limit it drops the oldest.
    void add(departure leaving);
    [[nodiscard]] std::deque<departure> take() noexcept;

    /// A request that may take the lock has ended without a reply. It may be executed until
    /// `limit`.
    void may_run(std::string_view owner, std::string_view entry, clock::time_point limit,
                 clock::time_point now);
    /// The release of `sent` was answered. Its repetition, if such a request may be executed after
    /// it.
    [[nodiscard]] std::optional<departure> again(const release_request& leaving,
                                                 clock::time_point sent,
                                                 clock::time_point now) const;

private:
    struct late_request
    {
        std::string owner;
        std::string entry;
        clock::time_point limit;
    };

    std::deque<departure> waiting_;
    std::vector<late_request> late_;
};

} // namespace leasehold::quorum

#endif
