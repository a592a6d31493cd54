// Every way to interrupt an operation, at every step of its run: cancellations, the end of its
// objects, of its process and of its world, and every kind of failure of a store, for each request.
// In each case, the lock is free or belongs to a valid lease, and is granted to the next waiter.
#include "base/mutant.hpp"

#include <leasehold/client.hpp>
#include <leasehold/detail/access.hpp>
#include <leasehold/lease.hpp>
#include <leasehold/mutex.hpp>
#include <leasehold/testing/world.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace asio = boost::asio;
namespace testing = leasehold::testing;
using leasehold::error_code;
using namespace std::chrono_literals;

namespace {

constexpr leasehold::lock_options options{.lease_time = 2s};
constexpr const char* name = "name";

// A lease time, and the time in which the store's connection detects a loss and reconnects.
constexpr auto bound = 2s + 4s;
constexpr std::uint64_t seeds = LEASEHOLD_INJECTED_RUNS;
// In both directions, including the turns between.
constexpr auto round_trip = 100ms;
// The time until users that still hold a lease release it.
constexpr auto patience = 1s;

enum class operation
{
    lock,       ///< The lock of a free name.
    lock_taken, ///< Behind another client, which releases during the wait.
    reenter,    ///< Under the owner of a lease of another client.
    renew,      ///< Twice, with a wait for a loss.
    release,
};

/// A handler that must be called once, and be destroyed after that.
class duty
{
    struct state
    {
        int calls = 0;
        error_code code;
    };

public:
    auto handler(leasehold::lease* into = nullptr)
    {
        const auto kept = std::make_shared<int>();
        alive_ = kept;
        struct result
        {
            std::shared_ptr<state> to;
            std::shared_ptr<int> alive;
            leasehold::lease* into;
            void operator()(error_code code) const
            {
                ++to->calls;
                to->code = code;
            }
            void operator()(error_code code, leasehold::lease got) const
            {
                (*this)(code);
                if (into != nullptr)
                    *into = std::move(got);
            }
        };
        return result{state_, kept, into};
    }

    int calls() const { return state_->calls; }
    error_code code() const { return state_->code; }
    bool is_kept() const { return !alive_.expired(); }

private:
    std::shared_ptr<state> state_ = std::make_shared<state>();
    std::weak_ptr<int> alive_;
};

/// A process with a client, and the objects of its user.
struct party
{
    party(testing::world& world, testing::server& server, const testing::connecting& how,
          const char* called)
        : host(&world.make_host(called)),
          locks(new leasehold::client(host->make_client(server, how))),
          core(leasehold::detail::access::state_of(*locks))
    {
        locks->async_run(run.handler());
    }

    testing::host* host;
    std::unique_ptr<leasehold::client> locks;
    std::weak_ptr<leasehold::detail::client_state> core;
    leasehold::lease held;
    duty run;
};

class stage
{
public:
    /// Each layout has half of the seeds.
    stage(operation tried, std::uint64_t seed)
        : tried_(tried), seed_(seed), world_(std::make_unique<testing::world>(seed))
    {
        world_->run_for(100ms);
        switch (tried) {
        case operation::lock: break;
        case operation::lock_taken:
        case operation::reenter: take(holder); break;
        case operation::renew: take(subject); break;
        case operation::release: take(subject); break;
        }
    }

    void begin()
    {
        began_ = world_->events();
        subject.host->on_step([this](testing::step s) { on_step(s); });
        const leasehold::mutex lock(*subject.locks, name, options);
        switch (tried_) {
        case operation::lock: lock.async_lock(cancellable(tested.handler(&subject.held))); break;
        case operation::lock_taken:
            lock.async_lock(cancellable(tested.handler(&subject.held)));
            world_->after(30ms, [this] { holder.held = {}; });
            break;
        case operation::reenter:
            lock.with_owner(holder.held.share_owner())
                .async_lock(cancellable(tested.handler(&subject.held)));
            break;
        case operation::renew: subject.held.async_wait_lost(cancellable(tested.handler())); break;
        case operation::release: subject.held.async_release(cancellable(tested.handler())); break;
        }
    }

    /// Whether the operation has completed, if nothing interrupts it.
    bool is_over() const
    {
        return tried_ == operation::renew ? subject.locks->stats().renewed == 2
                                          : tested.calls() > 0;
    }

    /// The number of events, and of requests sent, since it began.
    std::uint64_t events() const { return world_->events() - began_; }
    int requests() const { return requests_; }

