#include <boost/test/unit_test.hpp>

#include "fsm/contention/queued_contention.hpp"

#include <functional>
#include <ostream>
#include <set>
#include <utility>
#include <vector>

using leasehold::fsm::queued_contention;
using state = queued_contention::state;
using kind = queued_contention::action::kind;
using action = queued_contention::action;
using whose = queued_contention::whose;
using next = queued_contention::succession;

namespace leasehold::fsm {

std::ostream& operator<<(std::ostream& out, queued_contention::state s)
{
    return out << std::vector<const char*>{"idle",    "sending", "queued",
                                           "pausing", "holding", "releasing"}
                      .at(static_cast<std::size_t>(s));
}

std::ostream& operator<<(std::ostream& out, queued_contention::action::kind k)
{
    return out << std::vector<const char*>{"none", "send", "sleep", "leave", "release_ended"}.at(
               static_cast<std::size_t>(k));
}

} // namespace leasehold::fsm

namespace {

/// Reaches a state by the shortest path.
queued_contention machine(state in, bool joins = false)
{
    queued_contention m;
    if (in == state::idle)
        return m;
    m.wanted(true);
    switch (in) {
    case state::idle:
    case state::sending: break;
    case state::queued: m.held(true, true); break;
    case state::pausing: m.failed(true, true); break;
    case state::holding: m.granted(true, true); break;
    case state::releasing:
        m.granted(true, true);
        m.leaving(joins);
        break;
    }
    return m;
}

struct row
{
    state from;
    const char* event;
    std::function<action(queued_contention&)> happens;
    kind what;
    state to;
};

using m_ref = queued_contention&;

// Every state with every event that can reach it.
const std::vector<row> table = {
    {state::idle, "wanted", [](m_ref m) { return m.wanted(true); }, kind::send, state::sending},
    {state::idle, "wanted, offline", [](m_ref m) { return m.wanted(false); }, kind::none,
     state::pausing},
    {state::idle, "unwanted", [](m_ref m) { return m.unwanted(); }, kind::none, state::idle},
    {state::idle, "grant of one that has ended", [](m_ref m) { return m.notified(whose::ended); },
     kind::release_ended, state::idle},
    {state::idle, "connected", [](m_ref m) { return m.connected(); }, kind::none, state::idle},
    {state::idle, "listening", [](m_ref m) { return m.listening(); }, kind::none, state::idle},
    {state::idle, "due", [](m_ref m) { return m.due(true); }, kind::none, state::idle},

    {state::sending, "wanted by one more", [](m_ref m) { return m.wanted(true); }, kind::none,
     state::sending},
    {state::sending, "unwanted: the request stays under way", [](m_ref m) { return m.unwanted(); },
     kind::none, state::sending},
    {state::sending, "not sent", [](m_ref m) { return m.unsent(true); }, kind::none,
     state::pausing},
    {state::sending, "not sent, no waiter is left", [](m_ref m) { return m.unsent(false); },
     kind::none, state::idle},
    {state::sending, "not sent under this owner", [](m_ref m) { return m.renounced(); },
     kind::leave, state::releasing},
    {state::sending, "grant", [](m_ref m) { return m.notified(whose::current); }, kind::none,
     state::sending},
    {state::sending, "grant of one that has ended",
     [](m_ref m) { return m.notified(whose::ended); }, kind::release_ended, state::sending},
    {state::sending, "connected", [](m_ref m) { return m.connected(); }, kind::none,
     state::sending},
    {state::sending, "listening", [](m_ref m) { return m.listening(); }, kind::none,
     state::sending},
    {state::sending, "due", [](m_ref m) { return m.due(true); }, kind::none, state::sending},
    {state::sending, "granted", [](m_ref m) { return m.granted(true, true); }, kind::none,
     state::holding},
    {state::sending, "granted too late", [](m_ref m) { return m.granted(false, true); },
     kind::leave, state::releasing},
    {state::sending, "granted, no waiter is left", [](m_ref m) { return m.granted(true, false); },
     kind::leave, state::releasing},
    {state::sending, "held, in line", [](m_ref m) { return m.held(true, true); }, kind::sleep,
     state::queued},
    {state::sending, "held, not in line", [](m_ref m) { return m.held(false, true); }, kind::send,
     state::sending},
    {state::sending, "held, in line, no waiter is left",
     [](m_ref m) { return m.held(true, false); }, kind::leave, state::releasing},
    {state::sending, "held, not in line, no waiter is left",
     [](m_ref m) { return m.held(false, false); }, kind::none, state::idle},
    {state::sending, "failed, may have run", [](m_ref m) { return m.failed(true, true); },
     kind::sleep, state::pausing},
    {state::sending, "failed, did not run", [](m_ref m) { return m.failed(false, true); },
     kind::sleep, state::pausing},
    {state::sending, "failed, may have run, no waiter is left",
     [](m_ref m) { return m.failed(true, false); }, kind::leave, state::releasing},
    {state::sending, "failed, did not run, no waiter is left",
     [](m_ref m) { return m.failed(false, false); }, kind::none, state::idle},
    {state::sending, "late", [](m_ref m) { return m.late(true); }, kind::send, state::sending},
    {state::sending, "late again",
     [](m_ref m) {
         m.late(true);
         return m.late(true);
     },
     kind::sleep, state::pausing},
    {state::sending, "late, no waiter is left", [](m_ref m) { return m.late(false); }, kind::none,
     state::idle},

    {state::queued, "wanted by one more", [](m_ref m) { return m.wanted(true); }, kind::none,
     state::queued},
    {state::queued, "unwanted", [](m_ref m) { return m.unwanted(); }, kind::leave,
     state::releasing},
    {state::queued, "grant", [](m_ref m) { return m.notified(whose::current); }, kind::send,
     state::sending},
    {state::queued, "grant of one that has ended", [](m_ref m) { return m.notified(whose::ended); },
     kind::release_ended, state::queued},
    {state::queued, "connected", [](m_ref m) { return m.connected(); }, kind::send, state::sending},
    {state::queued, "listening", [](m_ref m) { return m.listening(); }, kind::send, state::sending},
    {state::queued, "due", [](m_ref m) { return m.due(true); }, kind::send, state::sending},
    {state::queued, "due, offline", [](m_ref m) { return m.due(false); }, kind::none,
     state::pausing},

    {state::pausing, "wanted by one more", [](m_ref m) { return m.wanted(true); }, kind::none,
     state::pausing},
    {state::pausing, "unwanted", [](m_ref m) { return m.unwanted(); }, kind::leave,
     state::releasing},
    {state::pausing, "grant", [](m_ref m) { return m.notified(whose::current); }, kind::send,
     state::sending},
    {state::pausing, "connected", [](m_ref m) { return m.connected(); }, kind::send,
     state::sending},
    {state::pausing, "listening", [](m_ref m) { return m.listening(); }, kind::send,
     state::sending},
    {state::pausing, "due", [](m_ref m) { return m.due(true); }, kind::send, state::sending},
    {state::pausing, "due, offline", [](m_ref m) { return m.due(false); }, kind::none,
     state::pausing},

    {state::holding, "wanted", [](m_ref m) { return m.wanted(true); }, kind::none, state::holding},
    {state::holding, "unwanted", [](m_ref m) { return m.unwanted(); }, kind::none, state::holding},
    {state::holding, "grant, doubled", [](m_ref m) { return m.notified(whose::current); },
     kind::none, state::holding},
    {state::holding, "connected", [](m_ref m) { return m.connected(); }, kind::none,
     state::holding},
    {state::holding, "listening", [](m_ref m) { return m.listening(); }, kind::none,
     state::holding},
    {state::holding, "due", [](m_ref m) { return m.due(true); }, kind::none, state::holding},
    {state::holding, "leaving", [](m_ref m) { return m.leaving(false); }, kind::leave,
     state::releasing},

    {state::releasing, "wanted", [](m_ref m) { return m.wanted(true); }, kind::none,
     state::releasing},
    {state::releasing, "unwanted", [](m_ref m) { return m.unwanted(); }, kind::none,
     state::releasing},
    {state::releasing, "grant", [](m_ref m) { return m.notified(whose::current); }, kind::none,
     state::releasing},
    {state::releasing, "connected", [](m_ref m) { return m.connected(); }, kind::none,
     state::releasing},
    {state::releasing, "listening", [](m_ref m) { return m.listening(); }, kind::none,
     state::releasing},
    {state::releasing, "left", [](m_ref m) { return m.left(next::none, true, false, true); },
     kind::none, state::idle},
    {state::releasing, "left, wanted since",
     [](m_ref m) { return m.left(next::none, true, true, true); }, kind::send, state::sending},
    {state::releasing, "left, wanted since, offline",
     [](m_ref m) { return m.left(next::none, true, true, false); }, kind::none, state::pausing},
};

// The release carries the next owner.
const std::vector<row> joining = {
    {state::releasing, "in line", [](m_ref m) { return m.left(next::queued, true, true, true); },
     kind::sleep, state::queued},
    {state::releasing, "in line, and told meanwhile",
     [](m_ref m) {
         m.notified(whose::next);
         return m.left(next::queued, true, true, true);
     },
     kind::send, state::sending},
    {state::releasing, "in line, and the one that leaves was told",
     [](m_ref m) {
         m.notified(whose::current);
         return m.left(next::queued, true, true, true);
     },
     kind::sleep, state::queued},
    {state::releasing, "in line, offline",
     [](m_ref m) { return m.left(next::queued, true, true, false); }, kind::none, state::pausing},
    {state::releasing, "in line, no waiter is left",
     [](m_ref m) { return m.left(next::queued, true, false, true); }, kind::leave,
     state::releasing},
    {state::releasing, "granted", [](m_ref m) { return m.left(next::granted, true, true, true); },
     kind::none, state::holding},
    {state::releasing, "granted too late",
     [](m_ref m) { return m.left(next::granted, false, true, true); }, kind::leave,
     state::releasing},
    {state::releasing, "granted, no waiter is left",
     [](m_ref m) { return m.left(next::granted, true, false, true); }, kind::leave,
     state::releasing},
    {state::releasing, "a repetition adds no owner",
     [](m_ref m) { return m.left(next::none, true, true, true); }, kind::send, state::sending},
    {state::releasing, "the first may have joined, and no waiter is left",
     [](m_ref m) { return m.left(next::none, true, false, true); }, kind::leave, state::releasing},
};

void check(const std::vector<row>& rows, bool joins)
{
    for (const row& each : rows) {
        BOOST_TEST_CONTEXT(each.from << ": " << each.event)
        {
            queued_contention m = machine(each.from, joins);
            BOOST_TEST_REQUIRE(m.current() == each.from);
            const action then = each.happens(m);
            BOOST_TEST(then.what == each.what);
            BOOST_TEST(m.current() == each.to);
            BOOST_TEST(!then.joins);
            BOOST_TEST(!m.joins());
        }
    }
}

} // namespace

