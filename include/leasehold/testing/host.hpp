#ifndef LEASEHOLD_TESTING_HOST_HPP
#define LEASEHOLD_TESTING_HOST_HPP

#include <leasehold/client.hpp>
#include <leasehold/clock.hpp>
#include <leasehold/config.hpp>
#include <leasehold/testing/executor.hpp>
#include <leasehold/testing/network.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace leasehold::testing {

class cluster;
class server;

namespace impl {

class host_state;
class world_state;

} // namespace impl

/// What a client has just done, or had done to it: where a script may place a fault.
enum class step : std::uint8_t
{
    acquire_sent,     ///< An acquire leaves the client.
    acquire_ran,      ///< On the server; the answer is under way.
    acquire_answered, ///< Its answer has arrived.
    renewal_sent,     ///< A renewal leaves the client.
    renewal_ran,      ///< On the server; the answer is under way.
    renewal_answered, ///< Its answer has arrived.
    release_sent,     ///< A release leaves the client.
    release_ran,      ///< On the server; the answer is under way.
    release_answered, ///< Its answer has arrived.
    connected,        ///< The client has a connection.
    disconnected,     ///< The client has lost its connection.
};

/// How a simulated client reaches its server.
struct connecting
{
    /// Time limits and the like; where it says that the server is does not matter.
    config limits = {};
    /// Commands go over a connection that the application has, and keeps running by itself.
    bool shared = false;
    /// With `shared`: wake-ups come over a connection of the client's own; else there are none.
    bool wakeups = true;
    /// So many acquires may be under way at once, others wait for them; 0: the usual number.
    std::size_t acquires = 0;
};

/// One process on a machine of its own: an execution context in virtual time, with a clock and a
/// network connection. Made by `world::make_host`.
///
/// Objects on it (clients, timers, coroutines) follow the rules of any execution context: they may
/// be used until the world is destroyed.
class LEASEHOLD_TESTING_EXPORT host : public asio::execution_context
{
public:
    /// How long something takes.
    using duration = clock::duration;
    /// As Asio asks of an execution context.
    using executor_type = executor;

    /// For the library itself.
    explicit host(std::unique_ptr<impl::host_state> state);
    ~host();

    /// Runs work on this host.
    [[nodiscard]] executor_type get_executor() noexcept { return executor_type(*this); }
    /// As it was given to `world::make_host`.
    [[nodiscard]] const std::string& name() const noexcept;

    /// A client on this host that keeps its locks on `where`. Its `async_run` is the caller's
    /// business, as in production.
    [[nodiscard]] client make_client(server& where, std::shared_ptr<observer> watching = {});
    /// The same, and how it connects.
    [[nodiscard]] client make_client(server& where, const connecting& how,
                                     std::shared_ptr<observer> watching = {});

    /// A client that keeps its locks at a quorum of independent servers, as with `redlock://`:
    /// 3, 5, 7 or 9 of them; `how.limits.quorum` have to grant. Its connections are its own.
    [[nodiscard]] client make_client(std::span<server* const> members, const connecting& how,
                                     std::shared_ptr<observer> watching = {});

    /// A client that keeps its locks in a cluster, as with `redis+cluster://`: all nodes are in its
    /// URL. Its connections are its own.
    [[nodiscard]] client make_client(cluster& where, const connecting& how,
                                     std::shared_ptr<observer> watching = {});

    /// The clock that leases are measured by on this host.
    [[nodiscard]] clock::time_point now() const noexcept;

    /// The clock that shows the date; nothing in this library looks at it.
    [[nodiscard]] std::chrono::system_clock::time_point wall_clock() const noexcept;

    /// Calls `f` at every step of the clients of this host, in the step. One function at a time; an
    /// empty one ends that.
    void on_step(std::function<void(step)> f);

    // Faults of the process and the machine. Each takes effect as soon as what runs has returned.

    /// Stops the process (`SIGSTOP`, a long collection of garbage, an overloaded machine): its
    /// clock goes on, nothing of it runs.
    void pause(duration how_long);

    /// Suspends the machine: as `pause`, and timers that were due meanwhile fire up to a second
    /// after it wakes up.
    void suspend(duration how_long);

    /// Ends the process (`SIGKILL`): handlers are destroyed, nothing is sent any more, connections
    /// are reset.
    void crash();

    /// Its clocks gain so many millionths from now on; negative: lose.
    void drift(std::int64_t parts_per_million);

    /// The wall clock steps.
    void step_wall_clock(duration by) noexcept;

    /// Whether it is paused or suspended now.
    [[nodiscard]] bool is_paused() const noexcept;
    /// Whether it has crashed.
    [[nodiscard]] bool is_crashed() const noexcept;

    // Faults of its network.

    /// For every message from now on.
    void network(const conditions& what) noexcept;
    /// For those to and from one server, until all are told anew.
    void network(const server& to, const conditions& what);
    /// What was set for every message.
    [[nodiscard]] const conditions& network() const noexcept;

    /// Cuts the host off for `how_long`. What was sent meanwhile arrives when the cut is over;
    /// after a second or more it may as well be lost, with its connection: both happen.
    void cut_off(direction which, duration how_long);
    /// From one server alone.
    void cut_off(const server& to, direction which, duration how_long);

    /// For `how_long` what its clients ask for fails with `errc::store_unavailable` before it is
    /// sent; the connections stay.
    void fail_sending(duration how_long);

    /// Resets the connections to all servers. What is under way may still arrive.
    void reset_connections();
    /// Resets the connections to one server.
    void reset_connections(const server& to);

    /// Loses every published release for `how_long`, and nothing else.
    void lose_hints(duration how_long);

    /// The clients on this host are told that a name may be free though nothing happened.
    void false_hint(std::string_view name);

    /// What has befallen it so far.
    [[nodiscard]] const testing::mishaps& mishaps() const noexcept;

    /// For the library itself.
    [[nodiscard]] impl::host_state& state() const noexcept { return *state_; }

private:
    friend class impl::world_state;
    void end() noexcept;
    client make_client(std::shared_ptr<store> store, const connecting& how,
                       std::shared_ptr<observer> watching);

    std::unique_ptr<impl::host_state> state_;
};

} // namespace leasehold::testing

#endif
