// The keep-alive of a lease: an asynchronous operation that its cancellation slot ends.
#include <boost/test/unit_test.hpp>

#include "support/core_checks.hpp"

#include "core/lease/watchdog.hpp"

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;

namespace {

using detail::ownership;
using detail::ownership_ptr;

/// A watchdog on its own strand. It records the completions of its keep-alives.
class kept_by_a_watchdog final : public detail::turn_context,
                                 private ownership::listener,
                                 private store_listener
{
public:
    kept_by_a_watchdog(asio::io_context& context, std::shared_ptr<fake_store> with,
                       manual_time& time)
        : turn_context(context.get_executor(), std::move(with), nullptr, time.make_source())
    {}

    void open()
    {
        start_time();
        store_->open(executor(), *this);
        turn([this] { reach_.connected(0); });
    }

    void close()
    {
        stop_time();
        store_->close();
    }

    void keep_alive(ownership& held)
    {
        held.belong_to(*this);
        watchdog.async_keep_alive(held, held.stop.slot());
    }

    detail::lost_owners lost;
    detail::watchdog watchdog{*this, lost};
    std::vector<error_code> completed;

private:
    void release(ownership&, const detail::outcome_op_ptr&) override { BOOST_TEST(false); }
    void detach(ownership&) override { BOOST_TEST(false); }
    void on_kept_alive(ownership& held, error_code why) override
    {
        BOOST_TEST(in_turn());
        BOOST_TEST(!held.kept());
        BOOST_TEST(held.life.ended());
        completed.push_back(why);
    }
    void on_turn_failed() noexcept override {}
    void on_wakeup(std::string_view) override {}
    void on_connected(store_partition) override {}
    void on_disconnected(store_partition, error_code) override {}
};

class calling_timer final : public detail::timer
{
public:
    explicit calling_timer(std::function<void()> call) : call_(std::move(call)) {}

private:
    void expired() override { call_(); }

    std::function<void()> call_;
};

struct keep_alive_fixture
{
    keep_alive_fixture()
    {
        call([this] { client->open(); });
    }
    ~keep_alive_fixture()
    {
        call([this] {
            client->turn([this] { client->watchdog.drop({}); });
            client->close();
        });
    }

    /// A lease of 30 s, whose keep-alive has begun.
    ownership_ptr keep(const std::string& name)
    {
        const auto spec = std::make_shared<const detail::lock_spec>(nullptr, name, lock_options());
        ownership_ptr held(new ownership(spec, detail::owner_id("owner"), {}, time.now()));
        in_turn([&] { client->keep_alive(*held); });
        return held;
    }

    template <class Function>
    void in_turn(Function function)
    {
        call([&] { client->turn(function); });
    }

    void advance(clock::duration by)
    {
        move_time(time, by, [this] { poll(); });
    }

    void poll()
    {
        do {
            context.restart();
            context.poll();
        } while (time.wake());
    }

