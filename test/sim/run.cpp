#include "sim/run.hpp"

#include "sim/actors.hpp"
#include "sim/checks.hpp"
#include "sim/external_clients.hpp"
#include "sim/faults.hpp"
#include "sim/processes.hpp"
#include "sim/trial.hpp"
#include "testing/time/random.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <exception>
#include <string>

namespace leasehold::test::sim {
namespace {

/// Runs until the plan ends or a promise is broken.
void perform(trial& t, processes& clients, checks& judge)
{
    const auto end = t.time(t.scenario.ends);
    while (t.first_wrong.empty() && t.world.run_one(end)) {
    }
    if (!t.first_wrong.empty())
        return;
    t.world.run_until(end);
    judge.all_called();
    if (!clients.close_all())
        t.wrong("shutdown: it did not end");
    // The last requests to a member are outstanding, or its TTLs have not passed.
    if (t.scenario.is_quorum())
        t.world.run_until(t.now() + t.scenario.longest_lease() + std::chrono::seconds(1));
    judge.nothing_left();
    // Waits until the server has noticed the connections that ended.
    if (!t.scenario.is_quorum())
        t.world.run_until(t.now() + std::chrono::seconds(2));
    judge.nothing_listens();
}

/// Within a context, Asio reuses the memory of an operation for the next one. Sanitizers need
/// separate memory for each.
template <class F>
void run_in_a_context(F f)
{
#if defined(LEASEHOLD_SIM_REUSES_MEMORY)
    boost::asio::io_context context(1);
    boost::asio::post(context, [&] { f(); });
    context.run();
#else
    f();
#endif
}

} // namespace

verdict run(const plan& scenario, coverage& counted,
            const std::function<void(std::string_view)>& trace)
{
    trial t(scenario, counted);
    t.world.on_trace(trace);
    t.traced = static_cast<bool>(trace);
    for (std::size_t i = 0; i < scenario.names; ++i)
        t.names.emplace_back().text = (scenario.one_slot ? "{s}name-" : "name-") +
                                      std::to_string(i);

    for (testing::server* const each : t.servers) {
        each->imitate(scenario.product);
        if (!scenario.is_cluster())
            each->replicas(scenario.replicated ? 1 : 0);
        if (!scenario.may_kill)
            each->forbid("client");
    }

    checks judge(t);
    processes clients(t, judge);
    actors acting(t, judge);
    faults befalling(t, clients, judge);
    external_clients visiting(t, judge);
    judge.follow_server();
    clients.start_all();
    acting.schedule();
    befalling.schedule();
    visiting.schedule();
    judge.probe_regularly();

    run_in_a_context([&] {
        try {
            perform(t, clients, judge);
        }
        catch (const std::exception& failure) {
            t.wrong(std::string("exception: ") + failure.what());
        }
    });
    befalling.end();
    counted.simulated += t.world.age();
    counted.events += t.world.events();
    counted.commands += t.commands();
    const auto hash = testing::impl::mix(t.world.trace_hash() ^ t.outcomes);
    t.end_world();
    return {t.first_wrong, hash};
}

} // namespace leasehold::test::sim
