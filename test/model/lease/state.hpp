#ifndef LEASEHOLD_TEST_MODEL_LEASE_STATE_HPP
#define LEASEHOLD_TEST_MODEL_LEASE_STATE_HPP

#include <array>
#include <cstdint>
#include <vector>

// Every state that a lease at a quorum of three members can come to, from the grant by two of them
// on: renewals, members that cannot be reached, come back or forget, and another owner that takes
// what is free. Time goes in steps; all clocks show the same.
namespace leasehold::test::lease_model {

inline constexpr unsigned members = 3;
inline constexpr std::uint8_t lease_time = 2;
inline constexpr std::uint8_t last_time = 6;

/// What is done wrong.
enum class mistake : std::uint8_t
{
    none,
    grant_not_remembered, ///< Which members have granted the lock is known by a renewal only.
    creation_not_counted, ///< A member that gets the lock in a renewal does not count for it.
    no_silence,           ///< A member that forgot grants at once.
    deadline_from_answer, ///< A renewal counts from its last answer on.
    count_,
};

struct setting
{
    std::uint8_t failures = 1; ///< Times that a member cannot be reached; one at a time.
    std::uint8_t forgets = 0;  ///< Times that one forgets all it has.
    std::uint8_t losses = 0;   ///< Answers that are lost.
    mistake wrong = mistake::none;
};

struct node
{
    std::uint8_t holder;  ///< 0 nobody, 1 the client, 2 the other owner.
    std::uint8_t until;   ///< It is held then, and not later.
    std::uint8_t silent;  ///< Until then nothing is granted.
    std::uint8_t down;    ///< The client cannot reach it.
    std::uint8_t known;   ///< As `fsm::member_leases` has it; 0: not at all.
    std::uint8_t renews;  ///< When a renewal was sent that has not arrived, plus one; 0: none.
    std::uint8_t creates; ///< The same of a request to create the lock.
    std::uint8_t limit;   ///< The latest time for that.
};

struct state
{
    std::array<node, members> nodes;
    std::uint8_t now;
    std::uint8_t deadline; ///< The client holds the lock before that; 0: it was lost.
    // A renewal.
    std::uint8_t began;    ///< Plus one; 0: none is under way.
    std::uint8_t pending;  ///< Members that may still answer.
    std::uint8_t has;      ///< Members that have renewed the lock.
    std::uint8_t lacks;    ///< Members that do not have it.
    std::uint8_t free;     ///< Of these, those where nobody has it.
    std::uint8_t creating; ///< Members that may still say that they created it.
    std::uint8_t created;
    std::uint8_t settled;
    std::uint8_t disturbed; ///< Time has passed, or a member was not heard or not asked.
    std::uint8_t failures;
    std::uint8_t forgets;
    std::uint8_t losses;
};

struct step
{
    state to;
    const char* what; ///< In words, of the member `where`.
    int where = -1;
    const char* wrong = nullptr; ///< The promise that is broken.
};

[[nodiscard]] state first_state(const setting& g);
/// The same state as far as anything can tell, with one name for all that differ in the names of
/// members only.
[[nodiscard]] state canonical(const state& s, const setting& g);
void steps_from(const state& s, const setting& g, std::vector<step>& out);

} // namespace leasehold::test::lease_model

#endif
