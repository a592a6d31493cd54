#include <boost/test/unit_test.hpp>

#include "fsm/quorum/acquire_vote.hpp"
#include "fsm/quorum/release_vote.hpp"
#include "fsm/quorum/renewal_vote.hpp"

#include <cstdint>
#include <utility>
#include <vector>

using namespace leasehold::fsm;
using action = acquire_vote::action;
using answer = acquire_vote::answer;

namespace {

constexpr quorum_size three{3, 2};
constexpr quorum_size five{5, 3};
constexpr quorum_size four_of_five{5, 4};

acquire_vote vote(const quorum_size& size, std::uint64_t first, std::uint32_t count = 1)
{
    acquire_vote made(size, first, count);
    for (unsigned i = 0; i < size.members; ++i)
        made.ask(i);
    return made;
}

} // namespace

BOOST_AUTO_TEST_SUITE(acquire_vote_fsm)

BOOST_AUTO_TEST_CASE(adopters_share_a_member_with_each_quorum)
{
    for (const auto& [n, q] : std::vector<std::pair<unsigned, unsigned>>{
             {3, 2}, {3, 3}, {5, 3}, {5, 4}, {5, 5}, {7, 4}, {7, 5}, {9, 5}}) {
        const quorum_size size{n, q};
        BOOST_TEST(size.valid());
        // Every quorum that granted a lock together with a member that lost its data shares a
        // member with the adopters. So do earlier adopters.
        BOOST_TEST(size.adopters() + (q - 1) > n - 1);
        BOOST_TEST(2 * size.adopters() > n - 1);
    }
    for (const auto& [n, q] : std::vector<std::pair<unsigned, unsigned>>{
             {1, 1}, {2, 2}, {3, 1}, {3, 4}, {4, 3}, {5, 2}, {11, 6}})
        BOOST_TEST(!quorum_size({n, q}).valid());
}

BOOST_AUTO_TEST_CASE(lock_is_granted_in_one_round_if_a_quorum_accepts)
{
    acquire_vote v = vote(five, 100, 10);
    BOOST_TEST((v.answered(4, 1, answer::accepted, 109) == action::wait));
    BOOST_TEST((v.answered(0, 1, answer::outbid, 500) == action::wait));
    BOOST_TEST((v.answered(1, 1, answer::accepted, 109) == action::wait));
    BOOST_TEST((v.answered(2, 1, answer::accepted, 109) == action::granted));
    BOOST_TEST(v.offer() == 100u);
    // The vote has ended.
    BOOST_TEST((v.answered(3, 1, answer::accepted, 109) == action::wait));
    BOOST_TEST((v.late() == action::wait));
}

BOOST_AUTO_TEST_CASE(reply_of_a_member_counts_once)
{
    acquire_vote v = vote(three, 100);
    for (int i = 0; i < 5; ++i)
        BOOST_TEST((v.answered(0, 1, answer::accepted, 100) == action::wait));
    BOOST_TEST((v.answered(1, 1, answer::accepted, 100) == action::granted));
}

BOOST_AUTO_TEST_CASE(second_round_offers_more_than_the_largest_fence)
{
    acquire_vote v = vote(five, 100, 10);
    BOOST_TEST((v.answered(0, 1, answer::accepted, 109) == action::wait));
    BOOST_TEST((v.answered(1, 1, answer::outbid, 500) == action::wait));
    BOOST_TEST((v.answered(2, 1, answer::outbid, 300) == action::wait));
    BOOST_TEST((v.answered(3, 1, answer::held, 700) == action::raise));
    BOOST_TEST(v.offer() == 701u);
    BOOST_TEST(v.round() == 2u);
    // The members that granted, and the one that may have granted.
    for (const unsigned each : {0u, 1u, 2u, 4u})
        BOOST_TEST(v.is_asked(each));
    BOOST_TEST(!v.is_asked(3));
    // Late replies to the first offer decide nothing.
    BOOST_TEST((v.answered(4, 1, answer::accepted, 109) == action::wait));
    BOOST_TEST((v.answered(0, 2, answer::accepted, 710) == action::wait));
    BOOST_TEST((v.answered(1, 2, answer::accepted, 710) == action::wait));
    BOOST_TEST((v.answered(2, 2, answer::accepted, 710) == action::granted));
    BOOST_TEST(v.offer() == 701u);
}

BOOST_AUTO_TEST_CASE(second_round_can_fail)
{
    acquire_vote v = vote(three, 100);
    BOOST_TEST((v.answered(0, 1, answer::outbid, 500) == action::wait));
    BOOST_TEST((v.answered(1, 1, answer::outbid, 501) == action::raise)); // one accepts at most
    BOOST_TEST(v.offer() == 502u);
    BOOST_TEST((v.answered(0, 2, answer::accepted, 502) == action::wait));
    BOOST_TEST((v.answered(1, 2, answer::held, 900) == action::wait)); // the lock has expired there
    BOOST_TEST((v.answered(2, 2, answer::unknown, 0) == action::failed));
}

