#include "quorum/scripted_quorum.hpp"

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;

namespace {

using ballot_t = scripted_quorum::ballot_t;
using quorum::kept;

/// Members 0 and 1 have granted a lock for 10 s. Member 2 is not connected yet.
struct two_of_three : scripted_quorum
{
    two_of_three()
    {
        connect(0);
        connect(1);
        acquire();
        vote(0, ballot_t::accepted, 1'000);
        vote(1, ballot_t::accepted, 1'000);
        BOOST_TEST_REQUIRE((got && !got->first));
    }

    /// A renewal whose reply is missing at member 2, and that member 0 does not receive.
    void renew_without_the_first()
    {
        renew();
        keep(1, kept::yes);
        keep(2, kept::free);
    }

    [[nodiscard]] renewal_result result() const { return renewed->second.results.at(0); }
};

} // namespace

BOOST_AUTO_TEST_SUITE(partial_lock)

BOOST_AUTO_TEST_CASE(grant_is_completed_at_a_member_that_connects_later)
{
    two_of_three s;
    s.connect(2);
    BOOST_TEST_REQUIRE(s.members[2]->renewals.size() == 1u);
    const auto& created = s.members[2]->renewals[0];
    BOOST_TEST(created.create);
    BOOST_TEST(created.owners.at(0) == "a:1");
    BOOST_TEST((created.budget > 9s && created.budget < 10s)); // while the two members hold it
    s.keep(2, kept::yes);
    s.disconnect(2);
    s.connect(2);
    BOOST_TEST(s.members[2]->renewals.size() == 1u); // the member has the lock
}

BOOST_AUTO_TEST_CASE(grant_is_completed_at_a_member_whose_reply_was_lost)
{
    scripted_quorum s;
    s.connect();
    s.acquire();
    s.vote(0, ballot_t::accepted, 1'000);
    s.vote(1, ballot_t::accepted, 1'000);
    s.fail_vote(2, errc::outcome_unknown);
    s.disconnect(2);
    s.members[2]->renewals.clear();
    s.connect(2);
    BOOST_TEST_REQUIRE(s.members[2]->renewals.size() == 1u);
    BOOST_TEST(s.members[2]->renewals[0].create);
}

BOOST_AUTO_TEST_CASE(grant_answered_by_all_members_is_complete)
{
    scripted_quorum s;
    s.connect();
    s.acquire();
    for (unsigned i = 0; i < 3; ++i)
        s.vote(i, ballot_t::accepted, 1'000);
    s.disconnect(2);
    s.connect(2);
    BOOST_TEST(s.members[2]->renewals.empty());
}

BOOST_AUTO_TEST_CASE(lock_of_another_owner_is_not_replaced)
{
    scripted_quorum s;
    s.connect();
    s.acquire();
    s.vote(0, ballot_t::accepted, 1'000);
    s.vote(1, ballot_t::accepted, 1'000);
    s.vote(2, ballot_t::held, 1'000, 3s);
    BOOST_TEST(s.members[2]->renewals.empty());
}

BOOST_AUTO_TEST_CASE(released_lock_is_not_created)
{
    {
        two_of_three s;
        s.release();
        s.connect(2);
        BOOST_TEST(s.members[2]->renewals.empty());
    }
    {
        scripted_quorum s; // the release comes before the last reply
        s.connect();
        s.acquire();
        s.vote(0, ballot_t::accepted, 1'000);
        s.vote(1, ballot_t::accepted, 1'000);
        s.release();
        s.fail_vote(2, errc::store_refused);
        s.disconnect(2);
        s.connect(2);
        BOOST_TEST(s.members[2]->renewals.empty());
    }
}

BOOST_AUTO_TEST_CASE(lock_is_not_created_after_the_lease)
{
    two_of_three s;
    s.pass(9'900ms);
    s.connect(2);
    BOOST_TEST(s.members[2]->renewals.empty());
}

BOOST_AUTO_TEST_CASE(renewal_counts_a_creation_while_a_majority_has_the_lock)
{
    two_of_three s;
    s.disconnect(0); // at once, and it has the lock for 10 s
    s.connect(2);
    s.members[2]->renewals.clear(); // the creation is lost
    s.renew_without_the_first();
    BOOST_TEST(!s.renewed.has_value());
    BOOST_TEST_REQUIRE(s.members[2]->renewals.size() == 2u);
    BOOST_TEST(s.members[2]->renewals[1].create);
    s.keep(2, kept::yes);
    BOOST_TEST_REQUIRE(s.renewed.has_value());
    BOOST_TEST((s.result() == renewal_result::renewed));
}

BOOST_AUTO_TEST_CASE(renewal_fails_without_a_reply_to_the_creation)
{
    for (const bool answers : {true, false}) {
        two_of_three s;
        s.disconnect(0);
        s.connect(2);
        s.members[2]->renewals.clear();
        s.renew_without_the_first();
        if (answers)
            s.keep(2, kept::failed);
        else
            s.pass(2s);
        BOOST_TEST_REQUIRE(s.renewed.has_value());
        BOOST_TEST((s.result() == renewal_result::failed));
    }
}

BOOST_AUTO_TEST_CASE(member_that_lacks_the_lock_does_not_count)
{
    two_of_three s;
    s.connect(2);
    s.members[2]->renewals.clear();
    s.renew();
    s.keep(1, kept::yes);
    s.keep(0, kept::free); // the member has lost the lock
    BOOST_TEST(s.members[0]->renewals.size() == 1u);
    s.pass(2s);
    BOOST_TEST_REQUIRE(s.renewed.has_value());
    BOOST_TEST((s.result() == renewal_result::failed));
    BOOST_TEST(s.members[0]->renewals.size() == 1u);
    s.keep(2, kept::free); // too late
    BOOST_TEST(s.members[2]->renewals.size() == 1u);
}

BOOST_AUTO_TEST_CASE(unreachable_member_does_not_count_after_its_lease)
{
    two_of_three s;
    s.disconnect(0);
    s.connect(2);
    s.members[2]->renewals.clear();
    s.pass(9'900ms);
    s.renew_without_the_first();
    BOOST_TEST_REQUIRE(s.renewed.has_value());
    BOOST_TEST((s.result() == renewal_result::failed));
    BOOST_TEST(s.members[2]->renewals.size() == 1u);
}

BOOST_AUTO_TEST_CASE(reentrant_acquisition_is_completed_at_a_late_member)
{
    scripted_quorum s;
    s.connect(0);
    s.connect(1);
    s.reenter();
    for (const unsigned i : {0u, 1u})
        s.let_in(i, quorum::reentered::yes);
    for (const unsigned i : {0u, 1u})
        s.keep(i, kept::yes);
    BOOST_TEST_REQUIRE((s.got && !s.got->first));
    s.connect(2);
    BOOST_TEST_REQUIRE(s.members[2]->renewals.size() == 1u);
    BOOST_TEST(s.members[2]->renewals[0].create);
}

BOOST_AUTO_TEST_SUITE_END()
