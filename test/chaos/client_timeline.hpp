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
    std::size_t client = 0; ///< The index of its history.
    std::string name{};
    std::uint32_t op = 0;
    std::uint64_t fence = 0;
    std::size_t hold = 0; ///< The index of the `hold` that it belongs to.
    stamp told{};
    stamp deadline{};  ///< The latest deadline.
    stamp confirmed{}; ///< The store confirmed the lock no earlier than this.
    std::optional<stamp> lost{};
    std::string reason{}; ///< The reason of the loss.
    std::optional<stamp>
        left{}; ///< When its release was requested, or when it was about to be destroyed.
    bool valid_when_left = false;
    std::optional<stamp> answered{}; ///< When the release was answered.
    std::string outcome{};           ///< The result of the release.

    /// The holder considers the lease valid from `told` until here.
    [[nodiscard]] stamp end() const noexcept;
};

/// One grant of the store, to one holder or to several holders of one client in turn.
struct hold
{
    std::string name{};
    stamp earliest{}; ///< The store granted the lock no earlier than this …
    stamp latest{};   ///< … and no later than this.
    std::uint64_t first_fence = 0;
    std::uint64_t last_fence = 0;
    /// With heartbeats: when its last renewal or its acquire was sent. Heartbeats move the
    /// deadline, but do not confirm the lock.
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
    std::optional<bool> taken{}; ///< Empty if the writer died before the reply.
};

/// The history of one client, as objects.
struct client_timeline
{
    std::vector<lock_request> wishes{};
    std::vector<grant> grants{};
    std::vector<hold> holds{};
    std::vector<write_attempt> writes{};
    std::vector<std::pair<stamp, stamp>>
        stalls{}; ///< The spans in which the process did not run although it had work.
    stamp last{}; ///< The process was alive at least until here.
    std::optional<stamp> closing{};

    /// For how long of this span the process did not run.
    [[nodiscard]] stamp stalled(stamp from, stamp until) const noexcept;
};

/// The moment before the request was sent that made a lease valid until `deadline`.
[[nodiscard]] stamp sent_for(stamp deadline, stamp lease) noexcept;

/// Reads a history, counts its events, and runs the checks that need no other history.
[[nodiscard]] client_timeline read_history(const history& of, std::size_t index, stamp lease,
                                           report& into);

} // namespace leasehold::test::chaos

#endif
