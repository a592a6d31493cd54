// The details of a failure beside its code: the holder, the text of the store, the time.
#include <boost/test/unit_test.hpp>

#include "support/core_checks.hpp"

#include <leasehold/diagnostics.hpp>

#include <boost/asio/bind_executor.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;
using kind = recording_observer::kind;

namespace {

const std::string refusal = "MISCONF Redis is configured to save RDB snapshots";

std::shared_ptr<const diagnostics> said(std::string words)
{
    return std::make_shared<diagnostics>(diagnostics{.server_message = std::move(words)});
}

std::shared_ptr<const diagnostics> held_by(std::string holder)
{
    return std::make_shared<diagnostics>(diagnostics{.holder = std::move(holder)});
}

/// Without an observer, with callers that want details.
struct unobserved_fixture : core_fixture
{
    unobserved_fixture() : core_fixture(false)
    {
        core = detail::client_state::make(context.get_executor(), store, nullptr,
                                          time.make_source());
        run();
        connect();
    }
};

/// As `core_fixture::lock`, with details.
std::shared_ptr<core_fixture::locking> lock(core_fixture& e, const detail::spec_ptr& spec,
                                            diagnostics& details,
                                            clock::duration limit = clock::duration::max(),
                                            owner under = {})
{
    auto op = e.make<core_fixture::locking>();
    op->start([&](auto handler) {
        core_fixture::start_lock(std::move(handler), spec, std::move(under), limit, &details);
    });
    e.poll();
    return op;
}

std::shared_ptr<core_fixture::waiting> wait_lost(core_fixture& e, lease& held, diagnostics& details)
{
    auto op = e.make<core_fixture::waiting>();
    op->start([&](auto handler) { held.async_wait_lost(details, std::move(handler)); });
    e.poll();
    return op;
}

std::shared_ptr<core_fixture::waiting> release(core_fixture& e, lease held, diagnostics& details)
{
    auto op = e.make<core_fixture::waiting>();
    op->start([&](auto handler) { held.async_release(details, std::move(handler)); });
    e.poll();
    return op;
}

void say_held_by(core_fixture& e, const std::string& holder)
{
    e.store->complete_acquire(
        e.store->acquire_count() - 1, {},
        {.result = acquire_reply::outcome::held, .remaining = 10s, .details = held_by(holder)});
    e.poll();
}

void refuse_acquire(core_fixture& e, error_code why, const std::string& words)
{
    e.store->complete_acquire(e.store->acquire_count() - 1, why, {.details = said(words)});
    e.poll();
}

void refuse_renewal(core_fixture& e, error_code why, const std::string& words)
{
    e.store->complete_renew(e.store->renew_count() - 1, why, {{}, said(words)});
    e.poll();
}

void refuse_release(core_fixture& e, error_code why, const std::string& words)
{
    e.store->complete_release(e.store->release_count() - 1, why, {.details = said(words)});
    e.poll();
}

void disconnect(core_fixture& e, error_code why, const std::string& words)
{
    e.store->explain(why, {.server_message = words});
    e.disconnect(why);
}

} // namespace

BOOST_AUTO_TEST_SUITE(core_diagnostics)

BOOST_AUTO_TEST_CASE(failed_try_reports_the_holder)
{
    unobserved_fixture e;
    e.store->server = "10.1.2.3:6379";
    diagnostics details{.server_message = "of an earlier operation"};
    const auto op = lock(e, e.spec("a"), details, 0s);
    BOOST_TEST(e.last_acquire().needs_holder);
    e.advance(25ms);
    say_held_by(e, "5e0f8c21");
    BOOST_TEST(code(*op) == errc::held);
    BOOST_TEST((details == diagnostics{.server = "10.1.2.3:6379",
                                       .key = "a",
                                       .holder = "5e0f8c21",
                                       .waited = 25ms,
                                       .attempts = 1}));
}

BOOST_AUTO_TEST_CASE(holder_is_requested_only_while_an_operation_wants_details)
{
    unobserved_fixture e;
    const auto op = e.lock("a");
    BOOST_TEST(!e.last_acquire().needs_holder);
    e.say_held();
    diagnostics details;
    const auto curious = lock(e, e.spec("a"), details);
    e.advance(5s);
    BOOST_TEST(e.last_acquire().needs_holder);
    e.say_held();
    curious->cancel();
    e.advance(5s);
    BOOST_TEST(!e.last_acquire().needs_holder);
    e.grant();
    BOOST_TEST(code(*op) == error_code());
}