    bool step(leasehold::clock::duration limit = 10s)
    {
        const bool any = world_->run_one(world_->now() + limit);
        look();
        return any;
    }

    void run_for(leasehold::clock::duration how_long)
    {
        const auto end = world_->now() + how_long;
        while (world_->run_one(end))
            look();
        world_->run_until(end);
    }

    /// Runs the injection when the request with this number, counted from 1, has been sent.
    void on_request(int index, std::function<void(stage&)> injected)
    {
        at_request_ = index;
        then_ = std::move(injected);
    }

    /// Runs the injection when the next command has been executed.
    void when_run(std::function<void(stage&)> injected) { when_run_ = std::move(injected); }

    testing::world& world() { return *world_; }
    testing::server& server() { return server_; }

    /// After an injection: the name is granted again, and nothing is left over.
    /// @param at_once No message was lost: the lock is released within a round trip.
    void check(bool at_once)
    {
        const bool crashed = subject.host->is_crashed();
        duty getting;
        leasehold::mutex(*next.locks, name, options).async_lock(getting.handler(&next.held));
        const auto injected = world_->now();
        run_for(round_trip);
        expect(!at_once || is_held_by_a_client_or_free(), "held without a living owner");
        run_for(injected + patience - world_->now());
        letting_go_ = true;
        look();
        run_for(round_trip);
        expect(!at_once || is_held_by_a_client_or_free(),
               "held without a living owner after all have left");
        const auto end = injected + patience + bound;
        while (getting.calls() == 0 && world_->now() < end && step(end - world_->now())) {
        }
        expect(getting.calls() == 1 && !getting.code(), "the next one does not get in");
        expect(next.held.valid() && server_.holder(name) == next.held.share_owner().id(),
               "the next one is in, and the store says otherwise");
        next.held = {};
        run_for(10s);
        expect(server_.locks() == 0, "a lock is left");
        // A client keeps one subscription for its grants.
        expect(server_.watches() <= clients, "a subscription is left");
        expect(crashed || tested.calls() == 1,
               tested.calls() == 0 ? "a handler is not called" : "a handler is called twice");
        expect(crashed || !tested.is_kept(), "a handler is kept");
        for (party* each : {&subject, &holder, &next}) {
            if (!each->locks || each->host->is_crashed())
                continue;
            const leasehold::client_stats now = each->locks->stats();
            expect(now.held == 0 && now.waiting == 0 && now.orphans == 0 && now.watched == 0,
                   "something is counted still");
            each->locks.reset();
        }
        run_for(3s);
        for (party* each : {&subject, &holder, &next}) {
            if (each->host->is_crashed())
                continue;
            expect(each->run.calls() == 1, "a client does not end");
            expect(each->core.expired(), "a client is kept");
        }
    }

    /// Destroys the world, and checks whether anything was kept. Returns the first error; empty:
    /// none.
    std::string end()
    {
        world_.reset();
        expect(tested.calls() <= 1, "a handler is called twice");
        expect(!tested.is_kept(), "a handler is kept after its world");
        signal.reset(); // its slot refers to the operation
        for (party* each : {&subject, &holder, &next}) {
            expect(!each->held.valid(), "a lease outlives its world");
            expect(each->run.calls() <= 1 && !each->run.is_kept(),
                   "a client's run is kept, or ends twice");
            each->held = {};
            each->locks.reset();
            expect(each->core.expired(), "a client is kept after its world");
        }
        return wrong_;
    }

private:
    void expect(bool kept, const char* promise)
    {
        if (!kept && wrong_.empty())
            wrong_ = promise;
    }

    bool is_held_by_a_client_or_free() const
    {
        const std::string owner = server_.holder(name);
        bool known = owner.empty();
        for (const party* each : {&subject, &holder, &next})
            known |= each->held.valid() && each->held.share_owner().id() == owner;
        return known;
    }

    void take(party& by)
    {
        duty getting;
        leasehold::mutex(*by.locks, name, options).async_lock(getting.handler(&by.held));
        BOOST_REQUIRE(world_->run_until([&] { return getting.calls() > 0; }, 1s));
        BOOST_REQUIRE(by.held.valid());
    }

    template <class Handler>
    asio::cancellation_slot_binder<Handler, asio::cancellation_slot> cancellable(Handler handler)
    {
        return asio::bind_cancellation_slot(signal->slot(), std::move(handler));
    }

