// Events during the first request for a name, which is sent without a contender. Each has the same
// effect as during a request of a contender.
#include <boost/test/unit_test.hpp>

#include "support/core_checks.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace leasehold;
using namespace leasehold::test;
using namespace std::chrono_literals;

namespace {

struct setting
{
    bool queues;          ///< The store keeps queues.
    bool full_window;     ///< The request waits for the window.
    bool makes_contender; ///< An event without an effect of its own comes first.
};

class scene : public core_fixture
{
public:
    explicit scene(const setting& chosen) : core_fixture(false)
    {
        store->can.queues = chosen.queues;
        store->can.publishes = true;
        core = detail::client_state::make(context.get_executor(), store, seen, time.make_source(),
                                          chosen.full_window ? 1 : 10);
        core->random.seed(1);
        what = spec("a", short_lease);
        run();
        connect();
        if (chosen.full_window)
            others.push_back(lock("other"));
        waiters.push_back(lock(what));
        if (chosen.makes_contender) {
            // Too long for an owner of this client.
            store->notify_grant("a", std::string(detail::owner_id::static_capacity + 1, 'x'));
            poll();
        }
    }

    void add_waiter(clock::duration limit = 1h)
    {
        auto op = make<locking>();
        op->start([&](auto handler) { async_lock(what, limit, {}, std::move(handler)); });
        waiters.push_back(std::move(op));
    }

    void cancel_first() { waiters.front()->cancel(); }

    [[nodiscard]] std::string own_owner() const { return owner_of_last("a"); }

    /// Replies to all acquires of "a", or of "other".
    void answer(const std::string& name, error_code why, const acquire_reply& reply)
    {
        const auto calls = store->acquires();
        for (std::size_t i = 0; i < calls.size(); ++i) {
            if (!calls[i].answered && calls[i].name == name)
                store->complete_acquire(i, why, reply);
        }
        poll();
    }

    void free_all()
    {
        const auto calls = store->releases();
        for (std::size_t i = 0; i < calls.size(); ++i) {
            if (!calls[i].answered)
                store->say_freed(i);
        }
        poll();
    }

    /// All that the store and the waiters can see so far.
    [[nodiscard]] std::string seen_so_far()
    {
        std::ostringstream out;
        for (const auto& each : store->acquires())
            out << "acquire " << each.name << number(each.owner) << (each.again ? " again" : "")
                << (each.waits ? " waits" : "") << '\n';
        for (const auto& each : store->releases())
            out << "release " << each.name << number(each.owner)
                << (each.next ? " next" + number(each.next->owner) : "") << '\n';
        for (const auto& each : store->watches())
            out << (each.begin ? "watch " : "unwatch ") << each.name << '\n';
        for (const auto& each : seen->events())
            out << "event " << static_cast<int>(each.what) << ' ' << each.name << ' ' << each.fence
                << ' ' << each.code << ' ' << each.time.count() << ' ' << each.details.attempts
                << '\n';
        for (const auto& each : waiters) {
            if (each->done())
                out << "done " << code(*each) << '\n';
        }
        const client_stats now = stats();
        out << now.held << ' ' << now.waiting << ' ' << now.orphans << ' ' << now.watched << '\n';
        return out.str();
    }

    detail::spec_ptr what;
    std::vector<std::shared_ptr<locking>> waiters;

private:
    static std::string number(const std::string& owner) { return owner.substr(owner.find(':')); }