BOOST_AUTO_TEST_CASE(observer_gets_the_holder_of_a_failed_try)
{
    core_fixture e;
    const auto op = e.lock(e.spec("a"), 0s);
    BOOST_TEST(e.last_acquire().needs_holder);
    say_held_by(e, "5e0f8c21");
    BOOST_TEST(code(*op) == errc::held);
    const auto seen = e.seen->events(kind::not_acquired).at(0);
    BOOST_TEST(seen.details.key == "a");
    BOOST_TEST(seen.details.holder == "5e0f8c21");
}

BOOST_AUTO_TEST_CASE(timed_out_wait_reports_the_holder_and_its_attempts)
{
    unobserved_fixture e;
    diagnostics details;
    const auto op = lock(e, e.spec("a", {.backoff_floor = 100ms, .backoff_ceiling = 100ms}),
                         details, 1s);
    say_held_by(e, "11111111");
    unsigned answers = 1;
    while (!op->done()) {
        const auto asked = e.store->acquire_count();
        e.advance(10ms);
        if (e.store->acquire_count() == asked)
            continue;
        say_held_by(e, "22222222");
        ++answers;
    }
    BOOST_TEST(code(*op) == errc::timed_out);
    BOOST_TEST(details.holder == "22222222");
    BOOST_TEST((details.waited == 1s));
    BOOST_TEST(details.attempts == answers);
    BOOST_TEST(answers > 5u);
}

namespace {

const client_info info{.host = "web-3", .program = "orders", .version = "1", .pid = 4711};

std::shared_ptr<fake_store> describing_store()
{
    auto made = std::make_shared<fake_store>();
    made->can.describes_holders = true;
    return made;
}

} // namespace

BOOST_AUTO_TEST_CASE(try_waits_for_the_info_of_an_unknown_holder)
{
    core_fixture e(describing_store());
    diagnostics details;
    const auto op = lock(e, e.spec("a"), details, 0s);
    say_held_by(e, "5e0f8c21");
    BOOST_TEST(!op->done());
    BOOST_TEST(e.store->described() == std::vector<std::string>{"5e0f8c21"});
    e.store->describe(info);
    e.poll();
    BOOST_TEST(code(*op) == errc::held);
    BOOST_TEST((details.holder_info == info));
    // The info of this holder is known now.
    const auto again = lock(e, e.spec("b"), details, 0s);
    say_held_by(e, "5e0f8c21");
    BOOST_TEST(code(*again) == errc::held);
    BOOST_TEST((details.holder_info == info));
    BOOST_TEST(e.store->described().size() == 1u);
}

BOOST_AUTO_TEST_CASE(try_waits_briefly_and_rarely_for_holder_info)
{
    core_fixture e(describing_store());
    diagnostics details;
    const auto op = lock(e, e.spec("a"), details, 0s);
    say_held_by(e, "5e0f8c21");
    e.advance(99ms);
    BOOST_TEST(!op->done());
    e.advance(1ms);
    BOOST_TEST(code(*op) == errc::held);
    BOOST_TEST(details.holder == "5e0f8c21");
    BOOST_TEST(details.holder_info.empty());
    e.store->describe({}); // too late, and empty
    e.poll();
    e.advance(9s);
    const auto soon = lock(e, e.spec("a"), details, 0s);
    say_held_by(e, "5e0f8c21");
    BOOST_TEST(code(*soon) == errc::held);
    e.advance(1s);
    const auto later = lock(e, e.spec("a"), details, 0s);
    say_held_by(e, "5e0f8c21");
    BOOST_TEST(!later->done());
    BOOST_TEST(e.store->described().size() == 2u);
    // A waiter that is cancelled meanwhile completes at once, and has nothing to release.
    later->cancel();
    e.poll();
    BOOST_TEST(code(*later) == aborted);
    e.store->describe(info);
    e.poll();
    e.advance(1s);
    BOOST_TEST(e.store->release_count() == 0u);
}

