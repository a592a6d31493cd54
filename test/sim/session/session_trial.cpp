#include "sim/session/session_trial.hpp"

#include "sim/session/session_faults.hpp"
#include "sim/session/session_promises.hpp"
#include "sim/session/session_scene.hpp"

#include <leasehold/mutex.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/post.hpp>

#include <array>
#include <chrono>
#include <utility>

namespace leasehold::test::sessions {

using namespace std::chrono_literals;

namespace {

/// After this time, holds are short. The last fault has ended.
constexpr auto faults_end = 30s;
constexpr auto run_ends = 60s;
/// Of a run. Usually there are some ten thousand.
constexpr std::uint64_t most_events = 2'000'000;

/// The operations of a run.
class users
{
public:
    users(scene& of, promises& checks) : scene_(of), promises_(checks) {}

    /// Schedules a random operation at a random time.
    void schedule()
    {
        actor& a = scene_.actors.emplace_back();
        a.number = scene_.actors.size() - 1;
        const auto number = scene_.random.below(scene_.current.size());
        a.name = scene_.random.below(scene_.names);
        a.options = make_options();
        a.hold = scene_.one_of(std::array{0ms, 5ms, 100ms, 1000ms, 4000ms, 12'000ms});
        a.once = scene_.random.below(6) == 0;
        a.reenters = scene_.random.below(6) == 0;
        a.lets_go = scene_.random.below(8) == 0;
        a.detaches = scene_.random.below(8) == 0 && a.options.lease_time <= 3s;
        if (scene_.random.below(5) == 0)
            a.cancelled_after = scene_.ms(0, 3000);
        scene_.world->at(scene_.began + scene_.ms(0, 35'000),
                         [this, &a, number] { begin(a, *scene_.current[number]); });
    }

private:
    lock_options make_options()
    {
        lock_options o;
        o.lease_time = scene_.one_of(std::array{300ms, 1000ms, 3000ms, 8000ms, 20'000ms});
        o.renew = scene_.random.below(6) != 0;
        o.backoff_ceiling = scene_.one_of(std::array{200ms, 500ms, 1000ms});
        o.handoff_time = scene_.one_of(std::array{0ms, 20ms, 200ms});
        if (scene_.random.below(6) == 0)
            o.longest_hold = 2000ms;
        if (scene_.random.below(5) == 0)
            o.wait_limit = scene_.one_of(std::array{50ms, 500ms, 3000ms});
        return o;
    }

    /// A handler that is called once, on the strand of the client.
    template <class F>
    auto once(actor& a, F f)
    {
        ++a.due;
        auto called = [this, &a, f = std::move(f), done = false](auto&&... results) mutable {
            if (std::exchange(done, true))
                scene_.wrong("handler called twice");
            if (a.at->dead)
                scene_.wrong("handler called in a dead process");
            --a.due;
            f(std::forward<decltype(results)>(results)...);
        };
        return asio::bind_executor(a.at->locks->get_executor(), std::move(called));
    }

    void begin(actor& a, process& at)
    {
        if (at.dead || at.closed)
            return;
        a.at = &at;
        asio::post(at.host->get_executor(), [this, &a] {
            if (a.at->dead || a.at->closed)
                return;
            auto got = asio::bind_cancellation_slot(
                a.signal.slot(), once(a, [this, &a](error_code failed, lease held) {
                    acquired(a, failed, std::move(held));
                }));
            const mutex m(*a.at->locks, text_of('n', a.name), a.options);
            if (a.once)
                m.async_try_lock(std::move(got));
            else
                m.async_lock(std::move(got));
        });
        if (a.cancelled_after)
            scene_.world->after(*a.cancelled_after, [&a] {
                asio::post(a.at->host->get_executor(), [&a] {
                    if (!a.at->dead)
                        a.signal.emit(asio::cancellation_type::terminal);
                });
            });
    }

    void acquired(actor& a, error_code failed, lease held)
    {
        scene_.note(a, "acquired", failed);
        if (failed)
            return;
        a.held = std::move(held);
        promises_.granted(a);
        a.held.async_wait_lost(once(a, [this, &a](error_code reason) { lost(a, reason); }));
        a.timer.emplace(*a.at->host);
        a.timer->expires_after(scene_.world->now() > scene_.began + faults_end ? a.hold / 10
                                                                               : a.hold);
        a.timer->async_wait(once(a, [this, &a](error_code) { finish(a); }));
        if (a.reenters && a.held.valid())
            reenter(a);
    }

    void reenter(actor& a)
    {
        const mutex again(*a.at->locks, text_of('n', a.name), a.options);
        again.with_owner(a.held.share_owner())
            .async_lock(once(a, [this, &a](error_code failed, lease held) {
                scene_.note(a, "entered", failed);
                if (!failed)
                    a.inner = std::move(held);
                if (!failed && !a.held) // released after the first lease
                    leave(a, std::move(a.inner));
            }));
    }

    void finish(actor& a)
    {
        scene_.note(a, "leaves");
        if (a.inner)
            leave(a, std::move(a.inner));
        if (a.detaches)
            a.held.detach();
        else if (a.lets_go)
            a.held = lease();
        else if (a.held)
            leave(a, std::move(a.held));
    }

    void leave(actor& a, lease held)
    {
        const bool was_valid = held.valid();
        held.async_release(once(a, [this, &a, was_valid](error_code failed) {
            scene_.note(a, "left", failed);
            promises_.released(a, was_valid, failed);
        }));
    }

    void lost(actor& a, error_code reason)
    {
        scene_.note(a, "lost", reason);
        if (reason != asio::error::operation_aborted)
            promises_.lost(a, reason);
    }

    scene& scene_;
    promises& promises_;
};

} // namespace

verdict run(std::uint64_t seed, link_error error, tally& counted,
            const std::function<void(std::string_view)>& trace)
{
    scene all(seed, error, counted, trace);
    promises checks(all);
    users acting(all, checks);
    faults befalling(all);
    for (auto left = 6 + all.random.below(25); left > 0; --left)
        acting.schedule();
    for (auto left = all.random.below(7); left > 0; --left)
        befalling.schedule();
    while (all.first_wrong.empty() && all.world->run_one(all.began + run_ends)) {
        checks.check();
        if (all.world->events() > most_events)
            all.wrong("endless: the time does not pass");
    }
    if (all.first_wrong.empty())
        checks.check_end();
    return {all.first_wrong, all.world->trace_hash()};
}

} // namespace leasehold::test::sessions
