#ifndef LEASEHOLD_TEST_MODEL_LEASE_STATE_HPP
#define LEASEHOLD_TEST_MODEL_LEASE_STATE_HPP

#include <array>
#include <cstdint>
#include <vector>

// Every state that a lease at a quorum of three members can reach, from the grant by two of them
// on: renewals, members that cannot be reached, return or lose their data, and another owner that
// takes a free lock. Time goes in steps; all clocks show the same.
namespace leasehold::test::lease_model {

inline constexpr unsigned members = 3;
inline constexpr std::uint8_t lease_time = 2;
inline constexpr std::uint8_t last_time = 6;

/// The deliberate errors.
enum class mistake : std::uint8_t
{
    none,
    grant_not_remembered, ///< Only a renewal shows which members have granted the lock.
    creation_not_counted, ///< A member that gets the lock in a renewal does not count for it.
    no_silence,           ///< A member that lost its data grants at once.
    deadline_from_answer, ///< A renewal counts from its last reply on.
    count_,
};

struct setting
{
    /// The number of times that a member cannot be reached. One at a time.
    std::uint8_t failures = 1;
    std::uint8_t forgets = 0; ///< The number of times that a member loses all its data.
    std::uint8_t losses = 0;  ///< The number of replies that are lost.
    mistake wrong = mistake::none;
};

struct node
{
    std::uint8_t holder; ///< 0 none, 1 the client, 2 the other owner.
    std::uint8_t until;  ///< The lock is held until this time.
    std::uint8_t silent; ///< The member grants no lock until this time.
    std::uint8_t down;   ///< The client cannot reach the member.
    std::uint8_t known;  ///< As in `fsm::member_leases`, or 0: not known.
    /// When a renewal was sent that has not arrived, plus one, or 0: there is none.
    std::uint8_t renews;
    std::uint8_t creates; ///< The same for a request to create the lock.
    std::uint8_t limit;   ///< The latest time for that request.
};

struct state
{
    std::array<node, members> nodes;
    std::uint8_t now;
    std::uint8_t deadline; ///< The client holds the lock before this time. 0: it was lost.
    // A renewal.
    std::uint8_t began;    ///< The time of its begin plus one, or 0: none is outstanding.
    std::uint8_t pending;  ///< Members that may still answer.
    std::uint8_t has;      ///< Members that have renewed the lock.
    std::uint8_t lacks;    ///< Members without the lock.
    std::uint8_t free;     ///< Those of them at which the lock is free.
    std::uint8_t creating; ///< Members that may still report that they created it.
    std::uint8_t created;
    std::uint8_t settled;
    std::uint8_t disturbed; ///< Time has passed, or a member did not answer or was not asked.
    std::uint8_t failures;
    std::uint8_t forgets;
    std::uint8_t losses;
};

struct step
{
    state to;
    const char* what; ///< A text about the member `where`.
    int where = -1;
    const char* wrong = nullptr; ///< The violated promise.
};

[[nodiscard]] state first_state(const setting& g);
/// The same state as far as any step can tell, with one form for all that differ only in the names
/// of members.
[[nodiscard]] state canonical(const state& s, const setting& g);
void steps_from(const state& s, const setting& g, std::vector<step>& out);

} // namespace leasehold::test::lease_model

#endif
