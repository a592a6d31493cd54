#include <boost/test/unit_test.hpp>

#include "fsm/quorum/rejoin.hpp"

#include <chrono>
#include <vector>

using namespace leasehold::fsm;
using namespace std::chrono_literals;
using step = rejoin::step;

namespace {

member_view member_of(std::uint64_t epoch, std::uint64_t largest = 0,
                      std::chrono::milliseconds lease = 0ms)
{
    return {
        .reachable = true, .is_member = true, .epoch = epoch, .largest = largest, .lease = lease};
}

member_view blank(std::uint64_t nonce, std::uint64_t epoch = 0, std::uint64_t largest = 0,
                  std::chrono::milliseconds lease = 0ms)
{
    return {.reachable = true,
            .is_member = false,
            .epoch = epoch,
            .largest = largest,
            .nonce = nonce,
            .lease = lease};
}

rejoin with(const quorum_size& size, const std::vector<member_view>& all)
{
    return {size, all};
}

} // namespace

BOOST_AUTO_TEST_SUITE(rejoin_fsm)

BOOST_AUTO_TEST_CASE(no_step_is_needed_if_all_reachable_servers_are_members)
{
    const auto r = with({3, 2}, {member_of(4), {}, member_of(5)});
    BOOST_TEST((r.next() == step::nothing));
    BOOST_TEST(!r.ready());
}

BOOST_AUTO_TEST_CASE(majority_of_the_others_adopts_a_higher_epoch_first)
{
    auto r = with({5, 3}, {member_of(4), blank(77), member_of(6), member_of(5), {}});
    BOOST_TEST((r.next() == step::adopt));
    BOOST_TEST(r.epoch() == 7u);
    BOOST_TEST(r.is_blank(1));
    BOOST_TEST(!r.is_blank(4)); // unreachable
    r.adopted(0, 100, 10s);
    r.adopted(0, 100, 10s); // counted once
    r.adopted(1, 100, 10s); // not a member
    r.adopted(2, 300, 1s);
    BOOST_TEST(!r.ready());
    r.adopted(3, 200, 2s);
    BOOST_TEST(r.ready());
    BOOST_TEST(r.floor() == 300u);
    BOOST_TEST((r.silence() > 10s && r.silence() < 11s));
    BOOST_TEST((r.lease() == 10s));
    BOOST_TEST(r.nonce(1) == 77u);
}

BOOST_AUTO_TEST_CASE(too_few_remaining_members_are_an_error)
{
    BOOST_TEST((with({3, 2}, {member_of(4), blank(1), {}}).next() == step::stuck));
    BOOST_TEST((with({3, 2}, {member_of(4), blank(1), blank(2)}).next() == step::stuck));
    // The knowledge of the third is unknown.
    BOOST_TEST((with({3, 2}, {blank(1), blank(2), {}}).next() == step::stuck));
    BOOST_TEST((with({5, 4}, {member_of(1), member_of(1), blank(1), blank(2), blank(3)}).next() ==
                step::stuck));
}

BOOST_AUTO_TEST_CASE(blank_servers_alone_start_after_a_second_poll)
{
    const std::vector<member_view> all{blank(1), blank(2, 3, 500, 20s), blank(3, 2, 400)};
    auto r = with({3, 2}, all);
    BOOST_TEST((r.next() == step::confirm));
    BOOST_TEST(r.epoch() == 4u);
    r.confirmed(0, all[0]);
    r.confirmed(0, all[0]);
    r.confirmed(1, all[1]);
    BOOST_TEST(!r.ready());
    r.confirmed(2, all[2]);
    BOOST_TEST(r.ready());
    BOOST_TEST(r.floor() == 500u); // above all known fences
    BOOST_TEST((r.silence() > 20s));
    BOOST_TEST((r.lease() == 20s));
}

