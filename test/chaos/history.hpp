#ifndef LEASEHOLD_TEST_CHAOS_HISTORY_HPP
#define LEASEHOLD_TEST_CHAOS_HISTORY_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::test::chaos {

/// The lease time with heartbeats, as a multiple of the grace.
inline constexpr int promised_lease = 4;

/// Time since the machine started, as `leasehold::clock` counts it: the same for all processes.
using stamp = std::chrono::nanoseconds;

/// The events of a client. The comment of a verb lists its fields of `event`.
enum class verb : std::uint8_t
{
    asked, ///< name, op, word: how (see `way`). Before the call.
    /// name, fence, word: `fresh`, or `handed` without the store, or `promised`: fresh, by a
    /// request that was sent `number` after the call. The observer was notified, and the caller was
    /// not yet.
    given,
    granted,   ///< name, op, fence, number: deadline, flag: valid. The caller has the lease.
    failed,    ///< name, op, word: the error.
    cancelled, ///< name, op.
    renewed,   ///< name, op, fence, number: the new deadline, word: with heartbeats, when the
               ///< renewal was sent.
    lost,      ///< name, op, fence, number: deadline, flag: valid (which it must not be), word: the
               ///< reason.
    releasing, ///< name, op, fence, number: deadline, flag: valid. Before the call.
    dropped,   ///< As `releasing`, but the lease is destroyed instead.
    released,  ///< name, op, fence, word: the outcome.
    read,      ///< name, op, fence, number: the value in the register.
    stale,     ///< name, op, fence. The register has seen a newer fence, and rejected the read.
    writing,   ///< name, op, fence, number: the value. Before the call.
    wrote,     ///< name, op, fence, number: the value. The register accepted it.
    refused,   ///< name, op, fence, number: the value. The register has seen a newer fence.
    stalled,   ///< number: the time since which this process did not run, although it had work.
    closing,   ///< The client is about to be shut down.
    closed,    ///< number: the number of leases and waits that were left, word: the outcome.
    count_,
};

/// The ways to acquire a lock, as in `asked`.
namespace way {
inline constexpr std::string_view lock = "lock", cancel = "cancel", try_once = "try",
                                  try_for = "try_for", guarded = "guarded", unrenewed = "unrenewed",
                                  probe = "probe", last = "last";
} // namespace way

/// The outcome of a success.
inline constexpr std::string_view fine = "ok";
/// Too few replicas confirmed it.
inline constexpr std::string_view unconfirmed = "not_replicated";
/// Too few members of a quorum granted it.
inline constexpr std::string_view outvoted = "no_quorum";

struct event
{
    stamp at{};
    verb what = verb::asked;
    std::string name{};
    std::uint32_t op = 0; ///< Counts from 1 in each process.
    std::uint64_t fence = 0;
    std::int64_t number = 0;
    bool flag = false;
    std::string word{};

    [[nodiscard]] stamp deadline() const noexcept { return stamp(number); }
    bool operator==(const event&) const = default;
};

[[nodiscard]] std::string_view name_of(verb kind) noexcept;

/// One line with its end: `AT VERB NAME OP FENCE NUMBER FLAG WORD`. An unused field is `-`.
[[nodiscard]] std::string to_line(const event& e);

/// Reads the output of `to_line`, with or without the end of the line; empty: any other text.
[[nodiscard]] std::optional<event> parse_line(std::string_view line);

/// The way in which a client process ended.
enum class ending_kind : std::uint8_t
{
    clean,  ///< By itself on request, with exit code 0.
    killed, ///< Killed by the nemesis.
    failed, ///< In any other way.
};

/// The events of one process.
struct history
{
    std::string client;
    std::vector<event> events{};
    std::size_t unreadable = 0; ///< Complete lines that are invalid.
    ending_kind ended = ending_kind::clean;
    std::string how{}; ///< For `failed`: exit code, signal, or that it hung.
};

/// Appends all complete lines. An unfinished last line is left for the next call.
void read_on(std::istream& from, history& to);

} // namespace leasehold::test::chaos

#endif
