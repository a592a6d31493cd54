#ifndef LEASEHOLD_TEST_CHAOS_CLIENT_TIMELINE_HPP
#define LEASEHOLD_TEST_CHAOS_CLIENT_TIMELINE_HPP

#include "chaos/history.hpp"
#include "chaos/report.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace leasehold::test::chaos {

/// One lease, as its holder saw it.
struct grant
{
    std::size_t client = 0; ///< Index of its history.
    std::string name{};
    std::uint32_t op = 0;
    std::uint64_t fence = 0;
    std::size_t hold = 0; ///< Index of the `hold` that it came from.
    stamp told{};
    stamp deadline{};  ///< The latest.
    stamp confirmed{}; ///< The store confirmed no earlier than this that it has the lock.
    std::optional<stamp> lost{};
    std::string reason{}; ///< Of the loss.
    std::optional<stamp>
        left{}; ///< When its release was requested, or it was about to be destroyed.
    bool valid_when_left = false;
    std::optional<stamp> answered{}; ///< When the release was.
    std::string outcome{};           ///< Of the release.

    /// The holder believes in it from `told` until here.
    [[nodiscard]] stamp end() const noexcept;
};

/// One grant of the store: to one holder, or to several of one client, one after another.
struct hold
{
    std::string name{};
    stamp earliest{}; ///< The store granted it no earlier …
    stamp latest{};   ///< … and no later.
    std::uint64_t first_fence = 0;
    std::uint64_t last_fence = 0;
    /// With heartbeats: when its last renewal was sent, or its acquire. Heartbeats, which move the
    /// deadline, do not confirm the lock.
    std::optional<stamp> confirmed{};
};

/// One operation that acquires a lock.
struct lock_request
{
    std::string name{};
    std::uint32_t op = 0;
    std::string how{};
    stamp asked{};
    std::optional<stamp> ended{};
    bool granted = false;
};

/// One write to the register, as the writer saw it.
struct write_attempt
{
    std::string name{};
    std::uint32_t op = 0;
    std::uint64_t fence = 0;
    std::int64_t value = 0;
    stamp at{};
    std::optional<bool> taken{}; ///< Empty if the writer died before.
};

/// One client's history, as objects.
struct client_timeline
{
    std::vector<lock_request> wishes{};
    std::vector<grant> grants{};
    std::vector<hold> holds{};
    std::vector<write_attempt> writes{};
    std::vector<std::pair<stamp, stamp>>
        stalls{}; ///< When the process did not run although it had work.
    stamp last{}; ///< It was alive until here at least.
    std::optional<stamp> closing{};

    /// How much of this time it did not run.
    [[nodiscard]] stamp stalled(stamp from, stamp until) const noexcept;
};

/// The moment before the request was sent that made a lease valid until `deadline`.
[[nodiscard]] stamp sent_for(stamp deadline, stamp lease) noexcept;

/// Reads a history, counts its events, and checks what can be checked in it alone.
[[nodiscard]] client_timeline read_history(const history& of, std::size_t index, stamp lease,
                                           report& into);

} // namespace leasehold::test::chaos

#endif
