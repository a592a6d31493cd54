#ifndef LEASEHOLD_TEST_MODEL_QUORUM_STATE_HPP
#define LEASEHOLD_TEST_MODEL_QUORUM_STATE_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

// Every state that a quorum of three members can reach, with two clients that each lock one name
// twice.
//
// An acquisition is a number: that of its client, times two, plus which of the two it is. Some
// things are left out because they add nothing. A reply is read when it is given or never: a later
// read makes a grant known later, of which less is required. A release is the end of a hold at any
// moment after its owner gave it up. The clock for the first fences is the start of a client's
// fences.
namespace leasehold::test::quorum_model {

inline constexpr unsigned members = 3;
inline constexpr unsigned clients = 2;
inline constexpr unsigned attempts = 2;
inline constexpr unsigned owners = clients * attempts;

/// The deliberate errors.
enum class mistake : std::uint8_t
{
    none,
    each_counts,         ///< Members count by themselves, and the client takes the largest fence.
    equal_is_accepted,   ///< A member accepts a value for the second time.
    largest_is_taken,    ///< The largest fence is used without a second round.
    minority_grants,     ///< One member is enough.
    no_epoch,            ///< The other members are read, and adopt nothing.
    nothing_read,        ///< A blank server begins at nothing.
    older_epochs_served, ///< A member does not check the epoch of a request.
    blank_servers_grant, ///< The loss of a member's data is not noticed.
    no_silence,          ///< A new member grants at once.
    deadline_from_reply, ///< A lease counts from the last reply.
    holds_not_looked_at, ///< A member grants a lock that another owner has.
    raised_for_others,   ///< The second round does not check the owner of the lock.
    earlier_answers,     ///< The replies to the earlier acquire count for this one.
    nonce_ignored,       ///< A member accepts a write from before its loss of data.
    /// Servers begin again that were each blank at some time, perhaps not at once.
    one_poll_is_enough,
    beginning_not_kept, ///< A seed does not contain the members that begin again together.
    beginning_ignored,  ///< Missing seeds are sent, whatever data was lost since then.
    count_,
};

struct setting
{
    /// The acquires of each client, one after another.
    std::array<std::uint8_t, clients> acquires{1, 1};
    /// The number of times that a member loses all its data.
    std::uint8_t forgets = 0;
    /// The number of times that a member becomes blank and loses nothing.
    std::uint8_t restarts = 0;
    bool timed = true; ///< A hold ends with its lease. Otherwise it ends at any moment.
    bool anew = false; ///< All members are blank in the beginning.
    mistake wrong = mistake::none;
};

struct node
{
    std::uint8_t holder; ///< The acquisition of the holder plus one, or 0: there is none.
    std::uint8_t largest;
    std::uint8_t floor;
    std::uint8_t epoch;
    std::uint8_t is_member;
    std::uint8_t nonce;
    std::uint8_t began; ///< As in `fsm::member_view`.
    std::uint8_t waits; ///< Acquisitions that it may have granted, and that have not ended.
};

struct client
{
    enum class phase : std::uint8_t
    {
        idle,
        voting,
        holding,
        finished,
    };
    phase at;
    std::uint8_t attempt;
    std::uint8_t seen; ///< The largest fence.
    std::uint8_t epoch;
    std::uint8_t round;
    std::uint8_t counted;                    ///< The largest, for `each_counts`.
    std::array<std::uint8_t, members> first; ///< Replies plus one, or 0: there is none.
    std::array<std::uint8_t, members> second;
};

/// The requests of one acquisition.
struct request
{
    std::uint8_t epoch;
    std::uint8_t first; ///< The offered fence.
    std::uint8_t second;
    std::uint8_t pending; ///< On their way: a bit for each member, first round, then the second.
    std::uint8_t above;   ///< The largest fence that was known when it began.
    std::uint8_t fence;   ///< The granted one.
    std::uint8_t over;    ///< Its lease time has passed since before the first request.
    std::uint8_t given_up;
    std::uint8_t late_over; ///< With `deadline_from_reply`: when its client considers it ended.
};

/// Makes blank servers members.
struct assembler
{
    std::uint8_t at; ///< 0 nothing, 1 looking, 2 asking.
    std::uint8_t looked;
    std::array<std::uint8_t, members> member;
    std::array<std::uint8_t, members> epoch;
    std::array<std::uint8_t, members> nonce;
    std::array<std::uint8_t, members> largest;
    std::array<std::uint8_t, members> began;
    std::uint8_t answered;
    std::uint8_t floor;
};

/// On its way to a blank server.
struct seed
{
    std::uint8_t pending;
    std::uint8_t nonce;
    std::uint8_t epoch;
    std::uint8_t floor;
    std::uint8_t began;
};

struct state
{
    std::array<node, members> nodes;
    std::array<client, clients> who;
    std::array<request, owners> asked;
    assembler maker;
    std::array<seed, members> seeds;
    std::uint8_t known; ///< The largest fence that any client knows.
    std::uint8_t forgets;
    std::uint8_t restarts;
    std::uint8_t nonces;
};

static_assert(sizeof(state) < 160);

struct step
{
    state to;
    const char* what; ///< A text about `who` and `where`.
    int who = -1;
    int where = -1;
    const char* wrong = nullptr; ///< The violated promise.
};

[[nodiscard]] state first_state(const setting& g);
/// The same state as far as any step can tell, with one form for all that differ only in the names
/// of members and clients.
[[nodiscard]] state canonical(const state& s, const setting& g);
void steps_from(const state& s, const setting& g, std::vector<step>& out);

} // namespace leasehold::test::quorum_model

#endif
