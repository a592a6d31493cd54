// The results of the quorum store for every combination of replies of its members.
#include <boost/test/unit_test.hpp>

#include "quorum/scripted_quorum.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;
using quorum::kept;
using quorum::reentered;
using site = scripted_quorum;
using ballot_t = site::ballot_t;
using released_t = site::released_t;
using granted_t = acquire_reply::outcome;

constexpr unsigned members = 3;
constexpr unsigned majority = 2;

/// Calls `check` with each combination of one of `kinds` for each member.
template <class Function>
void for_each_combination(std::size_t kinds, Function check)
{
    for (std::size_t a = 0; a < kinds; ++a)
        for (std::size_t b = 0; b < kinds; ++b)
            for (std::size_t c = 0; c < kinds; ++c)
                BOOST_TEST_CONTEXT("answers " << a << ' ' << b << ' ' << c)
                {
                    check(std::array<std::size_t, members>{a, b, c});
                }
}

std::ptrdiff_t many(const std::array<std::size_t, members>& all, std::size_t kind)
{
    return std::count(all.begin(), all.end(), kind);
}

} // namespace

BOOST_AUTO_TEST_CASE(every_combination_of_replies_to_a_reentrant_acquisition_is_decided)
{
    enum : std::size_t
    {
        yes,
        late,
        gone,
        refused,
        unknown,
        silence,
        kinds
    };
    for_each_combination(kinds, [](const std::array<std::size_t, members>& says) {
        site s;
        s.connect();
        s.reenter();
        for (unsigned i = 0; i < members; ++i) {
            if (says[i] == silence)
                continue;
            s.let_in(i,
                     says[i] == late   ? reentered::late
                     : says[i] == gone ? reentered::gone
                                       : reentered::yes,
                     says[i] == refused   ? error_code(errc::store_refused)
                     : says[i] == unknown ? error_code(errc::outcome_unknown)
                                          : error_code());
        }
        const bool granted = many(says, yes) >= majority;
        for (unsigned i = 0; i < members; ++i) {
            // A reentrant acquisition of a minority is not renewed.
            BOOST_TEST_REQUIRE(s.members[i]->renewals.size() == (granted ? 1u : 0u));
            if (granted)
                s.keep(i, says[i] == yes ? quorum::kept::yes : quorum::kept::free);
        }
        s.pass(1s);
        BOOST_TEST_REQUIRE(s.got.has_value());
        const auto& [code, reply] = *s.got;
        if (granted)
            BOOST_TEST((!code && reply.result == granted_t::granted));
        else if (many(says, gone) >= majority)
            BOOST_TEST((!code && reply.result == granted_t::gone));
        else if (many(says, late) > 0 && many(says, late) + many(says, yes) >= majority)
            BOOST_TEST((!code && reply.result == granted_t::late));
        else
            BOOST_TEST((code == errc::no_quorum));
        // The owner is released at each member that may have it.
        for (unsigned i = 0; i < members; ++i) {
            const bool may_be_in = says[i] == yes || says[i] == unknown || says[i] == silence;
            if (may_be_in && !granted) {
                BOOST_TEST_REQUIRE(!s.members[i]->releases.empty());
                BOOST_TEST(s.members[i]->releases[0].entry == "b:2");
                BOOST_TEST(s.members[i]->releases[0].quiet);
            }
            else if (granted) {
                BOOST_TEST(s.members[i]->releases.empty());
            }
        }
    });
}

