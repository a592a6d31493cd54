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

/// Hosts, servers and a network in virtual time, on one thread: the production code of the locks
/// runs in it unchanged. The same seed and the same calls give the same run, to the last bit of
/// `trace_hash`; another seed gives another order of what happens at once, other delays, other
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
/// The world owns its hosts and servers and all that waits in them: destroying it destroys handlers
/// and coroutines without running them. Clients, leases and mutexes may outlive it; timers must
/// not.
/// @par Threads
/// One. Worlds do not share anything.
class LEASEHOLD_TESTING_EXPORT world
{
public:
    /// How long something takes.
    using duration = clock::duration;

    /// All that is left to chance is drawn from the seed.
    explicit world(std::uint64_t seed = 1);
    ~world();
    world(const world&) = delete;
    world& operator=(const world&) = delete;

    /// A process on a machine of its own. It stays until the world is destroyed.
    host& make_host(std::string name = {});
    /// A Redis. It stays until the world is destroyed.
    server& make_server(std::string name = {});
    /// A Redis Cluster. It stays until the world is destroyed.
    cluster& make_cluster(const cluster::shape& of = {});

    /// True time. It moves only while the world runs.
    [[nodiscard]] clock::time_point now() const noexcept;

    /// Since the world began.
    [[nodiscard]] duration age() const noexcept;

    /// Calls `f` when that time has come, on no host: the place for faults.
    void at(clock::time_point when, std::function<void()> f);
    /// Calls `f` when so much time has passed, on no host.
    void after(duration how_long, std::function<void()> f) { at(now() + how_long, std::move(f)); }

    /// Runs all that happens until then.
    /// @throws what a handler throws.
    void run_for(duration how_long) { run_until(now() + how_long); }
    /// Runs all that happens until then.
    /// @throws what a handler throws.
    void run_until(clock::time_point when);

    /// Runs until `done()` or `limit` has passed; true when done.
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

    /// The next thing that happens, until `end`. False when there was none.
    bool run_one(clock::time_point end);

    /// A number below `bound`, from the seed.
    [[nodiscard]] std::uint64_t random(std::uint64_t bound);

    /// A summary of all that has happened so far.
    [[nodiscard]] std::uint64_t trace_hash() const noexcept;

    /// How many things have happened.
    [[nodiscard]] std::uint64_t events() const noexcept;

    /// Called with a line of text for everything that happens between hosts and servers; an empty
    /// function ends that.
    void on_trace(std::function<void(std::string_view line)> told);

    /// A line of one's own in the trace.
    void note(std::string_view line);

private:
    std::unique_ptr<impl::world_state> state_;
};

} // namespace leasehold::testing

#endif