BOOST_AUTO_TEST_CASE(wait_requests_holder_info_without_delaying_any_operation)
{
    core_fixture e(describing_store());
    diagnostics details;
    const auto op = lock(e, e.spec("a"), details, 1s);
    const auto unlimited = e.lock("a");
    say_held_by(e, "5e0f8c21");
    const auto tried = e.lock(e.spec("a"), 0s);
    BOOST_TEST(code(*tried) == errc::held);
    e.store->describe(info);
    e.poll();
    e.advance(1s);
    BOOST_TEST(code(*op) == errc::timed_out);
    BOOST_TEST((details.holder_info == info));
    BOOST_TEST(!unlimited->done());
    BOOST_TEST(e.store->described().size() == 1u);
}

// One request serves all waiters, including those that came after it was sent.
BOOST_AUTO_TEST_CASE(attempts_count_from_the_start_of_the_operation)
{
    unobserved_fixture e;
    const auto first = e.lock("a");
    e.say_held_and_wait(10s);
    BOOST_TEST_REQUIRE(e.store->acquire_count() == 2u);
    diagnostics details;
    const auto late = lock(e, e.spec("a"), details);
    e.say_held();
    late->cancel();
    e.poll();
    BOOST_TEST(code(*late) == aborted);
    BOOST_TEST(details.attempts == 1u);
    diagnostics latest_details;
    const auto latest = lock(e, e.spec("a"), latest_details);
    latest->cancel();
    e.poll();
    BOOST_TEST(code(*latest) == aborted);
    BOOST_TEST(latest_details.attempts == 0u);
    BOOST_TEST(!first->done());
}

// The client knows its own leases without the store.
BOOST_AUTO_TEST_CASE(lock_of_this_client_names_this_client_as_holder)
{
    unobserved_fixture e;
    lease held = e.taken(e.spec("a"));
    const std::string id = e.core->id();
    BOOST_TEST(id.size() == 8u);
    BOOST_TEST(held.share_owner().id().starts_with(id + '-'));
    diagnostics tried;
    BOOST_TEST(code(*lock(e, e.spec("a"), tried, 0s)) == errc::held);
    BOOST_TEST(tried.holder == id);
    diagnostics waited;
    const auto op = lock(e, e.spec("a"), waited, 1s);
    e.advance(1s);
    BOOST_TEST(code(*op) == errc::timed_out);
    BOOST_TEST(waited.holder == id);
    // Until another client acquires the lock.
    diagnostics after;
    const auto last = lock(e, e.spec("a", {.lease_time = 20s}), after);
    e.release(std::move(held));
    e.say_freed();
    say_held_by(e, "22222222");
    last->cancel();
    e.poll();
    BOOST_TEST(code(*last) == aborted);
    BOOST_TEST(after.holder == "22222222");
}

// With the complete owner token, another program could acquire the lock.
BOOST_AUTO_TEST_CASE(holder_is_shown_by_the_start_of_its_owner_token_only)
{
    unobserved_fixture e;
    diagnostics details;
    const auto op = lock(e, e.spec("a"), details, 0s);
    say_held_by(e, "5e0f8c21-3a1c-4a50-9cd4-0b8a5d4e7f10:17");
    BOOST_TEST(code(*op) == errc::held);
    BOOST_TEST(details.holder == "5e0f8c21");
}

BOOST_AUTO_TEST_CASE(rejected_request_reports_the_message_of_the_server)
{
    unobserved_fixture e;
    diagnostics wrong;
    const auto op = lock(e, e.spec("a"), wrong);
    refuse_acquire(e, errc::wrong_type, "WRONGTYPE the key a holds string, a lock is a hash");
    BOOST_TEST(code(*op) == errc::wrong_type);
    BOOST_TEST(wrong.server_message == "WRONGTYPE the key a holds string, a lock is a hash");
    BOOST_TEST(wrong.attempts == 1u);

    diagnostics limited;
    const auto waiting = lock(e, e.spec("b"), limited, 100ms);
    refuse_acquire(e, errc::store_refused, refusal);
    BOOST_TEST(!waiting->done());
    e.advance(100ms);
    BOOST_TEST_REQUIRE(waiting->done());
    BOOST_TEST(code(*waiting) == errc::store_refused);
    BOOST_TEST(limited.server_message == refusal);
    BOOST_TEST(!limited.cause); // the cause is the error itself
    BOOST_TEST((limited.waited == 100ms));
}