BOOST_AUTO_TEST_SUITE(queued_contention_fsm)

BOOST_AUTO_TEST_CASE(queued_contention_makes_every_transition_of_the_table)
{
    check(table, false);
}

BOOST_AUTO_TEST_CASE(every_reply_to_a_release_with_a_next_owner_is_handled)
{
    check(joining, true);
}

// SET NX does not extend an existing lock: a deadline counted from its repetition would be wrong.
BOOST_AUTO_TEST_CASE(request_that_may_have_been_executed_is_repeated_as_such)
{
    queued_contention m;
    BOOST_TEST(!m.wanted(true).again);
    m.failed(true, true);
    BOOST_TEST(m.connected().again);
    m.failed(false, true);
    BOOST_TEST(m.due(true).again);
    m.held(true, true);
    BOOST_TEST(m.notified(whose::current).again);
    BOOST_TEST(m.late(true).again);
}

BOOST_AUTO_TEST_CASE(request_that_was_not_executed_is_sent_as_new)
{
    queued_contention m;
    m.wanted(true);
    m.failed(false, true);
    BOOST_TEST(!m.connected().again);
    BOOST_TEST(!m.late(true).again);
    m.unsent(true);
    BOOST_TEST(!m.due(true).again);
}

// The outstanding request may have entered the queue before the subscription, and missed its grant.
BOOST_AUTO_TEST_CASE(subscription_during_a_request_causes_another_poll)
{
    queued_contention m;
    m.wanted(true);
    m.listening();
    BOOST_TEST(m.held(true, true).what == kind::send);
    BOOST_TEST(m.held(true, true).what == kind::sleep);

    queued_contention next;
    next.wanted(true);
    next.granted(true, true);
    next.leaving(true);
    next.listening();
    BOOST_TEST(next.left(queued_contention::succession::queued, false, true, true).what ==
               kind::send);
}