    asio::io_context context;
    manual_time time;
    std::shared_ptr<fake_store> store = std::make_shared<fake_store>();
    std::shared_ptr<kept_by_a_watchdog> client = std::make_shared<kept_by_a_watchdog>(context,
                                                                                      store, time);

private:
    template <class Function>
    void call(Function function)
    {
        asio::post(client->executor(), function);
        poll();
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(core_keep_alive)

BOOST_AUTO_TEST_CASE(slot_of_a_lease_is_a_cancellation_slot_of_asio)
{
    using slot_type = detail::inplace_signal::slot_type;
    static_assert(std::is_nothrow_copy_constructible_v<slot_type>);
    detail::inplace_signal signal;
    detail::inplace_signal other;
    const auto bound = asio::bind_cancellation_slot(signal.slot(), [] {});
    slot_type slot = asio::get_associated_cancellation_slot(bound);
    BOOST_TEST((slot == signal.slot()));
    BOOST_TEST((slot != other.slot()));
    BOOST_TEST(slot.is_connected());
    BOOST_TEST(!slot.has_handler());

    std::vector<asio::cancellation_type> emitted;
    struct once
    {
        std::vector<asio::cancellation_type>* to;
        void operator()(asio::cancellation_type type) const { to->push_back(type); }
    };
    slot.emplace<once>(&emitted);
    BOOST_TEST(slot.has_handler());
    other.emit(asio::cancellation_type::total);
    BOOST_TEST(emitted.empty());
    signal.emit(asio::cancellation_type::partial);
    slot.clear();
    signal.emit(asio::cancellation_type::total);
    BOOST_TEST_REQUIRE(emitted.size() == 1u);
    BOOST_TEST((emitted[0] == asio::cancellation_type::partial));
}

BOOST_AUTO_TEST_CASE(emission_completes_the_keep_alive_with_operation_aborted)
{
    keep_alive_fixture e;
    const ownership_ptr held = e.keep("a");
    BOOST_TEST(held->kept());
    BOOST_TEST(held->stop.slot().has_handler());
    BOOST_TEST(held->detail::timer::is_linked());
    e.in_turn([&] {
        held->stop.emit(asio::cancellation_type::terminal);
        BOOST_TEST(e.client->completed.size() == 1u); // inside the emission
    });
    BOOST_TEST_REQUIRE(e.client->completed.size() == 1u);
    BOOST_TEST(e.client->completed[0] == asio::error::operation_aborted);
    BOOST_TEST(!held->detail::timer::is_linked());
    BOOST_TEST(e.client->watchdog.first() == nullptr);
    BOOST_TEST(!held->stop.slot().has_handler());
    e.in_turn([&] { held->stop.emit(asio::cancellation_type::terminal); });
    BOOST_TEST(e.client->completed.size() == 1u);
    e.advance(60s);
    BOOST_TEST(e.store->renew_count() == 0u);
}

BOOST_AUTO_TEST_CASE(every_type_of_cancellation_ends_the_keep_alive)
{
    keep_alive_fixture e;
    for (const auto type : {asio::cancellation_type::terminal, asio::cancellation_type::partial,
                            asio::cancellation_type::total}) {
        e.client->completed.clear();
        const ownership_ptr held = e.keep("a");
        e.in_turn([&] { held->stop.emit(type); });
        BOOST_TEST_REQUIRE(e.client->completed.size() == 1u);
        BOOST_TEST(e.client->completed[0] == asio::error::operation_aborted);
    }
}

BOOST_AUTO_TEST_CASE(renewal_gathered_in_the_turn_is_not_sent_after_the_emission)
{
    keep_alive_fixture e;
    const ownership_ptr stopped = e.keep("stopped");
    const ownership_ptr kept = e.keep("kept");
    // Due in the same turn, after both renewals.
    calling_timer release([&] {
        BOOST_TEST(stopped->life.in_flight());
        stopped->stop.emit(asio::cancellation_type::terminal);
    });
    e.in_turn([&] { e.client->timers.schedule(release, stopped->due()); });
    e.advance(10s);
    BOOST_TEST_REQUIRE(e.client->completed.size() == 1u);
    BOOST_TEST_REQUIRE(e.store->renew_count() == 1u);
    const auto renewed = e.store->renewals()[0].locks;
    BOOST_TEST_REQUIRE(renewed.size() == 1u);
    BOOST_TEST(renewed[0].name == "kept");
}

BOOST_AUTO_TEST_CASE(reply_to_an_outstanding_renewal_has_no_effect_after_the_emission)
{
    keep_alive_fixture e;
    const ownership_ptr held = e.keep("a");
    e.advance(10s);
    BOOST_TEST_REQUIRE(e.store->renew_count() == 1u);
    const auto deadline = held->valid_until();
    e.in_turn([&] { held->stop.emit(asio::cancellation_type::terminal); });
    e.store->renew_all(0);
    e.poll();
    BOOST_TEST((held->valid_until() == deadline));
    BOOST_TEST(e.client->counts.renewed.value() == 0u);
    BOOST_TEST(held->life.doubtful()); // the release is repeated until the store has answered
    BOOST_TEST(e.client->completed.size() == 1u);
}

BOOST_AUTO_TEST_CASE(loss_completes_the_keep_alive_with_its_reason)
{
    keep_alive_fixture e;
    const ownership_ptr held = e.keep("a");
    e.advance(10s);
    BOOST_TEST_REQUIRE(e.store->renew_count() == 1u);
    e.store->renew_all(0, renewal_result::gone);
    e.poll();
    BOOST_TEST_REQUIRE(e.client->completed.size() == 1u);
    BOOST_TEST(e.client->completed[0] == errc::lost);
    BOOST_TEST(!held->stop.slot().has_handler());
    e.in_turn([&] { held->stop.emit(asio::cancellation_type::terminal); });
    BOOST_TEST(e.client->completed.size() == 1u);
}

BOOST_AUTO_TEST_CASE(expired_lease_completes_the_keep_alive)
{
    keep_alive_fixture e;
    const ownership_ptr held = e.keep("a");
    e.advance(30s); // no reply
    BOOST_TEST_REQUIRE(e.client->completed.size() == 1u);
    BOOST_TEST(e.client->completed[0] == errc::expired);
}

BOOST_AUTO_TEST_CASE(release_ends_the_keep_alive_before_its_request_is_sent)
{
    core_fixture e;
    lease held = e.taken(e.spec("a"));
    const auto renewal_due = e.core->timers.next();
    BOOST_TEST((renewal_due > e.time.now() + 9s));
    int asked = 0;
    e.store->on_release = [&] {
        ++asked;
        BOOST_TEST((e.core->timers.next() != renewal_due));
    };
    const auto released = e.release(std::move(held));
    BOOST_TEST(asked == 1);
    e.advance(4s); // the release has no reply, and nothing is renewed
    BOOST_TEST(e.store->renew_count() == 0u);
}

BOOST_AUTO_TEST_CASE(keep_alive_continues_after_a_handoff)
{
    core_fixture e;
    lease first = e.taken(e.spec("a"), 10);
    const auto waits = e.lock("a");
    const auto renewal_due = e.core->timers.next();
    e.release(std::move(first));
    BOOST_TEST_REQUIRE(waits->done());
    BOOST_TEST((e.core->timers.next() == renewal_due));
    e.advance(10s);
    BOOST_TEST(e.store->renew_count() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
