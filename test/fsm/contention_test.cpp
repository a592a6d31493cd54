#include <boost/test/unit_test.hpp>

#include "fsm/contention/contention.hpp"

#include <functional>
#include <string>
#include <vector>

using namespace leasehold;
using namespace std::chrono_literals;
using fsm::contention;
using state = contention::state;
using kind = contention::action::kind;

namespace leasehold::fsm {

std::ostream& operator<<(std::ostream& out, contention::state s)
{
    return out << std::vector<const char*>{"idle",     "sending", "sleeping", "pausing",
                                           "yielding", "holding", "releasing"}
                      .at(static_cast<std::size_t>(s));
}

std::ostream& operator<<(std::ostream& out, contention::action::kind k)
{
    return out << std::vector<const char*>{"none", "send", "sleep"}.at(static_cast<std::size_t>(k));
}

} // namespace leasehold::fsm

namespace {

struct machine : contention
{
    explicit machine(state in)
    {
        use(fsm::backoff(20ms, 1000ms));
        switch (in) {
        case state::idle: break;
        case state::sending: wanted(true); break;
        case state::sleeping:
            wanted(true);
            held(10s, true, random);
            break;
        case state::pausing:
            wanted(true);
            failed(true, random);
            due(true);
            failed(true, random);
            break;
        case state::yielding:
            wanted(true);
            granted();
            leaving();
            left(true, true, true, random);
            break;
        case state::holding:
            wanted(true);
            granted();
            break;
        case state::releasing:
            wanted(true);
            granted();
            leaving();
            break;
        }
    }

    /// Polls a held lock until the pauses have stopped growing.
    void wait_long()
    {
        for (int i = 0; i < 8; ++i) {
            held(10s, true, random);
            due(true);
        }
    }

