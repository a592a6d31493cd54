// Tests of the test doubles: each detects the errors for which it was made.
#include <boost/test/unit_test.hpp>

#include "support/completion.hpp"
#include "support/counting_allocator.hpp"
#include "support/counting_listener.hpp"
#include "support/fake_store.hpp"
#include "support/initiation_guard.hpp"
#include "support/recording_observer.hpp"
#include "support/run.hpp"
#include "support/tracker_executor.hpp"

#include <leasehold/testing/store_session.hpp>

#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;
using granted_t = acquire_reply::outcome;

} // namespace

BOOST_AUTO_TEST_SUITE(executor)

BOOST_AUTO_TEST_CASE(tracker_executor_counts_and_detects_where_it_runs)
{
    asio::io_context context;
    const tracker_executor one(context.get_executor());
    const tracker_executor two(context.get_executor());
    BOOST_TEST((one != two));
    BOOST_TEST((one == tracker_executor(one)));
    std::vector<bool> seen;
    asio::post(one, [&] { seen = {one.running_here(), two.running_here()}; });
    BOOST_TEST(one.submissions() == 1u);
    BOOST_TEST(two.submissions() == 0u);
    context.run();
    BOOST_TEST(seen == (std::vector<bool>{true, false}), boost::test_tools::per_element());
    BOOST_TEST(!one.running_here());

    // Type-erased, with properties, below a strand, and from inside another executor.
    asio::any_io_executor erased = one;
    asio::post(asio::require(erased, asio::execution::blocking.never), [&] {
        asio::dispatch(two, [&] { seen = {one.running_here(), two.running_here()}; });
    });
    context.restart();
    context.run();
    BOOST_TEST(seen == (std::vector<bool>{true, true}), boost::test_tools::per_element());
    seen.clear();
    asio::post(asio::make_strand(erased), [&] { seen = {one.running_here()}; });
    asio::steady_timer timer(one, 1ms);
    timer.async_wait([&](error_code) { seen.push_back(one.running_here()); });
    context.restart();
    context.run();
    BOOST_TEST(seen == (std::vector<bool>{true, true}), boost::test_tools::per_element());
    BOOST_TEST(one.submissions() >= 4u);
}

