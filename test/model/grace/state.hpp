#ifndef LEASEHOLD_TEST_MODEL_GRACE_STATE_HPP
#define LEASEHOLD_TEST_MODEL_GRACE_STATE_HPP

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

// A dead holder is found: every state that two or three clients can come to who want one name, and
// say that they are alive. Unlike in the model of the line time has numbers here, because it is
// what the promise is about. All clocks are the same clock; how far they drift is the margin's
// matter.
//
// An owner is a client and which of its acquires it is. The line is left out: whoever asks first
// gets what is free. So are renewals: a lease is longer than what happens while it runs.
namespace leasehold::test::grace_model {

inline constexpr unsigned most_clients = 3;
inline constexpr std::uint8_t never = 255;

/// What is done wrong.
enum class mistake : std::uint8_t
{
    none,
    promise_not_kept,       ///< A holder counts its lease time alone.
    sign_from_answer,       ///< It counts from the answer to its sign of life.
    grant_from_answer,      ///< It counts from the grant, and not from the acquire.
    late_sign_for_grant,    ///< A sign of before the grant was read counts, however late that is.
    acquire_not_recorded,   ///< An acquire grants and makes no record.
    sign_not_recorded,      ///< The server answers to a sign of life and keeps nothing.
    lapse_revived,          ///< A sign that is confirmed later brings a lapsed lease back.
    half_grace,             ///< A waiter counts half of the grace.
    absent_is_dead,         ///< A waiter takes a missing record for an old one.
    other_run_believed,     ///< A record of the server before its restart counts.
    looks_renew,            ///< Every look makes the record new.
    no_record_by_look,      ///< A look that finds no record makes none.
    one_record_for_all,     ///< Clients share a record.
    plain_superseded,       ///< A holder that promised nothing is superseded.
    entry_keeps_promise,    ///< Another client enters, and the mark of the promise stays.
    promise_inherited,      ///< An owner asks again without the promise, and its mark stays.
    late_promise_forgotten, ///< One asks without it though what it asked with it may run yet.
    superseded_in_two,      ///< A waiter looks, and then removes what is there by then.
    removed_by_prefix,      ///< It removes a value that begins with the one it has seen.
    count_,
};

struct setting
{
    std::uint8_t clients = 2;
    std::uint8_t acquires = 2; ///< Of each, those that find it held included; at most 3.
    std::uint8_t lease = 4;
    std::uint8_t grace = 2;
    std::uint8_t faults = 1;
    bool entries = false;  ///< Clients may enter under another's owner.
    bool others = true;    ///< Who asks gives signs of life, too, because it holds other names.
    bool restarts = false; ///< The server may, with an earlier snapshot.
    /// Some acquires come without the promise. One whose answer is lost is sent again under the
    /// same owner, perhaps for somebody who wants the other.
    bool mixed = false;
    /// As above, and one that has not run may be lost, too, and run whenever it likes. Its owner is
    /// left before the next one asks without a promise that it had.
    bool late = false;
    mistake wrong = mistake::none;
};

/// When a client last said that it is alive, as the server keeps it.
struct record
{
    std::uint8_t there;
    std::uint8_t run; ///< Of the server that wrote it.
    std::uint8_t seen;
};

struct keys
{
    std::uint8_t owner; ///< Plus one; 0: free.
    std::uint8_t promised;
    std::uint8_t entered; ///< Another client is in under the same owner.
    std::uint8_t expires;
    std::array<record, most_clients> alive;
};

/// A request, and then its answer. One that nobody waits for any more is `late`.
struct exchange
{
    enum class kind : std::uint8_t
    {
        none,
        acquire, ///< Is a sign of life, too.
        enter,
        release,
        remove, ///< With a mistake only.
    };
    enum class answer : std::uint8_t
    {
        none, ///< It has not run.
        granted,
        held,
        over, ///< With a mistake only: the holder may be superseded.
        done,
    };
    kind what;
    answer said;
    std::uint8_t sent;
    std::uint8_t owner; ///< That it names.
    std::uint8_t plain; ///< Without the promise; when it is granted, so it was written down.
};

struct client
{
    enum class phase : std::uint8_t
    {
        idle,
        asking,
        holding,
        lapsed, ///< The lease was lost; it may be released still.
        leaving,
        dead,
    };
    phase at;
    std::uint8_t attempt;
    std::uint8_t owner;    ///< That it holds, or asks with.
    std::uint8_t promised; ///< What it holds ends with its signs of life.
    std::uint8_t deadline; ///< Of the lease time.
    std::uint8_t alive;    ///< The last sign that was confirmed, when it was sent; or `never`.
    std::uint8_t excused;  ///< What it holds was lost with the data.
    exchange asked;
    std::uint8_t sign; ///< One is under way, 2: answered.
    std::uint8_t sign_sent;
    std::uint8_t late_sign;  ///< One that was given up may still run.
    std::uint8_t late;       ///< So may an acquire: of this owner, plus one.
    std::uint8_t late_plain; ///< Without the promise.
    std::uint8_t renounced;  ///< When its owner is left, the next one asks without the promise.
};

/// Times are seen from the present, which is `now` in each state; what is so long ago that nothing
/// depends on it is as long ago as possible.
inline constexpr std::uint8_t now = 32;

struct state
{
    std::uint8_t run;
    std::uint8_t faults;
    std::uint8_t has_snapshot;
    std::uint8_t looked; ///< The first look at a dead holder that nothing has troubled since.
    keys data;
    keys snapshot;
    std::array<client, most_clients> who;
};

struct step
{
    state to;
    int who; ///< A client; -1: the server, or time.
    const char* what;
    const char* about;           ///< Of a request or an answer.
    const char* wrong = nullptr; ///< The promise that is broken.
};

[[nodiscard]] state first_state(const setting& g);
/// Every state counts as one of its own.
[[nodiscard]] inline const state& canonical(const state& s, const setting&) noexcept
{
    return s;
}
void steps_from(const state& s, const setting& g, std::vector<step>& out);

} // namespace leasehold::test::grace_model

#endif