    // In true time, after each event: the valid leases have at most one owner.
    void look()
    {
        std::string in;
        for (const party* each : {&subject, &holder, &next}) {
            if (!each->held.valid())
                continue;
            const std::string who = std::to_string(each->held.fence());
            expect(in.empty() || in == who, "two holders");
            in = who;
        }
        if (letting_go_) {
            subject.held = {}; // including a late one
            holder.held = {};
        }
    }

    void on_step(testing::step s)
    {
        using testing::step;
        if (s == step::acquire_sent || s == step::renewal_sent || s == step::release_sent) {
            if (++requests_ == at_request_)
                std::exchange(then_, nullptr)(*this);
        }
        else if ((s == step::acquire_ran || s == step::renewal_ran || s == step::release_ran) &&
                 when_run_) {
            std::exchange(when_run_, nullptr)(*this);
        }
    }

    [[nodiscard]] bool is_native() const noexcept { return seed_ % 2 == 0; }

    [[nodiscard]] testing::connecting how() const
    {
        testing::connecting made;
        made.limits.layout = is_native() ? leasehold::redis_config::key_layout::native
                                         : leasehold::redis_config::key_layout::redisson;
        return made;
    }

    static constexpr std::size_t clients = 3;

    const operation tried_;
    const std::uint64_t seed_;
    std::unique_ptr<testing::world> world_;
    testing::server& server_ = world_->make_server();

public:
    party subject{*world_, server_, how(), "subject"};
    party holder{*world_, server_, how(), "holder"};
    party next{*world_, server_, how(), "next"};
    std::unique_ptr<asio::cancellation_signal> signal =
        std::make_unique<asio::cancellation_signal>(); ///< The cancellation of the operation.
    duty tested;

private:
    std::uint64_t began_ = 0;
    int requests_ = 0;
    int at_request_ = 0;
    std::string wrong_;
    bool letting_go_ = false;
    std::function<void(stage&)> then_;
    std::function<void(stage&)> when_run_;
};

struct injection
{
    const char* what;
    std::function<void(stage&)> happens;
    bool at_once = false; ///< As in `stage::check`.
};

const std::vector<injection> at_a_step = {
    {"nothing", [](stage&) {}, true},
    {"terminal cancellation", [](stage& s) { s.signal->emit(asio::cancellation_type::terminal); },
     true},
    {"partial cancellation", [](stage& s) { s.signal->emit(asio::cancellation_type::partial); },
     true},
    {"total cancellation", [](stage& s) { s.signal->emit(asio::cancellation_type::total); }, true},
    {"every cancellation",
     [](stage& s) {
         for (const auto type : {asio::cancellation_type::total, asio::cancellation_type::partial,
                                 asio::cancellation_type::terminal})
             s.signal->emit(type);
     },
     true},
    {"end of the lease", [](stage& s) { s.subject.held = {}; }, true},
    {"end of the client", [](stage& s) { s.subject.locks.reset(); }, true},
    {"cancellation of the client", [](stage& s) { s.subject.locks->cancel(); }, true},
    {"end of the process", [](stage& s) { s.subject.host->crash(); }},
    {"pause of the process", [](stage& s) { s.subject.host->pause(3s); }},
    {"end of the connection", [](stage& s) { s.subject.host->reset_connections(); }},
    {"end of the other client", [](stage& s) { s.holder.locks.reset(); }},
};

const std::vector<injection> at_a_request = {
    {"refused", [](stage& s) { s.server().refuse(5ms); }}, // a message takes at most two
    {"run, answer lost",
     [](stage& s) {
         testing::conditions all_lost = s.subject.host->network();
         all_lost.reply_loss = 1'000'000;
         const testing::conditions before = s.subject.host->network();
         s.subject.host->network(all_lost);
         // The reply leaves in the same step in which the command was executed.
         s.when_run([before](stage& then) {
             then.world().after(1us, [&then, before] { then.subject.host->network(before); });
         });
     }},
    {"connection reset while it is under way",
     [](stage& s) { s.subject.host->reset_connections(); }},
    {"connection reset when it has run",
     [](stage& s) { s.when_run([](stage& then) { then.subject.host->reset_connections(); }); }},
    {"server down when it arrives",
     [](stage& s) { s.server().restart(testing::server::data::kept, 100ms); }},
    {"server restarted when it has run",
     [](stage& s) {
         s.when_run([](stage& then) { then.server().restart(testing::server::data::kept, 100ms); });
     }},
};

struct extent
{
    std::uint64_t steps = 0;
    std::uint64_t requests = 0;
    std::uint64_t injections = 0;
    std::uint64_t broken = 0;
    std::string first; ///< The first error, and its place.