BOOST_AUTO_TEST_CASE(every_combination_of_replies_to_a_release_is_decided)
{
    enum : std::size_t
    {
        freed,
        freed_unheard,
        freed_silently,
        left,
        not_owner,
        refused,
        denied
    };
    for_each_combination(denied + 1, [](const std::array<std::size_t, members>& says) {
        site s;
        s.connect();
        s.release();
        std::size_t frees = 0;
        std::size_t lefts = 0;
        std::size_t answers = 0;
        std::int64_t receivers = 0;
        bool known = true;
        for (unsigned i = 0; i < members; ++i) {
            const bool open = answers < majority;
            BOOST_TEST(s.left.has_value() == !open);
            switch (says[i]) {
            case freed: s.free(i, released_t::freed, 2 + i); break;
            case freed_unheard: s.free(i, released_t::freed, 0); break;
            case freed_silently: s.free(i, released_t::freed, -1); break;
            case left: s.free(i, released_t::still_held); break;
            case not_owner: s.free(i, released_t::not_owner); break;
            case refused: s.answer_release(i, errc::store_refused, {}); break;
            default: s.answer_release(i, errc::permission_denied, {});
            }
            if (!open || says[i] >= refused)
                continue;
            ++answers;
            if (says[i] <= freed_silently) {
                ++frees;
                receivers = std::max<std::int64_t>(receivers, says[i] == freed ? 2 + i : 0);
                known = known && says[i] != freed_silently;
            }
            lefts += says[i] == left ? 1 : 0;
        }
        BOOST_TEST_REQUIRE(s.left.has_value());
        const auto& [code, reply] = *s.left;
        if (answers < majority) {
            // One more member could decide otherwise.
            BOOST_TEST((code == (many(says, denied) >= majority ? errc::permission_denied
                                                                : errc::no_quorum)));
        }
        else {
            BOOST_TEST(!code);
            BOOST_TEST((reply.result == (lefts > frees ? released_t::still_held
                                         : frees > 0   ? released_t::freed
                                                       : released_t::not_owner)));
            if (reply.result == released_t::freed) {
                BOOST_TEST(reply.receivers == static_cast<std::uint64_t>(receivers));
                BOOST_TEST(reply.receivers_known == known);
            }
        }
        // A release is repeated quietly after a temporary rejection, but not after a permanent one.
        std::array<std::size_t, members> before{};
        for (unsigned i = 0; i < members; ++i)
            before[i] = s.members[i]->releases.size();
        s.pass(600ms);
        for (unsigned i = 0; i < members; ++i)
            BOOST_TEST(s.members[i]->releases.size() - before[i] == (says[i] == refused ? 1 : 0));
    });
}

BOOST_AUTO_TEST_CASE(every_combination_of_replies_to_a_renewal_is_decided)
{
    enum : std::size_t
    {
        yes,
        gone,
        no_member,
        failed,
        silence,
        kinds
    };
    for_each_combination(kinds, [](const std::array<std::size_t, members>& says) {
        site s;
        s.connect();
        s.renew();
        for (unsigned i = 0; i < members; ++i)
            if (says[i] != silence)
                s.keep(i, says[i] == yes         ? kept::yes
                          : says[i] == gone      ? kept::gone
                          : says[i] == no_member ? kept::free
                                                 : kept::failed);
        s.pass(1s);
        BOOST_TEST_REQUIRE(s.renewed.has_value());
        const auto& [code, reply] = *s.renewed;
        const bool renewed = many(says, yes) >= majority;
        const bool lost = many(says, gone) + many(says, no_member) >= majority;
        BOOST_TEST((reply.results.at(0) == (renewed ? renewal_result::renewed
                                            : lost  ? renewal_result::gone
                                                    : renewal_result::failed)));
        BOOST_TEST((code == (renewed || lost ? error_code() : error_code(errc::no_quorum))));
        for (unsigned i = 0; i < members; ++i)
            BOOST_TEST(s.members[i]->renewals.size() ==
                       (renewed && says[i] == no_member ? 2u : 1u));
    });
}

// While other members could still decide otherwise, a retry may help.
BOOST_AUTO_TEST_CASE(request_is_rejected_permanently_if_too_few_members_remain)
{
    struct deployment
    {
        unsigned size;
        unsigned grants;
    };
    for (const auto& [size, grants] :
         {deployment{3, 2}, deployment{3, 3}, deployment{5, 3}, deployment{5, 4}, deployment{5, 5}})
        for (unsigned denied = 0; denied <= size; ++denied)
            BOOST_TEST_CONTEXT(denied << " of " << size << ", quorum " << grants)
            {
                const errc expected = size - denied < grants ? errc::permission_denied
                                                             : errc::no_quorum;
                const auto of = [&, refusing = denied](unsigned i) {
                    return error_code(i < refusing ? errc::permission_denied : errc::store_refused);
                };
                site s(size, grants);
                for (unsigned i = 0; i < size; ++i)
                    s.connect(i);
                s.reenter();
                for (unsigned i = 0; i < size; ++i)
                    if (s.members[i]->entries.size() == 1 && !s.got)
                        s.let_in(i, {}, of(size - 1 - i));
                s.pass(1s);
                BOOST_TEST_REQUIRE(s.got.has_value());
                // A decision before all members have rejected is not permanent.
                if (s.got->first != errc::no_quorum)
                    BOOST_TEST((s.got->first == expected));
                s.release();
                for (unsigned i = 0; i < size; ++i)
                    s.answer_release(i, of(i), {});
                BOOST_TEST_REQUIRE(s.left.has_value());
                BOOST_TEST((s.left->first == expected));
            }
}

