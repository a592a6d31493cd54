#include <boost/test/unit_test.hpp>

#include "fsm/lease/leader_lease.hpp"

// The model (test/model/leader) visits all orders of messages; this is the arithmetic of a few.
BOOST_AUTO_TEST_SUITE(leader_lease_fsm)

namespace {

/// One member.
struct mark
{
    int term = 0;
    friend bool operator==(mark, mark) = default;
};

using lease = leasehold::fsm::leader_lease<int, int, mark>;

lease granted(int now, int term)
{
    return {now, 100, {term}, {term}};
}

/// A keep-alive that is answered at once.
void keep_alive(lease& it, int now)
{
    it.kept(it.sending(now));
}

void ask(lease& it, int term)
{
    it.answered(it.asking(), {term});
}

} // namespace

BOOST_AUTO_TEST_CASE(keep_alive_counts_between_two_replies_of_one_mark)
{
    lease it = granted(5, 1);
    BOOST_TEST(it.until() == 105);
    keep_alive(it, 20);
    BOOST_TEST(it.until() == 105);
    ask(it, 1);
    BOOST_TEST(it.until() == 120);
    ask(it, 1);
    BOOST_TEST(it.until() == 120);
}

BOOST_AUTO_TEST_CASE(request_sent_before_the_answer_confirms_nothing)
{
    lease it = granted(0, 1);
    const auto early = it.asking();
    keep_alive(it, 20);
    it.answered(early, {1});
    BOOST_TEST(it.until() == 100);
}

BOOST_AUTO_TEST_CASE(keep_alives_count_in_the_term_of_the_grant_only)
{
    lease it = granted(0, 1);
    BOOST_TEST(!it.is_outdated());
    keep_alive(it, 20);
    ask(it, 2);
    BOOST_TEST(it.is_outdated());
    keep_alive(it, 30);
    ask(it, 2);
    BOOST_TEST(it.until() == 100);
}

BOOST_AUTO_TEST_CASE(lease_granted_during_an_election_is_outdated)
{
    lease it(10, 100, {1}, {2});
    BOOST_TEST(it.is_outdated());
    keep_alive(it, 20);
    ask(it, 2);
    BOOST_TEST(it.until() == 110);
}

BOOST_AUTO_TEST_CASE(other_connection_begins_without_a_mark)
{
    lease it = granted(0, 1);
    keep_alive(it, 20);
    it.reconnected();
    BOOST_TEST(!it.is_outdated());
    BOOST_TEST((it.last() == mark()));
    ask(it, 1);
    BOOST_TEST(it.until() == 100);
    keep_alive(it, 30);
    ask(it, 1);
    BOOST_TEST(it.until() == 130);
}

BOOST_AUTO_TEST_CASE(late_confirmation_never_shortens_the_lease)
{
    lease it = granted(50, 1);
    keep_alive(it, 20);
    ask(it, 1);
    BOOST_TEST(it.until() == 150);
}

BOOST_AUTO_TEST_SUITE_END()
