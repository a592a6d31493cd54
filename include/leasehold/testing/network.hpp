#ifndef LEASEHOLD_TESTING_NETWORK_HPP
#define LEASEHOLD_TESTING_NETWORK_HPP

#include <leasehold/clock.hpp>
#include <leasehold/detail/export.hpp>

#include <cstdint>

namespace leasehold::testing {

/// What may happen to each message between a host and a server. Rates are per million messages. A
/// message is what one end of a connection writes at once: some commands, or the answers to them. A
/// connection keeps their order: what is lost takes all with it that follows it on the same way,
/// until the client gives the connection up.
struct conditions
{
    /// How long something takes.
    using duration = clock::duration;
    /// Of a million messages.
    using rate = std::uint32_t;

    /// A message takes this long, evenly spread.
    duration delay_floor = std::chrono::microseconds(200);
    /// The longest delay.
    duration delay_ceiling = std::chrono::milliseconds(2);

    rate loss = 0;         ///< The request never arrives; the connection stays open.
    rate reply_loss = 0;   ///< The commands run, their answers never arrive; it stays open.
    rate duplication = 0;  ///< The request runs twice, as when a proxy sends it again.
    rate reordering = 0;   ///< Late by up to a second; other connections overtake it.
    rate reset_before = 0; ///< The connection is reset, and the request never arrives.
    rate reset_after = 0; ///< Reset when some of the commands have run, or all, within the answers.
    rate hint_loss = 0;   ///< A published release does not arrive.
    rate hint_doubling = 0; ///< A published release arrives twice.
    rate slow = 0;          ///< The message takes `slow_delay`, and so does what follows it.
    /// How long a message takes that is `slow`.
    duration slow_delay = std::chrono::seconds(3);

    /// Compares all members.
    friend bool operator==(const conditions&, const conditions&) = default;
};

/// What has befallen a host so far: a test that means to break something can see whether it did.
struct mishaps
{
    std::uint64_t requests_lost = 0;    ///< Never arrived.
    std::uint64_t requests_unsent = 0;  ///< Refused while the connection was there.
    std::uint64_t requests_doubled = 0; ///< Arrived twice.
    std::uint64_t replies_lost = 0;     ///< Never arrived on a connection that stayed open.
    std::uint64_t late = 0; ///< Requests and replies that a cut, slowness or reordering delayed.
    std::uint64_t scripts_missing = 0; ///< Commands that the server had no script for.
    std::uint64_t redirected = 0;      ///< By a node of a cluster: MOVED, ASK, TRYAGAIN and so on.
    std::uint64_t connects_failed = 0; ///< No connection came about.
    std::uint64_t connections_lost =
        0;                        ///< Resets, restarts, and answers that were waited for too long.
    std::uint64_t hints = 0;      ///< Published releases that arrived, and were wanted.
    std::uint64_t hints_lost = 0; ///< Published releases that did not arrive.
    std::uint64_t hints_doubled = 0; ///< Published releases that arrived twice.
    std::uint64_t tasks_held_up = 0; ///< While the host was paused or suspended.
};

/// Which way messages are cut off.
enum class direction : std::uint8_t
{
    both,        ///< Requests and answers.
    to_server,   ///< Requests do not arrive.
    from_server, ///< Requests arrive and run, answers and wake-ups do not.
};

} // namespace leasehold::testing

#endif