BOOST_AUTO_TEST_CASE(held_reply_of_the_fast_path_enqueues_the_same_owner)
{
    queued_contention m;
    m.wanted(true);
    const action then = m.held(false, true);
    BOOST_TEST(then.what == kind::send);
    BOOST_TEST(then.again);
    BOOST_TEST(m.held(true, true).what == kind::sleep);
}

BOOST_AUTO_TEST_CASE(next_owner_of_a_release_is_never_sent_as_new)
{
    for (const next each : {next::none, next::queued}) {
        queued_contention m = machine(state::releasing, true);
        m.notified(whose::next);
        const action then = m.left(each, true, true, true);
        BOOST_TEST(then.what == kind::send);
        BOOST_TEST(then.again);
    }
    queued_contention m = machine(state::releasing, false);
    BOOST_TEST(!m.left(next::none, true, true, true).again);
}

BOOST_AUTO_TEST_CASE(owner_that_no_release_carried_is_sent_as_new)
{
    for (const bool wanted : {true, false}) {
        queued_contention m = machine(state::releasing, true);
        m.listening();
        m.joins_no_waiter();
        BOOST_TEST(!m.joins());
        BOOST_TEST((m == machine(state::releasing, false)));
        const action then = m.left(next::none, false, wanted, true);
        BOOST_TEST(then.what == (wanted ? kind::send : kind::none));
        BOOST_TEST(!then.again);
    }
}

