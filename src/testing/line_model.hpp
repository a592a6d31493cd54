#ifndef LEASEHOLD_SRC_TESTING_LINE_MODEL_HPP
#define LEASEHOLD_SRC_TESTING_LINE_MODEL_HPP

#include "testing/script_calls.hpp"
#include "testing/script_models.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// What the scripts of both layouts do with the line of a lock.
namespace leasehold::testing::impl {

using optional_text = std::optional<std::string>;

inline constexpr std::int64_t day = 86'400'000;

std::int64_t number_of(std::string_view text);

/// After the time that the caller has set.
bool is_late(std::string_view latest, std::int64_t now);

/// What the waiters' hash says of one.
struct waiter
{
    double there = 0; ///< Until then.
    std::int64_t lease = 0;
    std::int64_t claim = 0;
    bool listens = false;
    double open = 0; ///< Left free until then, for those who do not know the line; 0: it is not.
};

/// '^(%d+) (%d+) (%d+) (%d)'; `open` only with ' (%d+)$' behind it.
std::optional<waiter> waiter_of(std::string_view text);

/// '^%d+ %d+ %d+ %d', of what `waiter_of` can read.
std::string first_four(const std::string& text);

/// The keys of a lock, as the long scripts are given them, and where its turns are told.
struct keys_of_line
{
    /// @param begin What the channels of turns begin with.
    keys_of_line(words keys, std::string begin)
        : lock(keys[0]), counter(keys[1]), line(keys[2]), waiters(keys[3]), turns(std::move(begin))
    {}

    std::string_view lock, counter, line, waiters;
    std::string turns;
};

/// Whether a waiter is there, which is asked by telling it. A refused PUBLISH counts as heard.
bool is_there(script_calls& redis, const waiter& each, std::string_view who, const keys_of_line& of,
              std::int64_t now);

/// The first has gone.
void leave_line(script_calls& redis, const keys_of_line& of, std::string_view who);

std::string entry_of(std::int64_t now, std::string_view presence, std::string_view lease,
                     std::string_view claim, std::string_view listens);

/// @param refused Set instead of ending the script.
std::int64_t join_line(script_calls& redis, const keys_of_line& of, std::string_view who,
                       const std::string& entry, bool* refused = nullptr);

/// Until when the lock is left free for those who do not know the line; nothing: it is not.
std::optional<double> left_free(script_calls& redis, const keys_of_line& of,
                                const optional_text& first, std::int64_t now);

} // namespace leasehold::testing::impl

#endif