    fsm::random_source random{7};
};

struct row
{
    state from;
    const char* event;
    std::function<contention::action(machine&)> happens;
    kind action;
    state to;
};

contention::action nothing()
{
    return {};
}

// Every state with every event that can reach it.
const std::vector<row> table = {
    {state::idle, "wanted, online", [](machine& m) { return m.wanted(true); }, kind::send,
     state::sending},
    {state::idle, "wanted, offline", [](machine& m) { return m.wanted(false); }, kind::none,
     state::sleeping},
    {state::idle, "unwanted",
     [](machine& m) {
         m.unwanted();
         return nothing();
     },
     kind::none, state::idle},
    {state::idle, "wake-up", [](machine& m) { return m.wakeup(true); }, kind::none, state::idle},
    {state::idle, "connected", [](machine& m) { return m.connected(); }, kind::none, state::idle},
    {state::idle, "due", [](machine& m) { return m.due(true); }, kind::none, state::idle},

    {state::sending, "wanted", [](machine& m) { return m.wanted(true); }, kind::none,
     state::sending},
    {state::sending, "unwanted: the request stays under way",
     [](machine& m) {
         m.unwanted();
         return nothing();
     },
     kind::none, state::sending},
    {state::sending, "not sent",
     [](machine& m) {
         m.unsent(true);
         return nothing();
     },
     kind::none, state::sleeping},
    {state::sending, "not sent, no waiter is left",
     [](machine& m) {
         m.unsent(false);
         return nothing();
     },
     kind::none, state::idle},
    {state::sending, "wake-up", [](machine& m) { return m.wakeup(true); }, kind::none,
     state::sending},
    {state::sending, "connected", [](machine& m) { return m.connected(); }, kind::none,
     state::sending},
    {state::sending, "due", [](machine& m) { return m.due(true); }, kind::none, state::sending},
    {state::sending, "granted",
     [](machine& m) {
         m.granted();
         return nothing();
     },
     kind::none, state::holding},
    {state::sending, "held", [](machine& m) { return m.held(5s, true, m.random); }, kind::sleep,
     state::sleeping},
    {state::sending, "held, no waiter is left",
     [](machine& m) { return m.held(5s, false, m.random); }, kind::none, state::idle},
    {state::sending, "failed", [](machine& m) { return m.failed(true, m.random); }, kind::sleep,
     state::sleeping},
    {state::sending, "failed again",
     [](machine& m) {
         m.failed(true, m.random);
         m.due(true);
         return m.failed(true, m.random);
     },
     kind::sleep, state::pausing},
    {state::sending, "failed, no waiter is left",
     [](machine& m) { return m.failed(false, m.random); }, kind::none, state::idle},
    {state::sending, "late", [](machine& m) { return m.late(true, m.random); }, kind::send,
     state::sending},
    {state::sending, "late, no waiter is left", [](machine& m) { return m.late(false, m.random); },
     kind::none, state::idle},

    {state::sleeping, "wanted by one more", [](machine& m) { return m.wanted(true); }, kind::none,
     state::sleeping},
    {state::sleeping, "unwanted",
     [](machine& m) {
         m.unwanted();
         return nothing();
     },
     kind::none, state::idle},
    {state::sleeping, "wake-up", [](machine& m) { return m.wakeup(true); }, kind::send,
     state::sending},
    {state::sleeping, "wake-up, offline", [](machine& m) { return m.wakeup(false); }, kind::none,
     state::sleeping},
    {state::sleeping, "connected", [](machine& m) { return m.connected(); }, kind::send,
     state::sending},
    {state::sleeping, "due", [](machine& m) { return m.due(true); }, kind::send, state::sending},
    {state::sleeping, "due, offline", [](machine& m) { return m.due(false); }, kind::none,
     state::sleeping},

    {state::pausing, "wanted by one more", [](machine& m) { return m.wanted(true); }, kind::none,
     state::pausing},
    {state::pausing, "unwanted",
     [](machine& m) {
         m.unwanted();
         return nothing();
     },
     kind::none, state::idle},
    {state::pausing, "wake-up", [](machine& m) { return m.wakeup(true); }, kind::send,
     state::sending},
    {state::pausing, "wake-up, offline", [](machine& m) { return m.wakeup(false); }, kind::none,
     state::pausing},
    {state::pausing, "connected", [](machine& m) { return m.connected(); }, kind::none,
     state::pausing},
    {state::pausing, "due", [](machine& m) { return m.due(true); }, kind::send, state::sending},
    {state::pausing, "due, offline", [](machine& m) { return m.due(false); }, kind::none,
     state::sleeping},

    {state::yielding, "wanted by one more", [](machine& m) { return m.wanted(true); }, kind::none,
     state::yielding},
    {state::yielding, "unwanted",
     [](machine& m) {
         m.unwanted();
         return nothing();
     },
     kind::none, state::idle},
    {state::yielding, "wake-up, of its own release", [](machine& m) { return m.wakeup(true); },
     kind::none, state::yielding},
    {state::yielding, "wake-up, of another's release",
     [](machine& m) {
         m.wakeup(true);
         return m.wakeup(true);
     },
     kind::send, state::sending},
    {state::yielding, "connected", [](machine& m) { return m.connected(); }, kind::send,
     state::sending},
    {state::yielding, "due", [](machine& m) { return m.due(true); }, kind::send, state::sending},
    {state::yielding, "due, offline", [](machine& m) { return m.due(false); }, kind::none,
     state::sleeping},

    {state::holding, "wanted", [](machine& m) { return m.wanted(true); }, kind::none,
     state::holding},
    {state::holding, "unwanted",
     [](machine& m) {
         m.unwanted();
         return nothing();
     },
     kind::none, state::holding},
    {state::holding, "wake-up", [](machine& m) { return m.wakeup(true); }, kind::none,
     state::holding},
    {state::holding, "connected", [](machine& m) { return m.connected(); }, kind::none,
     state::holding},
    {state::holding, "due", [](machine& m) { return m.due(true); }, kind::none, state::holding},
    {state::holding, "leaving",
     [](machine& m) {
         m.leaving();
         return nothing();
     },
     kind::none, state::releasing},

    {state::releasing, "wanted", [](machine& m) { return m.wanted(true); }, kind::none,
     state::releasing},
    {state::releasing, "unwanted",
     [](machine& m) {
         m.unwanted();
         return nothing();
     },
     kind::none, state::releasing},
    {state::releasing, "wake-up", [](machine& m) { return m.wakeup(true); }, kind::none,
     state::releasing},
    {state::releasing, "connected", [](machine& m) { return m.connected(); }, kind::none,
     state::releasing},
    {state::releasing, "due", [](machine& m) { return m.due(true); }, kind::none, state::releasing},
    {state::releasing, "left", [](machine& m) { return m.left(true, false, true, m.random); },
     kind::send, state::sending},
    {state::releasing, "left, offline",
     [](machine& m) { return m.left(true, false, false, m.random); }, kind::none, state::sleeping},
    {state::releasing, "left, others wait",
     [](machine& m) { return m.left(true, true, true, m.random); }, kind::sleep, state::yielding},
    {state::releasing, "left, no waiter is left",
     [](machine& m) { return m.left(false, false, true, m.random); }, kind::none, state::idle},
    {state::releasing, "left, only others want it",
     [](machine& m) { return m.left(false, true, true, m.random); }, kind::none, state::idle},
};

} // namespace

BOOST_AUTO_TEST_SUITE(contention_fsm)

