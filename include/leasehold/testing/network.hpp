#ifndef LEASEHOLD_TESTING_NETWORK_HPP
#define LEASEHOLD_TESTING_NETWORK_HPP

#include <leasehold/clock.hpp>
#include <leasehold/detail/export.hpp>

#include <cstdint>

namespace leasehold::testing {

/// Faults of the messages between a host and a server. Rates are per million messages. A message is
/// the data that one end of a connection writes at once: some commands, or their replies. A
/// connection keeps their order. If a message is lost, all later ones in the same direction are
/// lost too, until the client closes the connection.
struct conditions
{
    /// The type of durations.
    using duration = clock::duration;
    /// Number of messages in a million.
    using rate = std::uint32_t;

    /// The shortest delay of a message. Delays are uniformly distributed.
    duration delay_floor = std::chrono::microseconds(200);
    /// The longest delay.
    duration delay_ceiling = std::chrono::milliseconds(2);

    rate loss = 0;         ///< The request never arrives; the connection stays open.
    rate reply_loss = 0;   ///< The commands are executed, the replies never arrive; it stays open.
    rate duplication = 0;  ///< The request is executed twice, as if a proxy repeats it.
    rate reordering = 0;   ///< A delay of up to a second; other connections overtake it.
    rate reset_before = 0; ///< The connection is reset, and the request never arrives.
    rate reset_after = 0;  ///< Reset after some or all of the commands, within the replies.
    rate wakeup_loss = 0;  ///< A published release does not arrive.
    rate wakeup_doubling = 0; ///< A published release arrives twice.
    rate slow = 0;            ///< The message and all that follow it take `slow_delay`.
    /// The delay of a `slow` message.
    duration slow_delay = std::chrono::seconds(3);

    /// Compares all members.
    friend bool operator==(const conditions&, const conditions&) = default;
};

/// The faults of a host so far. A test can check that the intended faults have occurred.
struct mishaps
{
    std::uint64_t requests_lost = 0;    ///< Never arrived.
    std::uint64_t requests_unsent = 0;  ///< Rejected before sending, over an open connection.
    std::uint64_t requests_doubled = 0; ///< Arrived twice.
    std::uint64_t replies_lost = 0;     ///< Never arrived on a connection that stayed open.
    std::uint64_t late = 0; ///< Requests and replies delayed by a cut, slowness or reordering.
    std::uint64_t scripts_missing = 0;  ///< Commands whose script the server did not have.
    std::uint64_t redirected = 0;       ///< By a node of a cluster: MOVED, ASK, TRYAGAIN and so on.
    std::uint64_t connects_failed = 0;  ///< Failed attempts to connect.
    std::uint64_t connections_lost = 0; ///< Resets, restarts, and replies that timed out.
    std::uint64_t wakeups = 0;          ///< Published releases that arrived at a watching client.
    std::uint64_t wakeups_lost = 0;     ///< Published releases that did not arrive.
    std::uint64_t wakeups_doubled = 0;  ///< Published releases that arrived twice.
    std::uint64_t tasks_held_up = 0;    ///< Delayed while the host was paused or suspended.
};

/// The direction of a cut.
enum class direction : std::uint8_t
{
    both,        ///< Requests and replies.
    to_server,   ///< Requests do not arrive.
    from_server, ///< Requests arrive and are executed; replies and wake-ups do not arrive.
};

} // namespace leasehold::testing

#endif