    void add(const std::string& wrong, const std::string& place)
    {
        ++injections;
        if (wrong.empty())
            return;
        ++broken;
        if (first.empty())
            first = wrong + ": " + place;
    }
};

/// In the run of one seed. Other seeds have other delays, and another order of simultaneous events.
void inject_everywhere(operation tested, std::uint64_t seed, extent& all)
{
    std::uint64_t steps = 0;
    int requests = 0;
    {
        stage calm(tested, seed);
        calm.begin();
        while (!calm.is_over() && calm.step()) {
        }
        steps = calm.events() + 1;
        requests = calm.requests();
        calm.end();
    }
    const std::string run = " of seed " + std::to_string(seed);
    for (std::uint64_t step = 0; step < steps; ++step) {
        const auto go_there = [&](stage& s) {
            s.begin();
            while (s.events() < step && s.step()) {
            }
        };
        const std::string place = " at step " + std::to_string(step) + run;
        for (const injection& each : at_a_step) {
            stage s(tested, seed);
            go_there(s);
            each.happens(s);
            s.check(each.at_once);
            all.add(s.end(), each.what + place);
        }
        stage s(tested, seed);
        go_there(s);
        all.add(s.end(), "end of the world" + place);
    }
    for (int request = 1; request <= requests; ++request) {
        for (const injection& each : at_a_request) {
            stage s(tested, seed);
            s.on_request(request, each.happens);
            s.begin();
            while (s.requests() < request && s.step()) {
            }
            s.check(each.at_once);
            all.add(s.end(), each.what + (" at request " + std::to_string(request)) + run);
        }
    }
    all.steps += steps;
    all.requests += static_cast<std::uint64_t>(requests);
}

void nothing_breaks(operation tested)
{
    extent all;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed)
        inject_everywhere(tested, seed, all);
    BOOST_TEST_MESSAGE(all.injections << " injections at " << all.steps << " steps and "
                                      << all.requests << " requests of " << seeds << " runs");
    BOOST_TEST(all.first == "");
    BOOST_TEST(all.broken == 0u);
    BOOST_TEST(all.requests >= seeds);
    BOOST_TEST(all.steps > seeds);
    BOOST_TEST(all.injections >= all.steps * (at_a_step.size() + 1));
}

/// Switches a deliberate error on.
class with_mutant
{
public:
    explicit with_mutant(leasehold::mutant m) noexcept { leasehold::active_mutant = m; }
    ~with_mutant() { leasehold::active_mutant = leasehold::mutant::none; }
    with_mutant(const with_mutant&) = delete;
    with_mutant& operator=(const with_mutant&) = delete;
};

} // namespace

BOOST_AUTO_TEST_SUITE(injection_at_every_step)

BOOST_AUTO_TEST_CASE(injection_into_a_lock_orphans_nothing)
{
    nothing_breaks(operation::lock);
}

BOOST_AUTO_TEST_CASE(injection_into_a_waiting_lock_orphans_nothing)
{
    nothing_breaks(operation::lock_taken);
}

BOOST_AUTO_TEST_CASE(injection_into_a_reentrant_acquisition_orphans_nothing)
{
    nothing_breaks(operation::reenter);
}

BOOST_AUTO_TEST_CASE(injection_into_renewals_orphans_nothing)
{
    nothing_breaks(operation::renew);
}

BOOST_AUTO_TEST_CASE(injection_into_a_release_orphans_nothing)
{
    nothing_breaks(operation::release);
}

// The test is useless if it does not detect them.
BOOST_AUTO_TEST_CASE(injections_find_deliberate_errors)
{
    using leasehold::mutant;
    const std::vector<std::pair<mutant, operation>> errors = {
        {mutant::orphan_kept, operation::reenter},
        {mutant::queue_not_left, operation::lock_taken},
        {mutant::abandoned_entry_kept, operation::reenter},
        {mutant::shutdown_keeps, operation::renew},
        {mutant::queue_without_polls, operation::lock_taken},
    };
    for (const auto& [error, what] : errors) {
        const with_mutant on(error);
        extent all;
        for (std::uint64_t seed = 1; seed <= 3; ++seed)
            inject_everywhere(what, seed, all);
        BOOST_TEST_MESSAGE("error " << static_cast<int>(error) << ": " << all.broken << " of "
                                    << all.injections
                                    << " injections show it, the first: " << all.first);
        BOOST_TEST_CONTEXT("error " << static_cast<int>(error))
        {
            BOOST_TEST(all.broken > 0u);
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