BOOST_AUTO_TEST_CASE(release_carries_the_next_owner_of_this_client)
{
    queued_contention m = machine(state::holding);
    BOOST_TEST(m.leaving(true).joins);
    BOOST_TEST(m.joins());
}

// W1: the reply is older than the notification.
BOOST_AUTO_TEST_CASE(W1_grant_notified_during_a_request_is_not_lost)
{
    queued_contention m = machine(state::sending);
    m.notified(whose::current);
    m.notified(whose::current);
    BOOST_TEST(m.held(true, true).what == kind::send);
    // Once: two notifications do not make a loop.
    BOOST_TEST(m.held(true, true).what == kind::sleep);
}

BOOST_AUTO_TEST_CASE(grant_notification_counts_only_for_the_outstanding_request)
{
    queued_contention granted = machine(state::sending);
    granted.notified(whose::current);
    granted.granted(true, true);
    granted.leaving(true);
    BOOST_TEST(granted.left(next::queued, true, true, true).what == kind::sleep);

    queued_contention failed = machine(state::sending);
    failed.notified(whose::current);
    failed.failed(true, true);
    failed.due(true);
    BOOST_TEST(failed.held(true, true).what == kind::sleep);
}

// The first late reply is retried at once, the second in a row is not.
BOOST_AUTO_TEST_CASE(first_late_reply_after_another_reply_is_retried_at_once)
{
    const auto late = [](queued_contention& m) {
        BOOST_TEST_REQUIRE(m.current() == state::sending);
        return m.late(true).what;
    };
    queued_contention held = machine(state::sending);
    queued_contention failed = held, granted = held, left = held, given_up = held;
    for (queued_contention* each : {&held, &failed, &granted, &left, &given_up})
        BOOST_TEST(late(*each) == kind::send);

    held.held(false, true);
    BOOST_TEST(late(held) == kind::send);
    BOOST_TEST(late(held) == kind::sleep);
    held.due(true);
    BOOST_TEST(late(held) == kind::sleep);
    held.due(true);
    held.held(true, true);
    held.due(true);
    BOOST_TEST(late(held) == kind::send);

    failed.failed(false, true);
    failed.due(true);
    BOOST_TEST(late(failed) == kind::send);

    granted.granted(true, true);
    granted.leaving(false);
    granted.left(next::none, false, true, true);
    BOOST_TEST(late(granted) == kind::send);

    left.granted(false, true);
    left.left(next::none, false, true, true);
    BOOST_TEST(late(left) == kind::send);

    given_up.late(false);
    given_up.wanted(true);
    BOOST_TEST(late(given_up) == kind::send);
}

// A shutdown leaves the queue: its waiters complete, and none remains.
BOOST_AUTO_TEST_CASE(shutdown_releases_only_owners_that_the_store_may_know)
{
    queued_contention unknown;
    unknown.wanted(false);
    BOOST_TEST(unknown.unwanted().what == kind::none);
    BOOST_TEST(unknown.current() == state::idle);

    queued_contention refused = machine(state::sending);
    refused.failed(false, true);
    BOOST_TEST(refused.unwanted().what == kind::none);
    BOOST_TEST(refused.current() == state::idle);

    queued_contention in_doubt = machine(state::pausing);
    in_doubt.due(true);
    in_doubt.failed(false, true);
    BOOST_TEST(in_doubt.unwanted().what == kind::leave);
}

BOOST_AUTO_TEST_CASE(new_owner_starts_like_the_first)
{
    for (const state from : {state::queued, state::pausing}) {
        queued_contention m = machine(from);
        m.unwanted();
        m.left(next::none, true, false, true);
        BOOST_TEST((m == queued_contention()));
    }
}

// A held name without a waiter has no contention state.
BOOST_AUTO_TEST_CASE(queued_contention_resumes_from_each_state_of_a_lock)
{
    for (const state from : {state::sending, state::holding, state::releasing}) {
        queued_contention m;
        m.resume(from);
        BOOST_TEST((m == machine(from)));
    }
}

BOOST_AUTO_TEST_CASE(equal_machines_have_equal_hashes)
{
    const std::vector<queued_contention> machines{
        machine(state::idle),           machine(state::sending), machine(state::queued),
        machine(state::pausing),        machine(state::holding), machine(state::releasing),
        machine(state::releasing, true)};
    std::set<std::size_t> hashes;
    for (const auto& each : machines) {
        const auto copy = each;
        BOOST_TEST((copy == each));
        BOOST_TEST(hash_value(copy) == hash_value(each));
        hashes.insert(hash_value(each));
    }
    BOOST_TEST(hashes.size() == machines.size());
}

BOOST_AUTO_TEST_SUITE_END()