BOOST_AUTO_TEST_CASE(batch_of_renewals_waits_for_an_eighth_of_its_shortest_lease)
{
    for (const bool shortest_first : {false, true}) {
        site s;
        s.connect();
        std::vector<renewal> batch{{"lock", "a:1", 800ms}, {"other", "a:2", 80s}};
        if (!shortest_first)
            std::swap(batch[0], batch[1]);
        s.renew(batch);
        s.pass(99ms);
        BOOST_TEST(!s.renewed.has_value());
        s.pass(1ms);
        BOOST_TEST_REQUIRE(s.renewed.has_value());
        BOOST_TEST((s.renewed->first == errc::no_quorum));
    }
}

// A later creation would grant a lock whose lease has expired.
BOOST_AUTO_TEST_CASE(lock_is_created_again_only_while_the_lease_is_valid)
{
    site s;
    s.connect();
    s.renew(10s);
    BOOST_TEST(s.members[0]->renewals[0].budget.count() == 0);
    s.time.set(s.time.now() + 300ms);
    s.keep(2, kept::free);
    s.keep(0, kept::yes);
    s.keep(1, kept::yes);
    BOOST_TEST_REQUIRE(s.members[2]->renewals.size() == 2u);
    BOOST_TEST((s.members[2]->renewals[1].budget == 10s - 102ms - 300ms)); // minus 1 % and 2 ms
}

BOOST_AUTO_TEST_CASE(permanently_rejected_release_is_not_repeated_again)
{
    for (const bool for_good : {false, true}) {
        site s;
        s.connect();
        s.acquire();
        s.release();
        s.answer_release(2, errc::store_refused, {});
        s.pass(600ms);
        BOOST_TEST_REQUIRE(s.members[2]->releases.size() == 2u);
        s.answer_release(2, for_good ? errc::permission_denied : errc::store_refused, {});
        s.pass(600ms);
        BOOST_TEST(s.members[2]->releases.size() == (for_good ? 2u : 3u));
    }
}

BOOST_AUTO_TEST_CASE(only_its_own_release_stops_the_creation_of_a_lock)
{
    struct row
    {
        const char* name;
        const char* owner;
        const char* entry;
        bool same;
    };
    for (const row& each : {row{"lock", "a:1", "", true}, row{"lock", "a:2", "", false},
                            row{"lock", "a:1", "b:1", false}, row{"lock2", "a:1", "", false}})
        BOOST_TEST_CONTEXT(each.name << ' ' << each.owner << ' ' << each.entry)
        {
            site s;
            s.connect();
            s.renew();
            s.keep(2, kept::free);
            s.keep(0, kept::yes);
            s.release(each.owner, each.entry, each.name);
            s.keep(1, kept::yes);
            BOOST_TEST(s.members[2]->renewals.size() == (each.same ? 1u : 2u));
        }
}

