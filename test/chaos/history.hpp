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

/// The lease time of those who promise to be alive: so much longer than they may be silent.
inline constexpr int promised_lease = 4;

/// Time since the machine was started, as `leasehold::clock` counts it: the same for all processes.
using stamp = std::chrono::nanoseconds;

/// What a client writes down. Which of the fields of `event` a verb uses stands behind it.
enum class verb : std::uint8_t
{
    asked,   ///< name, op, word: how (see `way`). Before the call.
    given,   ///< name, fence, word: `fresh`, or `handed` without the store, or `promised`: fresh,
             ///< by a request that was sent `number` after it was asked for. The observer was told;
             ///< the caller was not yet.
    granted, ///< name, op, fence, number: deadline, flag: valid. The caller has the lease.
    failed,  ///< name, op, word: the error.
    cancelled, ///< name, op.
    renewed,   ///< name, op, fence, number: the new deadline, word: with a promise, when the
               ///< renewal was sent.
    lost,      ///< name, op, fence, number: deadline, flag: valid (which it must not be), word: the
               ///< reason.
    releasing, ///< name, op, fence, number: deadline, flag: valid. Before the call.
    dropped,   ///< As `releasing`; the lease is destroyed instead.
    released,  ///< name, op, fence, word: the outcome.
    read,      ///< name, op, fence, number: what the register held.
    stale,     ///< name, op, fence. The register has seen a newer fence, and did not let it read.
    writing,   ///< name, op, fence, number: the value. Before the call.
    wrote,     ///< name, op, fence, number: the value. The register took it.
    refused,   ///< name, op, fence, number: the value. The register has seen a newer fence.
    stalled,   ///< number: since when this process did not run, although it had something to do.
    closing,   ///< The client is about to be shut down.
    closed,    ///< number: what it still had (held, waiting, to be given back), word: the outcome.
    count_,
};

/// How a lock was asked for, as `asked` says it.
namespace way {
inline constexpr std::string_view lock = "lock", cancel = "cancel", try_once = "try",
                                  try_for = "try_for", guarded = "guarded", unrenewed = "unrenewed",
                                  probe = "probe", last = "last";
} // namespace way

/// The outcome of what went well.
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

/// One line with its end: `AT VERB NAME OP FENCE NUMBER FLAG WORD`, what is not used is `-`.
[[nodiscard]] std::string to_line(const event& e);

/// Reads what `to_line` made, with or without the end of the line; empty when it is something else.
[[nodiscard]] std::optional<event> parse_line(std::string_view line);

/// How a client process ended.
enum class ending_kind : std::uint8_t
{
    clean,  ///< By itself, with exit code 0, when it was told to.
    killed, ///< By the nemesis.
    failed, ///< Otherwise.
};

/// What one process wrote.
struct history
{
    std::string client;
    std::vector<event> events{};
    std::size_t unreadable = 0; ///< Whole lines that are none.
    ending_kind ended = ending_kind::clean;
    std::string how{}; ///< For `failed`: exit code, signal, or that it hung.
};

/// Appends what can be read; an unfinished last line is left for the next time.
void read_on(std::istream& from, history& to);

} // namespace leasehold::test::chaos

#endif