// The handler of a cancelled wait gets the reason why the wait took so long.
BOOST_AUTO_TEST_CASE(cancelled_wait_reports_the_last_failure)
{
    unobserved_fixture e;
    diagnostics details;
    const auto op = lock(e, e.spec("a", {.backoff_floor = 60s, .backoff_ceiling = 60s}), details);
    refuse_acquire(e, errc::store_refused, refusal);
    e.advance(3s);
    op->cancel();
    e.poll();
    BOOST_TEST(code(*op) == aborted);
    BOOST_TEST((details.cause == errc::store_refused));
    BOOST_TEST(details.server_message == refusal);
    BOOST_TEST((details.waited == 3s));
}

BOOST_AUTO_TEST_CASE(message_about_a_key_does_not_explain_a_lost_connection)
{
    unobserved_fixture e;
    e.store->explain(errc::store_refused, {.key = "b", .server_message = refusal});
    e.poll();
    e.disconnect(errc::store_refused);
    diagnostics details;
    BOOST_TEST(code(*lock(e, e.spec("a"), details, 0s)) == errc::store_refused);
    BOOST_TEST(details.server_message == "");
}

BOOST_AUTO_TEST_CASE(unavailable_store_is_reported_with_its_last_message)
{
    unobserved_fixture e;
    e.store->server = "10.1.2.3:6379";
    disconnect(e, errc::store_refused, "LOADING Redis is loading the dataset in memory");
    diagnostics details;
    BOOST_TEST(code(*lock(e, e.spec("a"), details, 0s)) == errc::store_refused);
    BOOST_TEST(details.server == "10.1.2.3:6379");
    BOOST_TEST(details.server_message == "LOADING Redis is loading the dataset in memory");
    const auto op = lock(e, e.spec("a"), details, 1s);
    e.advance(1s);
    BOOST_TEST(code(*op) == errc::store_unavailable);
    BOOST_TEST(details.server_message == "LOADING Redis is loading the dataset in memory");
    BOOST_TEST(details.attempts == 0u);
    // The message belongs to that cause, and is dropped with it.
    e.disconnect(errc::store_unavailable);
    BOOST_TEST(code(*lock(e, e.spec("a"), details, 0s)) == errc::store_unavailable);
    BOOST_TEST(details.server_message == "");
    disconnect(e, errc::store_refused, "LOADING Redis is loading the dataset in memory");
    e.connect();
    const auto served = lock(e, e.spec("a"), details, 1s);
    e.advance(1s);
    BOOST_TEST(code(*served) == errc::outcome_unknown);
    BOOST_TEST(details.server_message == "");
}

// The store is still connecting and has not reported a disconnection.
BOOST_AUTO_TEST_CASE(message_before_the_first_connection_is_reported)
{
    core_fixture e(false);
    e.run();
    e.store->explain(errc::store_refused, {.server_message = refusal});
    e.poll();
    diagnostics details;
    const auto op = lock(e, e.spec("a"), details, 1s);
    e.advance(1s);
    BOOST_TEST(code(*op) == errc::store_unavailable);
    BOOST_TEST(details.server_message == refusal);
}

BOOST_AUTO_TEST_CASE(success_clears_the_details)
{
    unobserved_fixture e;
    diagnostics details{.key = "of an earlier operation"};
    const auto op = lock(e, e.spec("a"), details);
    say_held_by(e, "5e0f8c21");
    e.advance(10s);
    e.grant();
    BOOST_TEST(code(*op) == error_code());
    BOOST_TEST(details.empty());
    details.key = "of an earlier operation";
    const auto out = release(e, std::move(op->value<1>()), details);
    e.say_freed();
    BOOST_TEST(code(*out) == error_code());
    BOOST_TEST(details.empty());
}

BOOST_AUTO_TEST_CASE(operation_that_cannot_start_names_its_key)
{
    core_fixture e(false);
    diagnostics details;
    BOOST_TEST(code(*lock(e, e.spec("a"), details)) == errc::not_running);
    BOOST_TEST((details == diagnostics{.key = "a"}));
}