BOOST_AUTO_TEST_CASE(vote_fails_as_soon_as_it_cannot_succeed)
{
    acquire_vote v = vote(five, 100);
    BOOST_TEST((v.answered(0, 1, answer::held, 90) == action::wait));
    BOOST_TEST((v.answered(1, 1, answer::refused, 0) == action::wait));
    BOOST_TEST((v.answered(2, 1, answer::unknown, 0) == action::failed));
    BOOST_TEST(v.is_held());
}

BOOST_AUTO_TEST_CASE(vote_does_not_wait_for_members_that_were_not_asked)
{
    acquire_vote v(five, 100, 1);
    for (const unsigned each : {0u, 1u, 4u})
        v.ask(each);
    BOOST_TEST((v.answered(0, 1, answer::accepted, 100) == action::wait));
    BOOST_TEST((v.answered(3, 1, answer::accepted, 100) == action::wait)); // was not asked
    BOOST_TEST((v.answered(1, 1, answer::outbid, 200) == action::wait));
    BOOST_TEST((v.answered(4, 1, answer::accepted, 100) == action::raise));
    BOOST_TEST(!v.is_asked(3));
}

BOOST_AUTO_TEST_CASE(late_member_is_not_waited_for)
{
    acquire_vote failing = vote(three, 100);
    BOOST_TEST((failing.answered(0, 1, answer::accepted, 100) == action::wait));
    BOOST_TEST(!failing.lingers());
    BOOST_TEST((failing.late() == action::failed));

    acquire_vote raising = vote(five, 100);
    BOOST_TEST((raising.answered(0, 1, answer::accepted, 100) == action::wait));
    BOOST_TEST((raising.answered(1, 1, answer::outbid, 300) == action::wait));
    BOOST_TEST((raising.answered(2, 1, answer::accepted, 100) == action::wait));
    BOOST_TEST(raising.lingers());
    BOOST_TEST((raising.late() == action::raise));
    BOOST_TEST(!raising.is_asked(3));
    BOOST_TEST((raising.late() == action::failed));
}

BOOST_AUTO_TEST_CASE(lock_is_held_if_no_quorum_can_be_free)
{
    acquire_vote v = vote(five, 100);
    BOOST_TEST((v.answered(0, 1, answer::accepted, 100) == action::wait));
    BOOST_TEST((v.answered(1, 1, answer::held, 90) == action::wait));
    BOOST_TEST((v.answered(2, 1, answer::held, 90) == action::wait));
    BOOST_TEST((v.answered(3, 1, answer::held, 90) == action::failed));
    BOOST_TEST(v.is_held());

    acquire_vote more = vote(four_of_five, 100);
    BOOST_TEST((more.answered(0, 1, answer::held, 100) == action::wait));
    BOOST_TEST((more.answered(1, 1, answer::held, 100) == action::failed));
    BOOST_TEST(more.is_held());

    acquire_vote missing = vote(three, 100);
    BOOST_TEST((missing.answered(0, 1, answer::unknown, 0) == action::wait));
    BOOST_TEST((missing.answered(1, 1, answer::refused, 0) == action::failed));
    BOOST_TEST(!missing.is_held());
    BOOST_TEST(missing.could_have(1));
    BOOST_TEST((missing.answered(2, 1, answer::held, 0) == action::wait));
    BOOST_TEST(!missing.is_held());
}

BOOST_AUTO_TEST_CASE(renewal_needs_a_majority)
{
    using result = renewal_vote::result;
    renewal_vote v(four_of_five);
    v.renewed();
    v.renewed();
    BOOST_TEST((v.decide(1) == result::open));
    BOOST_TEST((v.decide(0) == result::failed));
    v.gone();
    v.gone();
    BOOST_TEST((v.decide(0) == result::failed)); // the fifth may have the lock
    v.renewed();
    BOOST_TEST((v.decide(0) == result::renewed));

    renewal_vote lost(five);
    lost.gone();
    lost.gone();
    BOOST_TEST((lost.decide(3) == result::open));
    lost.gone();
    BOOST_TEST((lost.decide(2) == result::gone));
}

BOOST_AUTO_TEST_CASE(release_result_is_that_of_a_quorum)
{
    using result = release_vote::result;
    release_vote v(five);
    v.not_owner();
    v.freed();
    BOOST_TEST((v.decide(3) == result::open));
    BOOST_TEST((v.decide(0) == result::failed));
    v.not_owner();
    BOOST_TEST((v.decide(0) == result::freed));
    v.left(); // this member missed an entry, or its release
    BOOST_TEST((v.decide(0) == result::freed));
    v.left();
    BOOST_TEST((v.decide(0) == result::left));

    release_vote nothing(three);
    nothing.not_owner();
    nothing.not_owner();
    BOOST_TEST((nothing.decide(1) == result::not_owner));
}

BOOST_AUTO_TEST_SUITE_END()
