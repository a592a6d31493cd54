// The store of a quorum, over members whose replies the test supplies.
#include <boost/test/unit_test.hpp>

#include "quorum/scripted_quorum.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;
using ballot_t = quorum::ballot_reply::outcome;
using granted_t = acquire_reply::outcome;
using released_t = release_reply::outcome;

using site = scripted_quorum;

/// All three members grant the lock.
void hold(scripted_quorum& s, std::chrono::milliseconds lease)
{
    s.acquire(lease);
    for (unsigned i = 0; i < 3; ++i)
        s.vote(i, ballot_t::accepted, 1);
}

/// The first two members answer, which decides the release.
void release_at_a_majority(scripted_quorum& s)
{
    s.release();
    s.free(0, released_t::freed);
    s.free(1, released_t::freed);
}

} // namespace

BOOST_AUTO_TEST_CASE(acquire_asks_all_members_at_once_and_needs_a_quorum)
{
    site s(5, 3);
    s.connect();
    s.acquire();
    for (const scripted_member& each : s.members) {
        BOOST_TEST(each->votes.size() == 1u);
        BOOST_TEST(each->votes[0].first_fence == 1'000u); // the clock of the members
        BOOST_TEST(!each->votes[0].only_ours);
    }
    s.vote(4, ballot_t::accepted, 1'000);
    s.vote(1, ballot_t::outbid, 5'000);
    s.vote(2, ballot_t::accepted, 1'000);
    BOOST_TEST(!s.got.has_value());
    s.vote(0, ballot_t::accepted, 1'000);
    BOOST_TEST_REQUIRE(s.got.has_value());
    BOOST_TEST(!s.got->first);
    BOOST_TEST((s.got->second.result == granted_t::granted));
    BOOST_TEST(s.got->second.first_fence == 1'000u);
    BOOST_TEST(s.releases() == 0u);
    // The next offer is larger than all known fences.
    s.acquire();
    BOOST_TEST(s.members[0]->votes[1].first_fence == 5'001u);
}

// Otherwise the next acquire would take a second round.
BOOST_AUTO_TEST_CASE(next_offer_lies_above_the_last_block_of_fences)
{
    site s;
    s.connect();
    s.acquire(10s, 16);
    BOOST_TEST(s.members[0]->votes[0].first_fence == 1'000u);
    s.vote(0, ballot_t::accepted, 1'000);
    s.vote(1, ballot_t::accepted, 1'000);
    BOOST_TEST_REQUIRE(s.got.has_value());
    BOOST_TEST(s.got->second.fences == 16u);
    s.acquire();
    BOOST_TEST(s.members[0]->votes[1].first_fence == 1'016u);
}

BOOST_AUTO_TEST_CASE(member_with_a_wrong_clock_does_not_determine_the_offer)
{
    for (const unsigned wrong : {0u, 1u, 2u}) {
        for (const std::int64_t time : {std::int64_t{1}, std::int64_t{1} << 52}) {
            site s;
            s.members[wrong]->time = time;
            s.connect();
            s.acquire();
            BOOST_TEST(s.members[0]->votes[0].first_fence == 1'000u);
        }
    }
}

BOOST_AUTO_TEST_CASE(outbid_offer_takes_a_second_round)
{
    site s;
    s.connect();
    s.acquire();
    s.vote(0, ballot_t::outbid, 7'000);
    s.vote(1, ballot_t::outbid, 9'000);
    for (const scripted_member& each : s.members) { // the third member may have granted the lock
        BOOST_TEST_REQUIRE(each->votes.size() == 2u);
        BOOST_TEST(each->votes[1].first_fence == 9'001u);
        BOOST_TEST(each->votes[1].only_ours);
    }
    s.vote(0, ballot_t::accepted, 9'001);
    BOOST_TEST(!s.got.has_value());
    s.vote(2, ballot_t::accepted, 9'001);
    BOOST_TEST_REQUIRE(s.got.has_value());
    BOOST_TEST(s.got->second.first_fence == 9'001u);
}

BOOST_AUTO_TEST_CASE(Q3_late_majority_is_released)
{
    site s;
    s.connect();
    s.acquire(100ms);
    s.time.set(s.time.now() + 97ms); // 1 % and 2 ms of the 100 ms do not count
    s.vote(0, ballot_t::accepted, 1'000);
    s.vote(1, ballot_t::accepted, 1'000);
    BOOST_TEST_REQUIRE(s.got.has_value());
    BOOST_TEST((s.got->first == errc::no_quorum));
    BOOST_TEST(s.releases() == 3u); // including the third member, which has not answered
}

BOOST_AUTO_TEST_CASE(Q3_validity_is_checked_again_after_the_second_round)
{
    site s;
    s.connect();
    s.acquire(100ms);
    s.time.set(s.time.now() + 50ms);
    s.vote(0, ballot_t::outbid, 7'000);
    s.vote(1, ballot_t::outbid, 7'000);
    s.time.set(s.time.now() + 47ms);
    s.vote(0, ballot_t::accepted, 7'001);
    s.vote(1, ballot_t::accepted, 7'001);
    BOOST_TEST_REQUIRE(s.got.has_value());
    BOOST_TEST((s.got->first == errc::no_quorum));
    BOOST_TEST(s.releases() == 3u);
}

BOOST_AUTO_TEST_CASE(Q4_F9_failed_acquire_is_released_at_all_possible_grantors)
{
    site s(5, 3);
    s.connect();
    s.acquire();
    s.fail_vote(0, errc::store_unavailable); // the request was not sent
    s.vote(1, ballot_t::accepted, 1'000);
    s.vote(2, ballot_t::held, 900, 3s);
    s.fail_vote(3, errc::outcome_unknown);
    BOOST_TEST_REQUIRE(s.got.has_value());
    BOOST_TEST((s.members[0]->order == "v"));
    BOOST_TEST((s.members[1]->order == "vr"));
    BOOST_TEST((s.members[2]->order == "v")); // held by another owner
    BOOST_TEST((s.members[3]->order == "vr"));
    BOOST_TEST((s.members[4]->order == "vr")); // no reply yet
    for (const scripted_member& each : s.members)
        for (const auto& left : each->releases)
            BOOST_TEST((left.owner == "a:1" && left.quiet));
}

// An earlier request to a member may have been granted, before or after its later reply.
BOOST_AUTO_TEST_CASE(later_rejection_does_not_cover_an_earlier_request)
{
    {
        site s; // the third member has not answered the earlier vote
        s.connect();
        s.acquire();
        s.vote(0, ballot_t::older_epoch, 0, {}, 4);
        s.vote(1, ballot_t::older_epoch, 0, {}, 4);
        s.vote(2, ballot_t::held, 900, 3s);
        s.vote(1, ballot_t::held, 900, 3s);
        BOOST_TEST_REQUIRE(s.got.has_value());
        BOOST_TEST((s.got->second.result == granted_t::held));
        BOOST_TEST((s.members[2]->order == "vvr"));
    }
    {
        site s; // the first member granted the lock in the first round
        s.connect();
        s.acquire();
        s.vote(0, ballot_t::outbid, 7'000);
        s.vote(1, ballot_t::outbid, 7'000);
        s.vote(0, ballot_t::late);
        s.vote(1, ballot_t::late);
        BOOST_TEST_REQUIRE(s.got.has_value());
        BOOST_TEST((s.members[0]->order == "vvr"));
        BOOST_TEST((s.members[1]->order == "vvr"));
    }
}

BOOST_AUTO_TEST_CASE(held_lock_reports_when_a_quorum_becomes_free)
{
    site s(5, 3);
    s.connect();
    s.acquire();
    s.vote(0, ballot_t::held, 900, 3s);
    s.vote(1, ballot_t::accepted, 1'000);
    s.vote(2, ballot_t::held, 900, 1s);
    s.vote(3, ballot_t::held, 900, 2s);
    BOOST_TEST_REQUIRE(s.got.has_value());
    BOOST_TEST(!s.got->first);
    BOOST_TEST((s.got->second.result == granted_t::held));
    // One member has granted the lock, and two more are needed.
    BOOST_TEST((s.got->second.remaining == 2s));

    for (const auto& [first, last, said] :
         {std::tuple(3s, 1s, 3s), std::tuple(3s, -1s, -1s), std::tuple(-1s, 3s, -1s)}) {
        // No member grants the lock: all three have to become free, and one may have no TTL.
        s.acquire();
        s.vote(0, ballot_t::held, 900, first);
        s.vote(1, ballot_t::held, 900, 2s);
        s.vote(2, ballot_t::held, 900, last);
        BOOST_TEST_REQUIRE(s.got.has_value());
        BOOST_TEST((s.got->second.remaining == said));
    }
}

BOOST_AUTO_TEST_CASE(Q8_acquire_does_not_wait_for_an_unreachable_member)
{
    site s;
    s.connect();
    s.disconnect(2);
    BOOST_TEST(s.disconnected == 0); // a majority is still possible
    s.acquire();
    BOOST_TEST(s.members[2]->votes.empty());
    s.vote(0, ballot_t::accepted, 1'000);
    s.vote(1, ballot_t::accepted, 1'000);
    BOOST_TEST((s.got && s.got->second.result == granted_t::granted));

    s.disconnect(1);
    BOOST_TEST(s.disconnected == 1);
    BOOST_TEST((s.why == errc::no_quorum));
    s.acquire();
    BOOST_TEST_REQUIRE(s.got.has_value());
    BOOST_TEST((s.got->first == errc::no_quorum));
    BOOST_TEST(s.members[0]->votes.size() == 1u); // no request was sent
    const std::string& said = s.got->second.details->server_message;
    BOOST_TEST(said.find("member1") != said.npos);
    BOOST_TEST(said.find("member2") != said.npos);
    s.connect(1);
    BOOST_TEST(s.connected == 2);
}

BOOST_AUTO_TEST_CASE(acquire_waits_an_eighth_of_the_lease_for_the_deciding_vote)
{
    site s;
    s.connect();
    s.acquire(800ms);
    s.vote(0, ballot_t::accepted, 1'000);
    s.vote(1, ballot_t::silent, 0, 1h);
    s.pass(99ms);
    BOOST_TEST(!s.got.has_value());
    s.pass(1ms);
    BOOST_TEST_REQUIRE(s.got.has_value());
    BOOST_TEST((s.got->first == errc::no_quorum));
    BOOST_TEST((s.members[2]->order == "vr"));
}

BOOST_AUTO_TEST_CASE(request_of_an_older_epoch_restarts_in_the_later_one)
{
    site s;
    s.connect();
    s.acquire();
    BOOST_TEST(s.members[0]->votes[0].epoch == 1u);
    s.vote(0, ballot_t::older_epoch, 0, {}, 4);
    s.vote(1, ballot_t::older_epoch, 0, {}, 3);
    for (const scripted_member& each : s.members) {
        BOOST_TEST_REQUIRE(each->votes.size() == 2u);
        BOOST_TEST(each->votes[1].epoch == 4u);
        BOOST_TEST(!each->votes[1].only_ours);
    }
    s.vote(0, ballot_t::accepted, 1'000);
    s.vote(2, ballot_t::accepted, 1'000);
    BOOST_TEST((s.got && s.got->second.result == granted_t::granted));
}

BOOST_AUTO_TEST_CASE(acquire_that_is_always_in_an_older_epoch_fails)
{
    site s;
    s.connect();
    s.acquire();
    for (std::uint64_t epoch = 2; epoch < 6; ++epoch) {
        BOOST_TEST(!s.got.has_value());
        s.vote(0, ballot_t::older_epoch, 0, {}, epoch);
        s.vote(1, ballot_t::older_epoch, 0, {}, epoch);
    }
    BOOST_TEST_REQUIRE(s.got.has_value());
    BOOST_TEST((s.got->first == errc::no_quorum));
    BOOST_TEST(s.got->second.details->server_message ==
               "0 of 3 members granted it; member0: is in a later epoch; "
               "member1: is in a later epoch");
}

BOOST_AUTO_TEST_CASE(acquire_released_meanwhile_starts_no_second_round)
{
    site s;
    s.connect();
    s.acquire();
    s.vote(0, ballot_t::outbid, 7'000);
    s.release();
    BOOST_TEST_REQUIRE(s.got.has_value());
    BOOST_TEST((s.got->first == errc::no_quorum));
    BOOST_TEST(s.got->second.may_hold);
    s.vote(1, ballot_t::outbid, 8'000); // this reply would have caused a second round
    for (const scripted_member& each : s.members)
        BOOST_TEST((each->order == "vr"));
    s.free(0, released_t::freed);
    s.free(1, released_t::freed);
    BOOST_TEST((s.left && s.left->second.result == released_t::freed));
}

BOOST_AUTO_TEST_CASE(Q4_release_is_sent_to_unreachable_members_later)
{
    site s;
    s.connect();
    s.disconnect(1);
    s.release();
    s.free(0, released_t::freed);
    s.free(2, released_t::not_owner);
    BOOST_TEST_REQUIRE(s.left.has_value());
    BOOST_TEST((!s.left->first && s.left->second.result == released_t::freed));
    BOOST_TEST(s.members[1]->releases.empty());
    s.connect(1);
    BOOST_TEST_REQUIRE(s.members[1]->releases.size() == 1u);
    BOOST_TEST((s.members[1]->releases[0].owner == "a:1"));
}

BOOST_AUTO_TEST_CASE(release_is_sent_to_a_member_that_does_not_report_its_record)
{
    site s;
    s.connect();
    s.disconnect(1);
    s.release();
    s.reach(1);
    BOOST_TEST(s.members[1]->releases.empty());
    s.fail_inspection(1, errc::store_refused);
    BOOST_TEST(s.members[1]->releases.size() == 1u);
}

BOOST_AUTO_TEST_CASE(quorum_drains_until_all_reachable_members_have_released)
{
    scripted_quorum s;
    s.connect();
    BOOST_TEST(!s.drain());
    release_at_a_majority(s);
    BOOST_TEST_REQUIRE(s.left.has_value());
    BOOST_TEST(s.drain());
    BOOST_TEST(s.drained == 0);
    s.free(2, released_t::freed);
    BOOST_TEST(s.drained == 1);
    s.pass(1s);
    BOOST_TEST(s.drained == 1);
}

BOOST_AUTO_TEST_CASE(draining_quorum_waits_for_a_repeated_release)
{
    scripted_quorum s;
    s.connect();
    hold(s, 10s);
    release_at_a_majority(s);
    s.answer_release(2, errc::store_refused, {});
    BOOST_TEST(s.drain());
    s.pass(600ms);
    BOOST_TEST_REQUIRE(s.members[2]->releases.size() == 2u);
    BOOST_TEST(s.drained == 0);
    s.free(2, released_t::freed);
    BOOST_TEST(s.drained == 1);
}

BOOST_AUTO_TEST_CASE(draining_quorum_does_not_wait_for_a_lost_member)
{
    scripted_quorum s;
    s.connect();
    release_at_a_majority(s);
    BOOST_TEST(s.drain());
    s.disconnect(2);
    s.answer_release(2, errc::outcome_unknown, {});
    BOOST_TEST(s.drained == 1);
}

BOOST_AUTO_TEST_CASE(quorum_drains_for_at_most_an_eighth_of_the_longest_lease)
{
    scripted_quorum s;
    s.connect();
    hold(s, 4s);
    release_at_a_majority(s);
    BOOST_TEST(s.drain());
    s.pass(499ms);
    BOOST_TEST(s.drained == 0);
    s.pass(1ms);
    BOOST_TEST(s.drained == 1);
}

BOOST_AUTO_TEST_CASE(release_waits_an_eighth_of_the_longest_lease_for_a_quorum)
{
    scripted_quorum s;
    s.connect();
    hold(s, 4s);
    s.release();
    s.free(0, released_t::freed);
    s.pass(499ms);
    BOOST_TEST(!s.left.has_value());
    s.pass(1ms);
    BOOST_TEST_REQUIRE(s.left.has_value());
    BOOST_TEST((s.left->first == errc::no_quorum), s.left->first.message());
}

// If a caller got the error that no member could be reached, and retried, it would trust the reply
// "not the owner".
BOOST_AUTO_TEST_CASE(row_23_release_whose_connections_end_has_an_unknown_outcome)
{
    for (const errc lost : {errc::outcome_unknown, errc::store_unavailable}) {
        site s;
        s.connect();
        s.release();
        for (unsigned i = 0; i < 3; ++i)
            s.disconnect(i);
        for (unsigned i = 0; i < 3; ++i)
            s.answer_release(i, lost, {});
        BOOST_TEST_REQUIRE(s.left.has_value());
        BOOST_TEST((s.left->first == errc::outcome_unknown), s.left->first.message());
    }
}

BOOST_AUTO_TEST_CASE(row_23_release_without_members_is_sent_after_reconnection)
{
    site s;
    s.connect();
    for (unsigned i = 0; i < 3; ++i)
        s.disconnect(i);
    s.release();
    BOOST_TEST_REQUIRE(s.left.has_value());
    BOOST_TEST((s.left->first == errc::outcome_unknown), s.left->first.message());
    for (unsigned i = 0; i < 3; ++i)
        s.connect(i);
    BOOST_TEST(s.releases() == 3u);
}

BOOST_AUTO_TEST_CASE(expired_lock_is_not_released_at_a_returning_member)
{
    for (const auto& [away, sent] : {std::pair(20s, 1u), std::pair(21s, 0u)}) {
        site s; // after twice the lease time, and a second
        s.connect();
        s.acquire();
        s.vote(0, ballot_t::accepted, 1'000);
        s.vote(1, ballot_t::accepted, 1'000);
        s.disconnect(1);
        s.release();
        s.pass(away);
        s.connect(1);
        BOOST_TEST(s.members[1]->releases.size() == sent);
    }
}

BOOST_AUTO_TEST_CASE(reentrant_acquisition_needs_a_majority_that_also_renews)
{
    for (const unsigned quorum : {3u, 5u}) {
        site s(5, quorum);
        s.connect();
        s.reenter();
        s.let_in(4, quorum::reentered::gone);
        s.let_in(0, quorum::reentered::yes);
        s.let_in(1, quorum::reentered::yes);
        BOOST_TEST(s.members[0]->renewals.empty());
        s.let_in(2, quorum::reentered::yes);
        for (unsigned i = 0; i < 5; ++i) {
            BOOST_TEST_REQUIRE(s.members[i]->renewals.size() == 1u);
            BOOST_TEST(!s.members[i]->renewals[0].create);
        }
        s.keep(4, quorum::kept::gone);
        s.keep(0, quorum::kept::yes);
        s.keep(1, quorum::kept::yes);
        BOOST_TEST(!s.got.has_value());
        s.keep(2, quorum::kept::yes);
        BOOST_TEST_REQUIRE(s.got.has_value());
        BOOST_TEST((!s.got->first && s.got->second.result == granted_t::granted));
        BOOST_TEST(s.releases() == 0u);
    }
}

BOOST_AUTO_TEST_CASE(reentrant_acquisition_released_meanwhile_is_not_renewed)
{
    site s;
    s.connect();
    s.reenter();
    s.let_in(0, quorum::reentered::yes);
    s.release("a:1", "b:2");
    BOOST_TEST_REQUIRE(s.got.has_value());
    BOOST_TEST((s.got->first == errc::no_quorum));
    BOOST_TEST(s.got->second.may_hold);
    s.let_in(1, quorum::reentered::yes); // this reply would have made a majority
    for (const scripted_member& each : s.members)
        BOOST_TEST(each->renewals.empty());
}

BOOST_AUTO_TEST_CASE(reentrant_acquisition_not_renewed_by_a_majority_is_undone)
{
    for (const quorum::kept says : {quorum::kept::free, quorum::kept::failed}) {
        site s;
        s.connect();
        s.reenter();
        for (unsigned i = 0; i < 3; ++i)
            s.let_in(i, quorum::reentered::yes);
        s.keep(0, quorum::kept::yes);
        s.keep(1, says);
        s.keep(2, says);
        BOOST_TEST_REQUIRE(s.got.has_value());
        if (says == quorum::kept::free)
            BOOST_TEST((!s.got->first && s.got->second.result == granted_t::gone));
        else
            BOOST_TEST((s.got->first == errc::no_quorum));
        BOOST_TEST(s.releases() == 3u);
    }
}

// The acquire was sent over a connection that ended, and may be executed after the release.
BOOST_AUTO_TEST_CASE(release_is_repeated_after_the_limit_of_an_unanswered_acquire)
{
    for (const bool answered : {true, false}) {
        site s;
        s.connect();
        s.acquire();
        s.vote(0, ballot_t::accepted, 1'000);
        s.vote(1, ballot_t::accepted, 1'000);
        s.fail_vote(2, answered ? errc::store_refused : errc::outcome_unknown);
        s.disconnect(2);
        s.connect(2);
        s.members[2]->renewals.clear();
        s.release();
        BOOST_TEST_REQUIRE(s.members[2]->releases.size() == 1u);
        s.free(2, released_t::not_owner);
        s.pass(4'999ms);
        BOOST_TEST(s.members[2]->releases.size() == 1u);
        s.pass(2ms); // the acquire was not to be executed later than 5 s
        BOOST_TEST_REQUIRE(s.members[2]->releases.size() == (answered ? 1u : 2u));
        if (!answered)
            s.free(2, released_t::freed);
        s.pass(60s);
        BOOST_TEST(s.members[2]->releases.size() == (answered ? 1u : 2u));
    }
}

BOOST_AUTO_TEST_CASE(release_is_kept_as_long_as_another_client_may_renew_the_owner)
{
    for (const auto& [known, sent] : {std::pair(60s, 1u), std::pair(10s, 0u)}) {
        site s;
        s.connect();
        s.acquire();
        s.vote(0, ballot_t::accepted, 1'000);
        s.vote(1, ballot_t::accepted, 1'000);
        s.disconnect(1);
        s.release();
        s.pass(100s);
        s.connect(1, {.is_member = true, .epoch = 1, .lease = known});
        BOOST_TEST(s.members[1]->releases.size() == sent);
    }
}

BOOST_AUTO_TEST_CASE(lost_seeds_are_sent_again)
{
    site s;
    const quorum::inspect_answer seeded{
        .is_member = true, .epoch = 2, .largest = 700, .lease = 20s, .nonce = 1, .began = 6};
    const quorum::inspect_answer blank_servers[] = {{.nonce = 2}, {.nonce = 3}};
    s.connect(0, seeded);
    s.connect(1, blank_servers[0]);
    s.connect(2, blank_servers[1]);
    s.pass(60ms);
    s.answer_inspect(0, seeded);
    s.answer_inspect(1, blank_servers[0]);
    s.answer_inspect(2, blank_servers[1]);
    BOOST_TEST(s.members[0]->seeds.empty());
    for (const unsigned i : {1u, 2u}) {
        BOOST_TEST_REQUIRE(s.members[i]->seeds.size() == 1u);
        const quorum::seed given = s.members[i]->seeds[0].what;
        BOOST_TEST(given.nonce == i + 1);
        BOOST_TEST(given.epoch == 2u);
        BOOST_TEST(given.floor == 700u);
        BOOST_TEST(given.began == 6u);
        BOOST_TEST((given.lease == 20s));
        BOOST_TEST((given.silence > 20s));
    }
}

BOOST_AUTO_TEST_CASE(failed_reentrant_acquisition_is_released_at_all_possible_members)
{
    using reentered = quorum::reentered;
    {
        site s; // the owner no longer holds the lock
        s.connect();
        s.reenter();
        s.let_in(0, reentered::yes);
        s.let_in(1, reentered::gone);
        BOOST_TEST(!s.got.has_value());
        s.let_in(2, reentered::gone);
        BOOST_TEST((s.got && !s.got->first && s.got->second.result == granted_t::gone));
        BOOST_TEST_REQUIRE(s.releases() == 1u);
        BOOST_TEST_REQUIRE(s.members[0]->releases.size() == 1u);
        BOOST_TEST(s.members[0]->releases[0].entry == "b:2");
    }
    {
        site s; // late, but not if sent again
        s.connect();
        s.reenter();
        s.let_in(0, reentered::late);
        s.let_in(1, reentered::yes);
        s.let_in(2, {}, errc::outcome_unknown);
        BOOST_TEST((s.got && !s.got->first && s.got->second.result == granted_t::late));
        BOOST_TEST((s.members[0]->releases.empty()));
        BOOST_TEST((s.members[1]->releases.size() == 1u));
        BOOST_TEST((s.members[2]->releases.size() == 1u));
    }
    {
        site s; // unknown outcome
        s.connect();
        s.reenter();
        s.let_in(0, reentered::yes);
        s.let_in(1, {}, errc::outcome_unknown);
        s.pass(1s);
        BOOST_TEST((s.got && s.got->first));
        BOOST_TEST(s.releases() == 3u);
    }
}

BOOST_AUTO_TEST_CASE(renewal_needs_a_majority_and_is_repeated_at_the_others)
{
    site s;
    s.connect();
    s.renew();
    s.keep(2, quorum::kept::free);
    BOOST_TEST(s.members[2]->renewals.size() == 1u); // the result is not known yet
    s.keep(0, quorum::kept::yes);
    BOOST_TEST(!s.renewed.has_value());
    s.keep(1, quorum::kept::yes);
    BOOST_TEST_REQUIRE(s.renewed.has_value());
    BOOST_TEST((s.renewed->second.results.at(0) == renewal_result::renewed));
    BOOST_TEST_REQUIRE(s.members[2]->renewals.size() == 2u);
    BOOST_TEST(s.members[2]->renewals[1].create);
    BOOST_TEST((s.members[2]->renewals[1].owners.at(0) == "a:1"));
}

BOOST_AUTO_TEST_CASE(released_lost_or_expired_lock_is_not_created_again)
{
    {
        site s; // a majority has lost it
        s.connect();
        s.renew();
        s.keep(0, quorum::kept::yes);
        s.keep(1, quorum::kept::free);
        s.keep(2, quorum::kept::free);
        BOOST_TEST((s.renewed && s.renewed->second.results.at(0) == renewal_result::gone));
        for (const scripted_member& each : s.members)
            BOOST_TEST(each->renewals.size() == 1u);
    }
    {
        site s; // the lock was released meanwhile
        s.connect();
        s.renew();
        s.keep(2, quorum::kept::free);
        s.keep(0, quorum::kept::yes);
        s.release();
        s.keep(1, quorum::kept::yes);
        BOOST_TEST((s.renewed && s.renewed->second.results.at(0) == renewal_result::renewed));
        BOOST_TEST(s.members[2]->renewals.size() == 1u);
    }
    {
        site s; // the lease has expired
        s.connect();
        s.renew(100ms);
        s.keep(2, quorum::kept::free);
        s.keep(0, quorum::kept::yes);
        s.time.set(s.time.now() + 97ms);
        s.keep(1, quorum::kept::yes);
        BOOST_TEST(s.members[2]->renewals.size() == 1u);
    }
}

BOOST_AUTO_TEST_CASE(temporarily_rejected_release_is_repeated)
{
    site s;
    s.connect();
    s.acquire();
    s.release();
    for (int i = 0; i < 5; ++i) {
        BOOST_TEST_REQUIRE(s.members[2]->releases.size() == 1u);
        auto asked = std::exchange(s.members[2]->releases, {});
        BOOST_TEST(asked[0].owner == "a:1");
        BOOST_TEST(asked[0].quiet == (i > 0));
        s.members[2].post([done = std::move(asked[0].done)]() mutable {
            std::move(done)(errc::store_refused, quorum::release_answer());
        });
        s.poll();
        BOOST_TEST(s.members[2]->releases.empty());
        s.pass(600ms);
    }
    // The TTL has passed.
    s.pass(60s);
    BOOST_TEST(s.members[2]->releases.size() <= 1u);
}

BOOST_AUTO_TEST_CASE(member_that_fails_to_report_its_record_is_asked_again)
{
    site s;
    s.connect(0);
    s.connect(1);
    s.reach(2);
    for (int i = 0; i < 20; ++i) {
        s.fail_inspection(2, errc::store_refused);
        s.pass(600ms);
        for (const unsigned other : {0u, 1u})
            if (!s.members[other]->inspections.empty())
                s.answer_inspect(other, {.is_member = true, .epoch = 1});
    }
    s.answer_inspect(2, {.is_member = true, .epoch = 1});
    s.acquire();
    BOOST_TEST(s.members[2]->votes.size() == 1u);
}

BOOST_AUTO_TEST_CASE(blank_server_becomes_a_member_after_the_others_adopt_an_epoch)
{
    site s;
    s.connect(0, {.is_member = true, .epoch = 3, .largest = 5'000, .lease = 10s});
    s.connect(1, {.is_member = true, .epoch = 3, .largest = 6'000, .lease = 20s});
    BOOST_TEST(s.connected == 1);
    s.connect(2, {.is_member = false, .nonce = 77});
    s.acquire();
    BOOST_TEST(s.members[2]->votes.empty());
    s.pass(60ms);
    // All members are polled once more.
    s.answer_inspect(0, {.is_member = true, .epoch = 3, .largest = 5'000, .lease = 10s});
    s.answer_inspect(1, {.is_member = true, .epoch = 3, .largest = 6'000, .lease = 20s});
    s.answer_inspect(2, {.is_member = false, .nonce = 77});
    BOOST_TEST(s.members[2]->adoptions.empty());
    for (const unsigned i : {0u, 1u}) {
        BOOST_TEST_REQUIRE(s.members[i]->adoptions.size() == 1u);
        BOOST_TEST(s.members[i]->adoptions[0].epoch == 4u);
        BOOST_TEST(s.members[2]->seeds.empty());
        s.members[i].post([&, i] {
            std::move(s.members[i]->adoptions[0].done)(
                error_code(), quorum::adopt_answer{true, 4, 5'500 + 1'000 * i, 20s});
        });
        s.poll();
    }
    BOOST_TEST_REQUIRE(s.members[2]->seeds.size() == 1u);
    const quorum::seed given = s.members[2]->seeds[0].what;
    BOOST_TEST(given.nonce == 77u);
    BOOST_TEST(given.epoch == 4u);
    BOOST_TEST(given.floor == 6'500u);
    BOOST_TEST((given.silence > 20s && given.silence < 21s));
    BOOST_TEST((given.lease == 20s));
    s.members[2].post([&] {
        std::move(s.members[2]->seeds[0].done)(error_code(), quorum::seed_answer{true, 15s});
    });
    s.poll();
    s.acquire();
    BOOST_TEST(s.members[2]->votes.empty()); // the member is still silent
    s.pass(15s);
    s.acquire();
    BOOST_TEST(s.members[2]->votes.size() == 1u);
}

BOOST_AUTO_TEST_CASE(quorum_is_connected_when_the_silence_of_its_members_ends)
{
    site s;
    for (unsigned i = 0; i < 3; ++i)
        s.connect(i, {.is_member = true, .epoch = 1, .silent = 5s});
    s.pass(4'999ms);
    BOOST_TEST(s.connected == 0);
    s.pass(1ms);
    BOOST_TEST(s.connected == 1);
}

// They may still have its locks, although they have lost the record of a member.
BOOST_AUTO_TEST_CASE(client_that_was_connected_also_uses_blank_servers)
{
    site s;
    s.connect();
    for (const unsigned i : {1u, 2u}) {
        s.disconnect(i);
        s.connect(i, {.is_member = false, .nonce = i});
    }
    BOOST_TEST(s.disconnected == 0);
    s.renew();
    for (const unsigned i : {0u, 1u, 2u})
        BOOST_TEST(s.members[i]->renewals.size() == 1u);
    s.disconnect(2);
    BOOST_TEST(s.disconnected == 0);
    s.disconnect(1);
    BOOST_TEST(s.disconnected == 1);
}

BOOST_AUTO_TEST_CASE(adoption_of_an_earlier_epoch_does_not_count)
{
    site s;
    s.connect(0, {.is_member = true, .epoch = 3, .lease = 10s});
    s.connect(1, {.is_member = true, .epoch = 3, .lease = 10s});
    s.connect(2, {.is_member = false, .nonce = 77});
    s.pass(60ms);
    s.answer_inspect(0, {.is_member = true, .epoch = 3, .lease = 10s});
    s.answer_inspect(1, {.is_member = true, .epoch = 3, .lease = 10s});
    s.answer_inspect(2, {.is_member = false, .nonce = 77});
    for (const unsigned i : {0u, 1u}) {
        BOOST_TEST_REQUIRE(s.members[i]->adoptions.size() == 1u);
        s.members[i].post([&, i] {
            std::move(s.members[i]->adoptions[0].done)(
                error_code(), quorum::adopt_answer{true, i == 0 ? 4u : 3u, 0, 10s});
        });
        s.poll();
    }
    BOOST_TEST(s.members[2]->seeds.empty());
}

BOOST_AUTO_TEST_CASE(permanent_error_of_a_minority_does_not_disconnect_the_quorum)
{
    site s;
    s.disconnect(0, errc::permission_denied);
    BOOST_TEST(s.disconnected == 0); // the others may form a quorum
    s.disconnect(1, errc::permission_denied);
    BOOST_TEST(s.disconnected == 1);
    BOOST_TEST((s.why == errc::permission_denied));
}

BOOST_AUTO_TEST_CASE(too_few_remaining_members_seed_no_blank_server)
{
    site s;
    s.connect(0, {.is_member = true, .epoch = 3});
    s.connect(1, {.is_member = false, .nonce = 7});
    s.connect(2, {.is_member = false, .nonce = 8});
    for (int i = 0; i < 20; ++i) {
        s.pass(1s);
        for (unsigned m = 0; m < 3; ++m) {
            if (!s.members[m]->inspections.empty())
                s.answer_inspect(m, {.is_member = m == 0, .epoch = 3, .nonce = 6 + m});
        }
    }
    BOOST_TEST(s.connected == 0);
    BOOST_TEST(s.disconnected >= 1);
    BOOST_TEST((s.why == errc::no_quorum));
    for (const scripted_member& each : s.members)
        BOOST_TEST((each->seeds.empty() && each->adoptions.empty()));
    s.acquire();
    BOOST_TEST((s.got && s.got->first == errc::no_quorum));
}

// Lua numbers are doubles: above 2^53, two integers may be equal.
BOOST_AUTO_TEST_CASE(nonce_of_a_blank_server_is_unique_and_exact_in_a_double)
{
    site s;
    for (int i = 0; i < 100; ++i)
        s.connect(0, {.is_member = true, .epoch = 1});
    const std::vector<std::uint64_t>& drawn = s.members[0]->nonces;
    BOOST_TEST(drawn.size() == 100u);
    BOOST_TEST((std::set(drawn.begin(), drawn.end()).size() == drawn.size()));
    const auto [least, most] = std::minmax_element(drawn.begin(), drawn.end());
    BOOST_TEST(*least > 0u);
    BOOST_TEST(*most < (std::uint64_t{1} << 53));
    BOOST_TEST(*most > (std::uint64_t{1} << 52)); // drawn from the whole range
}

// Otherwise another client may be about to assemble the quorum.
BOOST_AUTO_TEST_CASE(blank_servers_are_polled_at_once_only_if_all_are_blank)
{
    site s;
    const auto asked = [&](unsigned i) { return s.members[i]->nonces.size(); };
    for (unsigned i = 0; i < 3; ++i) {
        s.connect(i, {.is_member = false, .nonce = 7 + i});
        s.pass(0ms);
        for (unsigned each = 0; each <= i; ++each)
            BOOST_TEST(asked(each) == (i < 2 ? 1u : 2u));
    }
    // One of the servers is unreachable, and may be a member.
    site other;
    for (unsigned i = 0; i < 3; ++i)
        other.connect(i, {.is_member = i == 2, .nonce = 7 + i});
    other.disconnect(2);
    other.pass(0ms);
    BOOST_TEST(other.members[0]->nonces.size() == 1u);
    other.pass(50ms);
    BOOST_TEST(other.members[0]->nonces.size() == 2u);
}

// No member has its record: new fences start above the values reported in the second poll.
BOOST_AUTO_TEST_CASE(blank_quorum_starts_above_all_known_fences)
{
    for (const unsigned larger : {0u, 1u, 2u}) {
        site s;
        const auto says = [&](unsigned i, bool knows) {
            return quorum::inspect_answer{.is_member = false,
                                          .epoch = knows ? 5u : 0u,
                                          .largest = knows && i == larger ? 7'000u : 100u + i,
                                          .lease = knows && i == larger ? 20s : 10s,
                                          .nonce = 7 + i};
        };
        for (unsigned i = 0; i < 3; ++i)
            s.connect(i, says(i, false));
        s.pass(0ms);
        for (const bool knows : {false, true}) { // polled once more, then confirmed
            for (unsigned i = 0; i < 3; ++i) {
                BOOST_TEST(s.members[i]->seeds.empty());
                s.answer_inspect(i, says(i, knows));
            }
        }
        for (unsigned i = 0; i < 3; ++i) {
            BOOST_TEST_REQUIRE(s.members[i]->seeds.size() == 1u);
            const quorum::seed given = s.members[i]->seeds[0].what;
            BOOST_TEST(given.nonce == 7u + i);
            BOOST_TEST(given.floor == 7'000u);
            BOOST_TEST((given.lease == 20s));
        }
    }
}

BOOST_AUTO_TEST_CASE(first_member_that_knows_the_holder_describes_it)
{
    client_info own;
    own.program = "this";
    site s(3, 2, own);
    BOOST_TEST(s.locks->traits().describes_holders);
    BOOST_TEST(s.locks->own_info().program == "this");
    s.connect();
    s.describe();
    s.answer_question(1, "");
    BOOST_TEST(!s.described.has_value());
    s.answer_question(2, "another");
    BOOST_TEST_REQUIRE(s.described.has_value());
    BOOST_TEST(s.described->program == "another");
    s.answer_question(0, "another"); // a late reply is ignored
}

BOOST_AUTO_TEST_CASE(holder_unknown_to_all_members_has_no_info)
{
    site s;
    BOOST_TEST(!s.locks->traits().describes_holders);
    s.connect();
    s.disconnect(1);
    s.describe();
    BOOST_TEST(s.members[1]->questions.empty());
    s.answer_question(0, "");
    BOOST_TEST(!s.described.has_value());
    s.answer_question(2, "");
    BOOST_TEST_REQUIRE(s.described.has_value());
    BOOST_TEST(s.described->empty());
}

BOOST_AUTO_TEST_CASE(holder_without_reachable_members_has_no_info)
{
    site s;
    s.describe();
    BOOST_TEST_REQUIRE(s.described.has_value());
    BOOST_TEST(s.described->empty());
}
