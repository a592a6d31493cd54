#ifndef LEASEHOLD_TESTING_WORLD_HPP
#define LEASEHOLD_TESTING_WORLD_HPP

#include <leasehold/clock.hpp>
#include <leasehold/testing/cluster.hpp>
#include <leasehold/testing/host.hpp>
#include <leasehold/testing/network.hpp>
#include <leasehold/testing/server.hpp>
#include <leasehold/testing/timer.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace leasehold::testing {

namespace impl {

class world_state;

} // namespace impl

/// Hosts, servers and a network in virtual time, on one thread. The production code of the locks
/// runs in it unchanged. The same seed and the same calls give the same run, with the same
/// `trace_hash`. Another seed gives another order of simultaneous events, other delays and other
/// losses.
///
/// @code
/// testing::world world(seed);
/// testing::server& redis = world.make_server();
/// testing::host& a = world.make_host("a");
/// client locks = a.make_client(redis);
/// locks.async_run(asio::detached);
/// asio::co_spawn(a, my_code(locks), asio::detached);
/// world.run_for(5s);
/// redis.restart(testing::server::data::lost, 100ms);
/// world.run_for(55s);
/// @endcode
///
/// @par Lifetime
/// The world owns its hosts and servers. Its destructor destroys outstanding handlers and
/// coroutines without running them. Clients, leases and mutexes may outlive the world; timers must
/// not.
/// @par Threads
/// One. Worlds do not share any state.
class LEASEHOLD_TESTING_EXPORT world
{
public:
    /// The type of durations.
    using duration = clock::duration;

    /// Creates a world. All random decisions depend on the seed.
    explicit world(std::uint64_t seed = 1);
    ~world();
    world(const world&) = delete;
    world& operator=(const world&) = delete;

    /// Makes a process on a machine of its own. It exists until the world is destroyed.
    host& make_host(std::string name = {});
    /// Makes a Redis server. It exists until the world is destroyed.
    server& make_server(std::string name = {});
    /// Makes a Redis Cluster. It exists until the world is destroyed.
    cluster& make_cluster(const cluster::shape& of = {});

    /// True time. It advances only while the world runs.
    [[nodiscard]] clock::time_point now() const noexcept;

    /// The time since the world was created.
    [[nodiscard]] duration age() const noexcept;

    /// Calls `f` at the time `when`, outside of all hosts. Use it to inject faults.
    void at(clock::time_point when, std::function<void()> f);
    /// Calls `f` after the time `how_long`, outside of all hosts.
    void after(duration how_long, std::function<void()> f) { at(now() + how_long, std::move(f)); }

    /// Runs all events of the next `how_long`. An exception of a handler leaves this call.
    void run_for(duration how_long) { run_until(now() + how_long); }
    /// Runs all events until the time `when`. An exception of a handler leaves this call.
    void run_until(clock::time_point when);

    /// Runs until `done()` is true or `limit` has passed. Returns whether it is done.
    template <std::predicate Done>
    bool run_until(Done done, duration limit)
    {
        const auto end = now() + limit;
        while (!done()) {
            if (!run_one(end))
                return done();
        }
        return true;
    }

    /// Runs the next event before `end`. False if there was none.
    bool run_one(clock::time_point end);

    /// A number below `bound`, from the seed.
    [[nodiscard]] std::uint64_t random(std::uint64_t bound);

    /// A hash of all events so far.
    [[nodiscard]] std::uint64_t trace_hash() const noexcept;

    /// The number of events so far.
    [[nodiscard]] std::uint64_t events() const noexcept;

    /// Sets the function that is called with a line of text for each event between hosts and
    /// servers. An empty function removes it.
    void on_trace(std::function<void(std::string_view line)> handler);

    /// Adds a line to the trace.
    void note(std::string_view line);

private:
    std::unique_ptr<impl::world_state> state_;
};

} // namespace leasehold::testing

#endif