BOOST_AUTO_TEST_CASE(exception_leaves_no_frame_of_a_tracker_executor)
{
    asio::io_context context;
    const tracker_executor executor(context.get_executor());
    asio::post(executor, [] { throw 7; });
    BOOST_CHECK_THROW(context.run(), int);
    BOOST_TEST(!executor.running_here());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(counting_allocator_counts_live_allocations)
{
    const counting_allocator<> allocator;
    {
        const std::vector<int, counting_allocator<int>> values(100, 7, allocator);
        BOOST_TEST(values.size() == 100u);
        BOOST_TEST(allocator.live() == 1u);
        BOOST_TEST(allocator.live_bytes() >= 100 * sizeof(int));
        BOOST_TEST((values.get_allocator() == allocator));
        BOOST_TEST((counting_allocator<int>() != allocator));
    }
    BOOST_TEST(allocator.allocations() == 1u);
    BOOST_TEST(allocator.live() == 0u);
    BOOST_TEST(allocator.live_bytes() == 0u);
}

BOOST_AUTO_TEST_CASE(initiation_guard_detects_only_calls_inside_it)
{
    std::optional<initiation_guard::probe_t> probe;
    {
        const initiation_guard guard;
        probe = guard.probe();
        BOOST_TEST(probe->inside());
        bool elsewhere = true;
        std::thread([&] { elsewhere = probe->inside(); }).join();
        BOOST_TEST(!elsewhere);
    }
    BOOST_TEST(!probe->inside());
}

BOOST_AUTO_TEST_SUITE(completions)

BOOST_AUTO_TEST_CASE(proper_operation_is_recorded_as_proper)
{
    asio::io_context context;
    asio::steady_timer timer(context, 1ms);
    completion<error_code> got(context.get_executor());
    got.start([&](auto token) { timer.async_wait(std::move(token)); });
    BOOST_TEST(!got.done());
    BOOST_TEST(!got.handler_gone());
    BOOST_CHECK_THROW(got.value<0>(), std::logic_error);
    run_until(context, [&] { return got.done(); });
    BOOST_TEST(!got.value<0>().failed());
    BOOST_TEST(got.proper());
    BOOST_TEST(got.handler_gone());
    BOOST_TEST(got.allocator().allocations() > 0u);
    BOOST_TEST(got.allocator().live() == 0u);
}

BOOST_AUTO_TEST_CASE(operation_is_cancelled_through_its_slot)
{
    asio::io_context context;
    asio::steady_timer timer(context, 1h);
    completion<error_code> got(context.get_executor());
    got.start([&](auto token) { timer.async_wait(std::move(token)); });
    got.cancel();
    run_until(context, [&] { return got.done(); });
    BOOST_TEST((got.value<0>() == asio::error::operation_aborted));
    BOOST_TEST(got.proper());
}

BOOST_AUTO_TEST_CASE(improper_operation_is_detected)
{
    asio::io_context context;
    completion<int> inside(context.get_executor());
    inside.start([](auto token) { token(1); });
    BOOST_TEST(inside.inside_initiation());
    BOOST_TEST(inside.off_executor());
    BOOST_TEST(!inside.proper());

    completion<int> twice(context.get_executor());
    twice.start([](auto token) {
        asio::post(token.get_executor(), [token]() mutable {
            token(1);
            token(2);
        });
    });
    context.run();
    BOOST_TEST(twice.calls() == 2);
    BOOST_TEST(!twice.off_executor());
    BOOST_TEST(!twice.proper());

    completion<int> hoarder(context.get_executor());
    hoarder.start([](auto token) {
        asio::post(token.get_executor(), [token]() mutable {
            const std::vector<int, counting_allocator<int>> memory(1, 0, token.get_allocator());
            token(memory.front());
        });
    });
    context.restart();
    context.run();
    BOOST_TEST(!hoarder.inside_initiation());
    BOOST_TEST(!hoarder.off_executor());
    BOOST_TEST(!hoarder.proper());

    completion<int> dropped(context.get_executor());
    dropped.start([](auto) {});
    BOOST_TEST(dropped.handler_gone());
    BOOST_TEST(!dropped.done());
}

BOOST_AUTO_TEST_CASE(completion_works_through_adapters_and_type_erasure)
{
    asio::io_context context;
    asio::steady_timer timer(context, 1h);
    completion<error_code> got(context.get_executor());
    got.start([&](auto token) { timer.async_wait(asio::cancel_after(1ms, std::move(token))); });
    run_until(context, [&] { return got.done(); });
    BOOST_TEST((got.value<0>() == asio::error::operation_aborted));
    BOOST_TEST(!got.inside_initiation());
    BOOST_TEST(!got.off_executor());

    completion<error_code> erased(context.get_executor());
    timer.expires_after(1ms);
    erased.start([&](auto token) {
        timer.async_wait(asio::any_completion_handler<void(error_code)>(std::move(token)));
    });
    run_until(context, [&] { return erased.done(); });
    BOOST_TEST(erased.proper());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(recording_observer_records_every_event)
{
    using kind = recording_observer::kind;
    recording_observer seen;
    observer& told = seen;
    std::thread other([&] {
        told.connected();
        told.acquired("a", 7, 5ms, true);
        told.not_acquired("b", errc::held, 6ms, {});
        told.waiting("b", 7ms);
        told.suspect_expiry("b", 8ms);
        told.renewed("a", 7, 9ms, 20s);
        told.renewal_late("a", 7, errc::store_refused, 10ms);
        told.lost("a", 7, 10ms, errc::expired, {});
        told.released("a", 7, 11ms);
        told.disconnected(errc::store_unavailable);
    });
    seen.wait_for(kind::disconnected);
    other.join();
    BOOST_TEST(seen.events().size() == 10u);
    const auto acquired = seen.events(kind::acquired).at(0);
    BOOST_TEST((acquired.name == "a" && acquired.fence == 7 && acquired.time == 5ms &&
                acquired.handed_off));
    BOOST_TEST((seen.events(kind::lost).at(0).code == errc::expired));
    BOOST_TEST((seen.events(kind::waiting).at(0).time == 7ms));
    BOOST_TEST(seen.count(kind::renewed) == 1u);
    BOOST_CHECK_THROW(seen.wait_for(kind::renewed, 2, 1ms), std::runtime_error);
    seen.clear();
    BOOST_TEST(seen.events().empty());
}

BOOST_AUTO_TEST_SUITE(scripted_store)

struct opened
{
    asio::io_context context;
    std::shared_ptr<fake_store> fake = std::make_shared<fake_store>();
    std::optional<testing::store_session> session{std::in_place, context, fake};

    acquire_request request{
        .name = "n", .owner = "o", .entry = {}, .lease = 1s, .fences = 3, .budget = 2s};

    template <class Reply>
    struct result
    {
        int calls = 0;
        error_code code;
        Reply reply;
        std::thread::id thread;
    };

    template <class Reply>
    auto into(result<Reply>& out)
    {
        return [&out](error_code code, Reply reply) {
            ++out.calls;
            out.code = code;
            out.reply = std::move(reply);
            out.thread = std::this_thread::get_id();
        };
    }
};

BOOST_FIXTURE_TEST_CASE(fake_store_gives_the_replies_of_the_test, opened)
{
    result<acquire_reply> first, second;
    session->on_the_strand([&] {
        fake->async_acquire(request, into(first));
        fake->async_acquire(request, into(second));
        fake->grant(0, 41, 3); // not inline, even inside a call
        BOOST_TEST(first.calls == 0);
    });
    run_until(context, [&] { return first.calls == 1; });
    BOOST_TEST((first.reply.result == granted_t::granted && first.reply.first_fence == 41 &&
                first.reply.fences == 3));
    BOOST_TEST(fake->acquire_count() == 2u);
    BOOST_TEST(fake->pending() == 1u);
    const auto call = fake->acquires().at(1);
    BOOST_TEST((call.name == "n" && call.owner == "o" && call.entry.empty() && call.lease == 1s &&
                call.fences == 3 && call.budget == 2s && !call.answered));
    BOOST_CHECK_THROW(fake->grant(0, 1), std::logic_error);
    BOOST_CHECK_THROW(fake->grant(2, 1), std::logic_error);
    fake->say_held(1, 300ms);
    run_until(context, [&] { return second.calls == 1; });
    BOOST_TEST((second.reply.result == granted_t::held && second.reply.remaining == 300ms));
    BOOST_TEST(second.calls == 1);

    result<renew_reply> renewed;
    result<release_reply> released;
    const renewal batch[] = {{"n", "o", 1s}, {"m", "p", 2s}};
    session->on_the_strand([&] {
        fake->async_renew(batch, into(renewed));
        fake->async_release({.name = "n", .owner = "o", .entry = "e"}, into(released));
    });
    fake->renew_all(0);
    fake->complete_release(0, errc::store_refused);
    run_until(context, [&] { return renewed.calls == 1 && released.calls == 1; });
    BOOST_TEST((renewed.reply.results == std::vector<renewal_result>(2, renewal_result::renewed)));
    BOOST_TEST((released.code == errc::store_refused));
    BOOST_TEST(fake->renewals().at(0).locks.at(1).name == "m");
    BOOST_TEST(fake->releases().at(0).entry == "e");
    BOOST_TEST(fake->pending() == 0u);
    BOOST_TEST(fake->misuse() == "");
}

BOOST_FIXTURE_TEST_CASE(fake_store_notifies_its_listener_on_the_strand, opened)
{
    fake->connect();
    fake->wakeup("n");
    fake->disconnect(errc::store_unavailable);
    BOOST_TEST(session->connected == 0);
    run_until(context, [&] { return session->disconnected == 1; });
    BOOST_TEST(session->connected == 1);
    BOOST_TEST(session->wakeups.at(0) == "n");
    BOOST_TEST(!session->listener_misused);
    session->watch("a");
    session->watch("b");
    session->unwatch("a");
    BOOST_TEST((fake->watched() == std::set<std::string, std::less<>>{"b"}));
    BOOST_TEST(fake->watches().size() == 3u);
    BOOST_TEST(!fake->watches().at(2).begin);
}

BOOST_FIXTURE_TEST_CASE(fake_store_completes_all_calls_at_close, opened)
{
    result<acquire_reply> pending, late;
    session->on_the_strand([&] {
        fake->async_acquire(request, into(pending));
        fake->wakeup("n");
        fake->close();
    });
    session->close();
    run_until(context, [&] { return pending.calls == 1; });
    BOOST_TEST((pending.code == errc::outcome_unknown));
    session->on_the_strand([&] { fake->async_acquire(request, into(late)); });
    run_until(context, [&] { return late.calls == 1; });
    BOOST_TEST((late.code == errc::store_unavailable));
    fake->wakeup("n");
    fake->connect();
    context.restart();
    context.poll();
    BOOST_TEST(session->wakeups.empty());
    BOOST_TEST(session->connected == 0);
    BOOST_TEST(!session->listener_misused);
    BOOST_TEST(fake->is_closed());
}

BOOST_FIXTURE_TEST_CASE(fake_store_can_keep_calls_at_close, opened)
{
    result<release_reply> pending;
    fake->keep_at_close();
    session->on_the_strand(
        [&] { fake->async_release({.name = "n", .owner = "o", .entry = {}}, into(pending)); });
    session->close();
    context.restart();
    context.poll();
    BOOST_TEST(pending.calls == 0);
    fake->say_freed(0, 2);
    run_until(context, [&] { return pending.calls == 1; });
    BOOST_TEST(pending.reply.receivers == 2u);
}

BOOST_FIXTURE_TEST_CASE(fake_store_detects_calls_off_the_strand, opened)
{
    fake->watch("n");
    BOOST_TEST(fake->misuse().find("watch off the strand") != std::string::npos);
    session->on_the_strand([&] {
        request.owner = {};
        fake->async_acquire(request, [](error_code, acquire_reply) {});
    });
    BOOST_TEST(fake->misuse().find("out of range") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(handlers_of_the_fake_store_end_with_their_context)
{
    const auto fake = std::make_shared<fake_store>();
    counting_listener listener;
    const auto held = std::make_shared<int>();
    {
        asio::io_context context;
        fake->open(asio::make_strand(context), listener);
        asio::post(context, [&] {
            fake->async_release({.name = "n", .owner = "o", .entry = {}},
                                [held](error_code, release_reply) {});
        });
        context.run();
        BOOST_TEST(held.use_count() == 2);
    }
    BOOST_TEST(held.use_count() == 1);
    fake->wakeup("n");
    BOOST_CHECK_THROW(fake->say_freed(0), std::logic_error);
}

BOOST_AUTO_TEST_SUITE_END()