BOOST_AUTO_TEST_CASE(silent_member_is_asked_again_after_its_silence)
{
    site s;
    s.connect();
    s.acquire();
    s.vote(0, ballot_t::accepted, 1'000);
    s.vote(2, ballot_t::silent, 0, 15s);
    s.vote(1, ballot_t::accepted, 1'000);
    BOOST_TEST((s.got && s.got->second.result == granted_t::granted));
    s.acquire();
    BOOST_TEST(s.members[0]->votes.size() == 2u);
    BOOST_TEST(s.members[2]->votes.size() == 1u);
    s.pass(14'999ms);
    s.acquire();
    BOOST_TEST(s.members[2]->votes.size() == 1u);
    s.pass(1ms);
    s.acquire();
    BOOST_TEST(s.members[2]->votes.size() == 2u);
}

BOOST_AUTO_TEST_CASE(failed_lock_names_the_reason_of_each_member)
{
    site s(5, 3);
    s.connect(0);
    s.connect(1);
    s.connect(2, {.is_member = false, .nonce = 7});
    s.connect(3, {.is_member = true, .epoch = 1, .silent = 10s});
    s.members[4].post([&] {
        auto details = std::make_shared<diagnostics>();
        details->server_message = "NOAUTH x";
        s.members[4]->told->on_unreachable(4, errc::store_refused, std::move(details));
    });
    s.poll();
    s.acquire();
    BOOST_TEST_REQUIRE(s.got.has_value());
    BOOST_TEST((s.got->first == errc::no_quorum));
    BOOST_TEST(s.got->second.details->key == "lock");
    BOOST_TEST(s.got->second.details->server == "member0,member1,member2,member3,member4");
    BOOST_TEST(s.got->second.details->server_message ==
               "0 of 5 members granted it; "
               "member2: has restarted or forgotten, and is no member; "
               "member3: waits until what it may have forgotten is over; "
               "member4: the server did not execute the command; a retry may succeed (NOAUTH x)");
}

BOOST_AUTO_TEST_CASE(failed_acquire_reports_each_reply)
{
    struct row
    {
        ballot_t says;
        errc failed;
        std::string_view text;
    };
    for (const row& each :
         {row{ballot_t::late, {}, ""}, row{ballot_t::held, {}, ""},
          row{ballot_t::blank, {}, "has forgotten, and is no member"},
          row{ballot_t::silent, {}, "waits until what it may have forgotten is over"},
          row{ballot_t::accepted, errc::store_refused,
              "the server did not execute the command; a retry may succeed"},
          row{ballot_t::accepted, errc::permission_denied, "the server denied permission"},
          row{ballot_t::accepted, errc::outcome_unknown,
              "no reply was received; the command may have been executed"}})
        BOOST_TEST_CONTEXT(each.text)
        {
            site s(5, 3);
            s.connect();
            s.acquire(800ms);
            s.vote(0, ballot_t::accepted, 1'000);
            s.vote(1, ballot_t::accepted, 1'000);
            for (const unsigned i : {2u, 3u}) {
                if (each.failed != errc())
                    s.fail_vote(i, each.failed);
                else
                    s.vote(i, each.says, 0, 1s);
            }
            s.pass(100ms);
            BOOST_TEST_REQUIRE(s.got.has_value());
            const auto& said = s.got->second.details;
            const std::string told = said ? said->server_message : std::string();
            const std::string text(each.text);
            BOOST_TEST(told == (text.empty() ? text
                                             : "2 of 5 members granted it; member2: " + text +
                                                   "; member3: " + text));
            if (text.empty()) // this is a reply, and not an error
                BOOST_TEST((!s.got->first &&
                            s.got->second.result ==
                                (each.says == ballot_t::late ? granted_t::late : granted_t::held)));
        }
}

// Members get the release when they reconnect. A closed store sends nothing.
BOOST_AUTO_TEST_CASE(release_without_a_reachable_member_has_an_unknown_outcome)
{
    for (const bool closed : {false, true}) {
        site s;
        s.connect();
        s.acquire();
        if (closed)
            s.members[0].post([&] { s.locks->close(); });
        s.poll();
        for (const unsigned i : {0u, 1u, 2u})
            if (!closed)
                s.disconnect(i);
        s.release("b:1");
        BOOST_TEST_REQUIRE(s.left.has_value());
        BOOST_TEST((s.left->first == (closed ? errc::store_unavailable : errc::outcome_unknown)));
    }
}

// If too few members remain to tell which locks were granted, one of them may return.
BOOST_AUTO_TEST_CASE(incomplete_quorum_is_polled_again_and_again)
{
    site s;
    s.connect(0, {.is_member = true, .epoch = 3});
    s.connect(1, {.is_member = false, .nonce = 7});
    s.connect(2, {.is_member = false, .nonce = 8});
    const auto inspect = [&] {
        bool any = false;
        for (unsigned i = 0; i < members; ++i)
            if (!s.members[i]->inspections.empty()) {
                any = true;
                s.answer_inspect(i, {.is_member = i == 0, .epoch = 3, .nonce = 6 + i});
            }
        return any;
    };
    s.pass(50ms);
    // Quickly at first, because another client may be about to assemble the quorum. Then rarely.
    for (int i = 0; i < 6; ++i) {
        BOOST_TEST(inspect());
        if (i < 5)
            s.pass(20ms);
    }
    for (int i = 0; i < 5; ++i) {
        s.pass(199ms);
        BOOST_TEST(!inspect());
        s.pass(401ms);
        BOOST_TEST(inspect());
    }
    BOOST_TEST(s.connected == 0);
    s.pass(600ms);
    for (unsigned i = 0; i < members; ++i)
        s.answer_inspect(i, {.is_member = true, .epoch = 3});
    BOOST_TEST(s.connected == 1);
}