BOOST_AUTO_TEST_CASE(blank_servers_do_not_start_if_the_second_poll_differs)
{
    const std::vector<member_view> all{blank(1), blank(2), blank(3)};
    auto forgot_again = with({3, 2}, all);
    forgot_again.confirmed(0, blank(9));
    forgot_again.confirmed(1, all[1]);
    forgot_again.confirmed(2, all[2]);
    BOOST_TEST(!forgot_again.ready());

    auto another_was_faster = with({3, 2}, all);
    another_was_faster.confirmed(0, member_of(1));
    another_was_faster.confirmed(1, all[1]);
    another_was_faster.confirmed(2, all[2]);
    BOOST_TEST(!another_was_faster.ready());
}

BOOST_AUTO_TEST_CASE(lost_seeds_are_sent_again_until_a_member_loses_its_data)
{
    const std::vector<member_view> all{blank(1), blank(2), blank(3), blank(4), blank(5)};
    const auto began = with({5, 3}, all);
    BOOST_TEST(began.beginning() == 15u);

    auto in_part = all;
    in_part[1] = {.reachable = true,
                  .is_member = true,
                  .epoch = 2,
                  .largest = 9,
                  .nonce = 2,
                  .began = 15,
                  .lease = 20s};
    in_part[3] = {.reachable = true,
                  .is_member = true,
                  .epoch = 4,
                  .largest = 7,
                  .nonce = 4,
                  .began = 15,
                  .lease = 10s};
    const auto missing = with({5, 3}, in_part);
    BOOST_TEST((missing.next() == rejoin::step::finish));
    BOOST_TEST(missing.ready());
    BOOST_TEST(missing.beginning() == 15u);
    BOOST_TEST(missing.epoch() == 4u);
    BOOST_TEST(missing.floor() == 9u);
    BOOST_TEST((missing.lease() == 20s));
    BOOST_TEST((missing.silence() > 20s));

    auto forgot = in_part; // a blank server restarted: its knowledge is unknown
    forgot[0].nonce = 6;
    BOOST_TEST((with({5, 3}, forgot).next() == rejoin::step::stuck));

    auto adopted = in_part; // a member of another start
    adopted[3].began = 0;
    BOOST_TEST((with({5, 3}, adopted).next() == rejoin::step::stuck));

    auto away = in_part; // it is unknown whether it has lost data
    away[4].reachable = false;
    BOOST_TEST((with({5, 3}, away).next() == rejoin::step::stuck));
}

BOOST_AUTO_TEST_CASE(adopting_members_do_not_start_anew)
{
    const auto r = with({3, 2}, {member_of(1), member_of(1), blank(3)});
    BOOST_TEST((r.next() == rejoin::step::adopt));
    BOOST_TEST(r.beginning() == 0u);
}

// The reply of a member that was not asked does not count either.
BOOST_AUTO_TEST_CASE(first_reply_of_each_member_counts)
{
    std::vector<member_view> all{member_of(1), member_of(1), blank(3)};
    auto adopts = with({3, 2}, all);
    BOOST_TEST_REQUIRE((adopts.next() == rejoin::step::adopt));
    adopts.adopted(0, 10, 100ms);
    adopts.adopted(0, 30, 300ms);
    BOOST_TEST(!adopts.ready());
    adopts.adopted(2, 40, 400ms); // a blank server
    BOOST_TEST(!adopts.ready());
    adopts.adopted(1, 20, 200ms);
    BOOST_TEST(adopts.ready());
    BOOST_TEST(adopts.floor() == 20u);
    BOOST_TEST((adopts.lease() == 200ms));

    all = {blank(1), blank(2), blank(3)};
    auto confirms = with({3, 2}, all);
    BOOST_TEST_REQUIRE((confirms.next() == rejoin::step::confirm));
    for (const std::uint64_t largest : {5U, 50U}) {
        member_view again = all[0];
        again.largest = largest;
        confirms.confirmed(0, again);
    }
    BOOST_TEST(!confirms.ready());
    BOOST_TEST(confirms.floor() == 5u);
}

BOOST_AUTO_TEST_CASE(new_members_are_silent_only_after_earlier_leases)
{
    const std::vector<member_view> all{blank(1), blank(2), blank(3)};
    auto r = with({3, 2}, all);
    for (unsigned i = 0; i < 3; ++i)
        r.confirmed(i, all[i]);
    BOOST_TEST(r.ready());
    BOOST_TEST((r.silence() == 0ms));
    BOOST_TEST(r.floor() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