BOOST_AUTO_TEST_CASE(failed_reentrant_acquisition_reports_the_message_of_the_server)
{
    unobserved_fixture e;
    const owner other("5e0f8c21-3a1c-4a50-9cd4-0b8a5d4e7f10:17", 42);
    diagnostics details;
    const auto op = lock(e, e.spec("a"), details, 1s, other);
    refuse_acquire(e, errc::store_refused, refusal);
    e.advance(1s);
    BOOST_TEST(code(*op) == errc::store_refused);
    BOOST_TEST(details.key == "a");
    BOOST_TEST(details.server_message == refusal);
    BOOST_TEST((details.waited == 1s));
    BOOST_TEST(details.attempts == e.store->acquire_count());
    BOOST_TEST(details.holder == "");

    const auto wrong = lock(e, e.spec("a"), details, 1s, other);
    refuse_acquire(e, errc::wrong_type, "WRONGTYPE");
    BOOST_TEST(code(*wrong) == errc::wrong_type);
    BOOST_TEST(details.server_message == "WRONGTYPE");
    BOOST_TEST(details.attempts == 1u);

    const auto gone = lock(e, e.spec("a"), details, 1s, other);
    e.say(acquire_reply::outcome::gone);
    BOOST_TEST(code(*gone) == errc::lost);
    BOOST_TEST((details == diagnostics{.key = "a", .attempts = 1}));

    disconnect(e, errc::permission_denied, "NOPERM this user has no permissions");
    BOOST_TEST(code(*lock(e, e.spec("a"), details, 1s, other)) == errc::permission_denied);
    BOOST_TEST(details.server_message == "NOPERM this user has no permissions");
}

BOOST_AUTO_TEST_CASE(failed_release_reports_the_message_of_the_server)
{
    unobserved_fixture e;
    e.renew_all_when_asked = true;
    diagnostics details;
    const auto op = release(e, e.taken(e.spec("a", {.lease_time = 200ms})), details);
    while (!op->done()) {
        refuse_release(e, errc::store_refused, refusal);
        const auto asked = e.store->release_count();
        // In small steps, because a step that both sends a request and reaches the limit would
        // leave its outcome unknown.
        while (!op->done() && e.store->release_count() == asked)
            e.advance(20us);
    }
    BOOST_TEST(code(*op) == errc::store_refused);
    BOOST_TEST(details.key == "a");
    BOOST_TEST(!details.cause); // the cause is the error itself
    BOOST_TEST(details.server_message == refusal);
    BOOST_TEST((details.waited == 200ms));
    BOOST_TEST(details.attempts == e.store->release_count());

    const auto denied = release(e, e.taken(e.spec("b")), details);
    refuse_release(e, errc::permission_denied, "NOPERM");
    BOOST_TEST(code(*denied) == errc::permission_denied);
    BOOST_TEST(details.server_message == "NOPERM");
    BOOST_TEST(details.attempts == 1u);

    // A request without a reply has no message.
    const auto silent = release(e, e.taken(e.spec("c", {.lease_time = 6s})), details);
    refuse_release(e, errc::store_refused, refusal);
    e.advance(6s);
    BOOST_TEST(code(*silent) == errc::outcome_unknown);
    BOOST_TEST(details.server_message == "");
}

// The release may fail for another reason than the earlier loss of the lease.
BOOST_AUTO_TEST_CASE(release_reports_the_details_of_its_own_error)
{
    enum : int
    {
        freed,
        not_owner,
        given_up,
    };
    for (const int end : {freed, not_owner, given_up}) {
        unobserved_fixture e;
        lease held = e.taken(e.spec("a", {.lease_time = 120s}));
        disconnect(e, errc::store_refused, refusal);
        e.advance(120s - 1200ms); // the key outlives the lease by the margin for clock drift
        BOOST_TEST(!held.valid());
        e.connect();
        diagnostics details;
        const auto out = release(e, std::move(held), details);
        BOOST_TEST_REQUIRE(e.store->release_count() == 1u);
        switch (end) {
        case freed: e.say_freed(); break;
        case not_owner: e.say_released(release_reply::outcome::not_owner); break;
        case given_up: e.shutdown(); e.advance(5s);
        }
        BOOST_TEST_REQUIRE(out->done());
        BOOST_TEST(details.key == "a");
        if (end == freed) {
            BOOST_TEST(code(*out) == errc::expired);
            BOOST_TEST((details.cause == errc::store_unavailable));
            BOOST_TEST(details.server_message == refusal);
            continue;
        }
        BOOST_TEST((code(*out) == (end == not_owner ? errc::not_owner : errc::shut_down)));
        BOOST_TEST(details.server_message == "");
        BOOST_TEST(details.attempts == e.store->release_count());
    }
}