    [[nodiscard]] std::string owner_of_last(const std::string& name) const
    {
        std::string owner = "none:0";
        for (const auto& each : store->acquires()) {
            if (each.name == name)
                owner = each.owner;
        }
        return owner;
    }
};

struct event
{
    const char* name;
    std::function<void(scene&)> happens;
};

const std::vector<event>& events()
{
    static const std::vector<event> all{
        {"nothing", [](scene&) {}},
        {"grant to its owner", [](scene& s) { s.store->notify_grant("a", s.own_owner()); }},
        {"grant to another owner", [](scene& s) { s.store->notify_grant("a", "other:7"); }},
        {"wake-up", [](scene& s) { s.store->wakeup("a"); }},
        {"listening", [](scene& s) { s.store->listen(); }},
        {"settled", [](scene& s) { s.store->settle(); }},
        {"connected", [](scene& s) { s.store->connect(); }},
        {"disconnected", [](scene& s) { s.store->disconnect(errc::store_unavailable); }},
        {"disconnected for good", [](scene& s) { s.store->disconnect(errc::permission_denied); }},
        {"disconnected and connected",
         [](scene& s) {
             s.store->disconnect(errc::store_unavailable);
             s.store->connect();
         }},
        {"another waiter", [](scene& s) { s.add_waiter(); }},
        {"a try", [](scene& s) { s.add_waiter(0s); }},
        {"the waiter leaves", [](scene& s) { s.cancel_first(); }},
        {"a wake-up, and the waiter leaves",
         [](scene& s) {
             s.store->wakeup("a");
             s.poll();
             s.cancel_first();
         }},
        {"the waiter leaves, and another arrives",
         [](scene& s) {
             s.cancel_first();
             s.poll();
             s.add_waiter();
         }},
        {"too late for the lease", [](scene& s) { s.advance(995ms); }},
        {"too late for the request", [](scene& s) { s.advance(1100ms); }},
        {"shutdown", [](scene& s) { s.shutdown(); }},
    };
    return all;
}

struct answer
{
    const char* name;
    error_code why;
    acquire_reply reply;
};

std::vector<answer> answers()
{
    using outcome = acquire_reply::outcome;
    acquire_reply may_hold;
    may_hold.may_hold = true;
    return {
        {"granted", {}, {.result = outcome::granted, .fences = 1, .first_fence = 1}},
        {"held", {}, {.result = outcome::held, .remaining = 300ms}},
        {"queued", {}, {.result = outcome::held, .remaining = 300ms, .queued = true}},
        {"late", {}, {.result = outcome::late}},
        {"gone", {}, {.result = outcome::gone}},
        {"outcome unknown", errc::outcome_unknown, {}},
        {"store unavailable", errc::store_unavailable, {}},
        {"store unavailable, may hold", errc::store_unavailable, may_hold},
        {"permission denied", errc::permission_denied, {}},
        {"not replicated", errc::not_replicated, {}},
    };
}

/// The observations after each step.
std::vector<std::string> play(const setting& chosen, const event& happening, const answer& first)
{
    scene s(chosen);
    std::vector<std::string> steps;
    const auto step = [&] {
        s.poll();
        steps.push_back(s.seen_so_far());
    };
    happening.happens(s);
    step();
    s.answer("other", {}, {.result = acquire_reply::outcome::granted, .fences = 1});
    step();
    s.answer("a", first.why, first.reply);
    step();
    for (int i = 0; i < 4; ++i) {
        s.advance(150ms);
        step();
    }
    s.connect();
    s.answer("a", {}, {.result = acquire_reply::outcome::granted, .fences = 1, .first_fence = 5});
    step();
    s.free_all();
    step();
    s.shutdown();
    s.free_all();
    step();
    return steps;
}

} // namespace

BOOST_AUTO_TEST_SUITE(core_first_request)

BOOST_AUTO_TEST_CASE(event_has_the_effect_that_it_has_during_a_request_of_a_contender)
{
    std::size_t different = 0;
    for (const bool queues : {false, true}) {
        for (const bool full_window : {false, true}) {
            for (const event& happening : events()) {
                std::vector<std::string> last;
                for (const answer& first : answers()) {
                    BOOST_TEST_CONTEXT((queues ? "queues, " : "no queues, ")
                                       << (full_window ? "full window, " : "") << happening.name
                                       << ", " << first.name)
                    {
                        const auto without = play({queues, full_window, false}, happening, first);
                        const auto with = play({queues, full_window, true}, happening, first);
                        BOOST_TEST(without == with, boost::test_tools::per_element());
                        different += without != last ? 1 : 0;
                        last = without;
                    }
                }
            }
        }
    }
    BOOST_TEST(different > 300u); // the table tells its cases apart
}

BOOST_AUTO_TEST_SUITE_END()