BOOST_AUTO_TEST_CASE(contention_makes_every_transition_of_the_table)
{
    for (const row& each : table) {
        BOOST_TEST_CONTEXT(each.from << ": " << each.event)
        {
            machine m(each.from);
            BOOST_TEST_REQUIRE(m.current() == each.from);
            const auto action = each.happens(m);
            BOOST_TEST(action.what == each.action);
            BOOST_TEST(m.current() == each.to);
            BOOST_TEST((action.pause > 0ns) == (each.action == kind::sleep));
        }
    }
}

// W1: the lock was freed between the poll and the reply, so the reply is older than the wake-up.
BOOST_AUTO_TEST_CASE(W1_wake_up_during_a_request_is_not_lost)
{
    machine m(state::sending);
    m.wakeup(true);
    m.wakeup(true);
    BOOST_TEST(m.held(10s, true, m.random).what == kind::send);
    // Once: two wake-ups do not make a loop.
    BOOST_TEST(m.held(10s, true, m.random).what == kind::sleep);
    BOOST_TEST(m.wakeup(true).what == kind::send);
}

BOOST_AUTO_TEST_CASE(wake_up_counts_only_for_the_outstanding_request)
{
    machine granted(state::sending);
    granted.wakeup(true);
    granted.granted();
    granted.leaving();
    granted.left(true, false, true, granted.random);
    BOOST_TEST(granted.held(10s, true, granted.random).what == kind::sleep);

    machine failed(state::sending);
    failed.wakeup(true);
    // It polls anyway, and a failure of the store is no reason to hurry.
    BOOST_TEST(failed.failed(true, failed.random).what == kind::sleep);
    failed.due(true);
    BOOST_TEST(failed.held(10s, true, failed.random).what == kind::sleep);

    machine unwanted(state::sending);
    unwanted.wakeup(true);
    unwanted.held(10s, false, unwanted.random);
    unwanted.wanted(true);
    BOOST_TEST(unwanted.held(10s, true, unwanted.random).what == kind::sleep);
}