// Failed renewals are the cause. Their replies are no longer available by then.
BOOST_AUTO_TEST_CASE(lost_lease_reports_the_failures_of_its_renewals)
{
    core_fixture e;
    lease held = e.taken(e.spec("a", {.lease_time = 12s}));
    diagnostics details;
    const auto lost = wait_lost(e, held, details);
    e.advance(4s);
    BOOST_TEST_REQUIRE(e.store->renew_count() == 1u);
    refuse_renewal(e, errc::store_refused, "BUSY Redis is busy running a script");
    const auto first_failure = e.time.now();
    unsigned failures = 1;
    while (!lost->done()) {
        const auto sent = e.store->renew_count();
        e.advance(10ms);
        if (e.store->renew_count() == sent)
            continue;
        refuse_renewal(e, errc::store_refused, refusal);
        ++failures;
    }
    BOOST_TEST(code(*lost) == errc::expired);
    const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(e.time.now() -
                                                                             first_failure);
    BOOST_TEST(failures > 3u);
    BOOST_TEST(details.key == "a");
    BOOST_TEST((details.cause == errc::store_refused));
    BOOST_TEST(details.server_message == refusal);
    BOOST_TEST(details.attempts == failures);
    BOOST_TEST((details.waited <= since && details.waited > since - 20ms));
    BOOST_TEST((e.seen->events(kind::lost).at(0).details == details));

    // A later call reports the same, and so does a release.
    diagnostics late;
    BOOST_TEST(code(*wait_lost(e, held, late)) == errc::expired);
    BOOST_TEST(late.server_message == refusal);
    diagnostics released;
    const auto out = release(e, std::move(held), released);
    e.say_freed();
    BOOST_TEST(code(*out) == errc::expired);
    BOOST_TEST(released.server_message == refusal);
    BOOST_TEST((released.cause == errc::store_refused));
}

BOOST_AUTO_TEST_CASE(lease_lost_without_a_connection_reports_the_cause)
{
    unobserved_fixture e;
    lease held = e.taken(e.spec("a", {.lease_time = 3s}));
    diagnostics details;
    const auto lost = wait_lost(e, held, details);
    disconnect(e, errc::store_refused, "LOADING Redis is loading the dataset in memory");
    e.advance(3s);
    BOOST_TEST(code(*lost) == errc::expired);
    BOOST_TEST((details.cause == errc::store_unavailable));
    BOOST_TEST(details.server_message == "LOADING Redis is loading the dataset in memory");
    // So does a release whose reply is outstanding.
    e.connect();
    diagnostics released;
    const auto out = release(e, std::move(held), released);
    BOOST_TEST_REQUIRE(e.store->release_count() == 1u);
    e.say_freed();
    BOOST_TEST(code(*out) == errc::expired);
    BOOST_TEST((released.cause == details.cause));
    BOOST_TEST(released.server_message == details.server_message);
}

BOOST_AUTO_TEST_CASE(confirmed_renewal_clears_the_details_of_failed_ones)
{
    unobserved_fixture e;
    lease held = e.taken(e.spec("a", {.lease_time = 12s}));
    diagnostics details;
    const auto lost = wait_lost(e, held, details);
    e.advance(4s);
    refuse_renewal(e, errc::store_refused, refusal);
    e.advance(2s);
    BOOST_TEST_REQUIRE(e.store->renew_count() == 2u);
    e.renew_all();
    e.advance(4s);
    BOOST_TEST_REQUIRE(e.store->renew_count() == 3u);
    e.renew_all(renewal_result::gone);
    BOOST_TEST(code(*lost) == errc::lost);
    BOOST_TEST((details == diagnostics{.key = "a"}));
}

// The thread of the caller reads the details, so nothing is written before the handler runs.
BOOST_AUTO_TEST_CASE(details_are_set_where_the_handler_runs)
{
    unobserved_fixture e;
    asio::io_context elsewhere;
    diagnostics details;
    std::string seen;
    core_fixture::start_lock(asio::bind_executor(elsewhere.get_executor(),
                                                 [&](error_code, lease) { seen = details.key; }),
                             e.spec("a"), {}, 0s, &details);
    e.poll();
    say_held_by(e, "5e0f8c21");
    BOOST_TEST(details.empty());
    elsewhere.run();
    BOOST_TEST(seen == "a");
}

BOOST_AUTO_TEST_SUITE_END()
