#ifndef LEASEHOLD_TEST_MODEL_GRACE_STATE_HPP
#define LEASEHOLD_TEST_MODEL_GRACE_STATE_HPP

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

// A dead holder is found: every state that two or three clients can reach that want one name and
// send heartbeats. Unlike in the model of the queue, time has numbers here, because the grace is
// about time. All clocks are the same; the margin covers their drift.
//
// An owner is a client and the number of its acquire. The queue is left out: the first request gets
// a free lock. So are renewals: a lease is longer than a whole run.
namespace leasehold::test::grace_model {

inline constexpr unsigned most_clients = 3;
inline constexpr std::uint8_t never = 255;

/// The deliberate errors.
enum class mistake : std::uint8_t
{
    none,
    promise_not_kept,     ///< A holder considers only its lease time.
    sign_from_answer,     ///< A holder counts from the reply to its heartbeat.
    grant_from_answer,    ///< A holder counts from the grant, and not from the acquire.
    late_sign_for_grant,  ///< A heartbeat from before the late grant was read counts.
    acquire_not_recorded, ///< An acquire that grants makes no record.
    sign_not_recorded,    ///< The server confirms a heartbeat and stores nothing.
    lapse_revived,        ///< A heartbeat that is confirmed later restores a lapsed lease.
    half_grace,           ///< A waiter counts half of the grace.
    absent_is_dead,       ///< A waiter takes a missing record for an old one.
    other_run_believed,   ///< A record of the server before its restart counts.
    polls_renew,          ///< Every poll renews the record.
    no_record_by_poll,    ///< A poll that finds no record makes none.
    one_record_for_all,   ///< Clients share a record.
    plain_superseded,     ///< A holder without a grace is superseded.
    /// Another client acquires under the same owner, and the heartbeat mark remains.
    entry_keeps_promise,
    promise_inherited, ///< An owner asks again without the grace, and its mark remains.
    /// An acquire without the grace is sent although one with it may still be executed.
    late_promise_forgotten,
    superseded_in_two, ///< A waiter polls, and then removes any value of that time.
    removed_by_prefix, ///< A waiter removes a value that begins with the one it has seen.
    count_,
};

struct setting
{
    std::uint8_t clients = 2;
    /// The number of acquires of each client, including those that find the lock held. At most 3.
    std::uint8_t acquires = 2;
    std::uint8_t lease = 4;
    std::uint8_t grace = 2;
    std::uint8_t faults = 1;
    bool entries = false;  ///< Clients may acquire under the owner of another client.
    bool others = true;    ///< Waiters send heartbeats too, because they hold other names.
    bool restarts = false; ///< The server may restart, with an earlier snapshot.
    /// Some acquires are without the grace. One whose reply is lost is sent again under the same
    /// owner, perhaps for a waiter with the other option.
    bool mixed = false;
    /// As above, and a request that was not executed may also be lost and executed at any later
    /// time. Its owner is released before the next one asks without a grace that it had.
    bool late = false;
    mistake wrong = mistake::none;
};

/// The last heartbeat of a client, as the server stores it.
struct record
{
    std::uint8_t there;
    std::uint8_t run; ///< The run of the server that wrote it.
    std::uint8_t seen;
};

struct keys
{
    std::uint8_t owner; ///< The owner plus one, or 0: free.
    std::uint8_t promised;
    std::uint8_t reentered; ///< Another client has acquired under the same owner.
    std::uint8_t expires;
    std::array<record, most_clients> alive;
};

/// A request, and then its reply. One without a waiter is `late`.
struct exchange
{
    enum class kind : std::uint8_t
    {
        none,
        acquire, ///< It is also a heartbeat.
        reenter,
        release,
        remove, ///< Only with a mistake.
    };
    enum class answer : std::uint8_t
    {
        none, ///< It was not executed.
        granted,
        held,
        over, ///< Only with a mistake: the holder may be superseded.
        done,
    };
    kind what;
    answer said;
    std::uint8_t sent;
    std::uint8_t owner; ///< The owner that it names.
    std::uint8_t plain; ///< Without the grace. If it was granted, this was stored.
};

struct client
{
    enum class phase : std::uint8_t
    {
        idle,
        asking,
        holding,
        lapsed, ///< The lease was lost, and may still be released.
        leaving,
        dead,
    };
    phase at;
    std::uint8_t attempt;
    std::uint8_t owner;    ///< The owner that it holds, or asks with.
    std::uint8_t promised; ///< Whether its lease depends on its heartbeats.
    std::uint8_t deadline; ///< The deadline of the lease time.
    std::uint8_t alive;    ///< When the last confirmed heartbeat was sent, or `never`.
    std::uint8_t excused;  ///< Its lock was lost with the data.
    exchange asked;
    std::uint8_t sign; ///< 1: a heartbeat is outstanding, 2: it was answered.
    std::uint8_t sign_sent;
    std::uint8_t late_sign; ///< A heartbeat that was given up may still be executed.
    /// An acquire that was given up may still be executed: its owner plus one.
    std::uint8_t late;
    std::uint8_t late_plain; ///< That acquire is without the grace.
    std::uint8_t renounced;  ///< After its release, the next owner asks without the grace.
};

/// Times are relative to the present, which is `now` in each state. All times without any further
/// effect are as early as possible.
inline constexpr std::uint8_t now = 32;

struct state
{
    std::uint8_t run;
    std::uint8_t faults;
    std::uint8_t has_snapshot;
    std::uint8_t looked; ///< The first poll of a dead holder since the last fault.
    keys data;
    keys snapshot;
    std::array<client, most_clients> who;
};

struct step
{
    state to;
    int who; ///< A client, or -1: the server or time.
    const char* what;
    const char* about;           ///< The subject: a request or a reply.
    const char* wrong = nullptr; ///< The violated promise.
};

[[nodiscard]] state first_state(const setting& g);
/// Each state is its own canonical form.
[[nodiscard]] inline const state& canonical(const state& s, const setting&) noexcept
{
    return s;
}
void steps_from(const state& s, const setting& g, std::vector<step>& out);

} // namespace leasehold::test::grace_model

#endif