BOOST_AUTO_TEST_CASE(pause_does_not_outlast_the_ttl_of_the_holder)
{
    for (unsigned seed = 0; seed < 500; ++seed) {
        machine m(state::sending);
        m.random.seed(seed);
        for (const auto remaining : {5ms, 0ms}) {
            for (int i = 0; i < 10; ++i) {
                const auto action = m.held(remaining, true, m.random);
                BOOST_TEST_REQUIRE(action.what == kind::sleep);
                BOOST_TEST((action.pause <= remaining + 3ms));
                BOOST_TEST((action.pause > 0ns));
                m.due(true);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(holder_without_a_ttl_is_polled_with_backoff)
{
    machine m(state::sending);
    for (int i = 0; i < 20; ++i) {
        const auto action = m.held(-1ms, true, m.random);
        BOOST_TEST_REQUIRE(action.what == kind::sleep);
        BOOST_TEST((action.pause >= 10ms));
        BOOST_TEST((action.pause <= 1s));
        m.due(true);
    }
}

BOOST_AUTO_TEST_CASE(expired_holder_is_polled_soon_but_not_in_a_loop)
{
    machine m(state::sending);
    const auto action = m.held(0ms, true, m.random);
    BOOST_TEST(action.what == kind::sleep);
    BOOST_TEST((action.pause >= 1ms));
    BOOST_TEST((action.pause <= 3ms));
}

BOOST_AUTO_TEST_CASE(pauses_grow_while_held_and_restart_after_a_grant)
{
    const auto most_of_the_next = [](auto prepare) {
        clock::duration most{};
        for (unsigned seed = 0; seed < 300; ++seed) {
            machine m(state::sending);
            m.random.seed(seed);
            m.wait_long();
            prepare(m);
            most = std::max(most, m.held(10s, true, m.random).pause);
        }
        return most;
    };
    BOOST_TEST((most_of_the_next([](machine&) {}) > 500ms));
    BOOST_TEST((most_of_the_next([](machine& m) {
                    m.granted();
                    m.leaving();
                    m.left(true, false, true, m.random);
                }) <= 20ms));
    BOOST_TEST((most_of_the_next([](machine& m) {
                    m.failed(false, m.random);
                    m.wanted(true);
                }) <= 20ms));
}

// The time spent waiting for other holders says nothing about the store. The number of its failures
// does.
BOOST_AUTO_TEST_CASE(pauses_grow_while_the_store_fails_independently_of_waits)
{
    clock::duration first{};
    clock::duration tenth{};
    for (unsigned seed = 0; seed < 300; ++seed) {
        machine m(state::sending);
        m.random.seed(seed);
        m.wait_long();
        first = std::max(first, m.failed(true, m.random).pause);
        for (int i = 0; i < 8; ++i) {
            m.due(true);
            m.failed(true, m.random);
        }
        m.due(true);
        tenth = std::max(tenth, m.failed(true, m.random).pause);
    }
    BOOST_TEST((first <= 20ms));
    BOOST_TEST((tenth > 500ms));
}

// Only consecutive failures cause a pause that no connection shortens.
BOOST_AUTO_TEST_CASE(failure_after_a_served_request_is_a_first_failure)
{
    const std::vector<std::function<void(machine&)>> served = {
        [](machine& m) { m.held(10s, true, m.random); },
        [](machine& m) { m.held(10s, false, m.random); },
        [](machine& m) {
            m.granted();
            m.leaving();
            m.left(true, false, false, m.random);
        },
        [](machine& m) { m.unsent(false); },
        [](machine& m) { m.late(false, m.random); },
    };
    for (const auto& each : served) {
        machine m(state::sending);
        m.failed(true, m.random);
        m.due(true);
        each(m);
        if (m.wanted(true).what != kind::send)
            m.due(true);
        BOOST_TEST_REQUIRE(m.current() == state::sending);
        m.failed(true, m.random);
        BOOST_TEST(m.current() == state::sleeping);
        m.due(true);
        m.failed(true, m.random);
        BOOST_TEST(m.current() == state::pausing);
    }
}

// This client also receives its own release. If that ended its pause, the clients that it yields to
// would never get the lock.
BOOST_AUTO_TEST_CASE(yielding_client_ignores_its_own_release)
{
    for (unsigned seed = 0; seed < 200; ++seed) {
        machine m(state::releasing);
        m.random.seed(seed);
        const auto action = m.left(true, true, true, m.random);
        BOOST_TEST((action.pause >= 1ms));
        BOOST_TEST((action.pause <= 20ms));
        BOOST_TEST(m.wakeup(true).what == kind::none);
        BOOST_TEST(m.current() == state::yielding);
        BOOST_TEST(m.due(true).what == kind::send);
        BOOST_TEST(m.held(1s, true, m.random).what == kind::sleep);
        BOOST_TEST(m.wakeup(true).what == kind::send);
    }
}

// Otherwise the lock is idle when the next holder has released.
BOOST_AUTO_TEST_CASE(yielding_client_wakes_at_the_next_release)
{
    machine m(state::releasing);
    for (int tenure = 0; tenure < 3; ++tenure) {
        // Its own release is reported before its reply, or after.
        if (tenure != 1)
            BOOST_TEST(m.wakeup(true).what == kind::none);
        m.left(true, true, true, m.random);
        if (tenure == 1)
            BOOST_TEST(m.wakeup(true).what == kind::none);
        BOOST_TEST(m.current() == state::yielding);
        BOOST_TEST(m.wakeup(true).what == kind::send);
        m.granted();
        m.leaving();
    }
}

BOOST_AUTO_TEST_CASE(yielding_ends_with_the_last_waiter)
{
    machine m(state::releasing);
    m.left(true, true, true, m.random);
    m.unwanted();
    BOOST_TEST(m.current() == state::idle);
    m.wanted(true);
    m.held(10s, true, m.random);
    BOOST_TEST(m.wakeup(true).what == kind::send);
}

BOOST_AUTO_TEST_CASE(late_reply_is_retried_twice_at_once_and_then_with_pauses)
{
    machine m(state::sending);
    BOOST_TEST(m.late(true, m.random).what == kind::send);
    BOOST_TEST(m.late(true, m.random).what == kind::send);
    BOOST_TEST(m.late(true, m.random).what == kind::sleep);
    m.due(true);
    BOOST_TEST(m.late(true, m.random).what == kind::sleep);
    m.due(true);
    m.held(1s, true, m.random);
    m.due(true);
    BOOST_TEST(m.late(true, m.random).what == kind::send);
}

// A held name without a waiter has no contention state.
BOOST_AUTO_TEST_CASE(contention_resumes_from_a_held_or_releasing_lock)
{
    machine holds(state::idle);
    holds.resume(state::holding);
    BOOST_TEST(holds.current() == state::holding);
    BOOST_TEST(holds.wanted(true).what == kind::none);
    holds.leaving();
    BOOST_TEST(holds.left(true, false, true, holds.random).what == kind::send);

    machine leaves(state::idle);
    leaves.resume(state::releasing);
    BOOST_TEST(leaves.current() == state::releasing);
    BOOST_TEST(leaves.wanted(true).what == kind::none);
    BOOST_TEST(leaves.left(true, true, true, leaves.random).what == kind::sleep);
    BOOST_TEST(leaves.current() == state::yielding);
}

BOOST_AUTO_TEST_CASE(lock_wanted_offline_is_requested_after_the_connection)
{
    machine m(state::idle);
    m.wanted(false);
    BOOST_TEST(m.due(false).what == kind::none);
    BOOST_TEST(m.connected().what == kind::send);
}

BOOST_AUTO_TEST_SUITE_END()
