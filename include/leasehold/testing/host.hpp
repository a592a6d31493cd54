#ifndef LEASEHOLD_TESTING_HOST_HPP
#define LEASEHOLD_TESTING_HOST_HPP

#include <leasehold/client.hpp>
#include <leasehold/clock.hpp>
#include <leasehold/redis_config.hpp>
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

/// The steps of a client at which a test may inject a fault.
enum class step : std::uint8_t
{
    acquire_sent,     ///< An acquire leaves the client.
    acquire_ran,      ///< Executed on the server; the reply is on its way.
    acquire_answered, ///< Its reply has arrived.
    renewal_sent,     ///< A renewal leaves the client.
    renewal_ran,      ///< Executed on the server; the reply is on its way.
    renewal_answered, ///< Its reply has arrived.
    release_sent,     ///< A release leaves the client.
    release_ran,      ///< Executed on the server; the reply is on its way.
    release_answered, ///< Its reply has arrived.
    connected,        ///< The client has a connection.
    disconnected,     ///< The client has lost its connection.
};

/// The connection of a simulated client to its server.
struct connecting
{
    /// Timeouts and similar options. The address of the server is ignored. `prefix` must be empty:
    /// the functions of `server` find locks by their names.
    redis_config limits = {};
    /// Commands use a connection that the application owns and runs.
    bool shared = false;
    /// With `shared`: the client has a connection of its own for wake-ups; otherwise it gets none.
    bool wakeups = true;
    /// Maximum number of concurrent acquires; others wait. 0: the default.
    std::size_t acquires = 0;
};

/// A process on a machine of its own: an execution context in virtual time, with a clock and a
/// network connection. Made by `world::make_host`.
///
/// Objects on it (clients, timers, coroutines) follow the rules of every execution context: they
/// may be used until the world is destroyed.
class LEASEHOLD_TESTING_EXPORT host : public asio::execution_context
{
public:
    /// The type of durations.
    using duration = clock::duration;
    /// The executor type, for Asio.
    using executor_type = executor;

    /// @cond
    // For the library itself.
    explicit host(std::unique_ptr<impl::host_state> state);
    /// @endcond
    ~host();

    /// The executor of this host.
    [[nodiscard]] executor_type get_executor() noexcept { return executor_type(*this); }
    /// The name that was passed to `world::make_host`.
    [[nodiscard]] const std::string& name() const noexcept;

    /// Makes a client on this host whose locks are on `where`. The caller calls its `async_run`, as
    /// in production.
    [[nodiscard]] client make_client(server& where, std::shared_ptr<observer> watching = {});
    /// As above, with options of the connection.
    [[nodiscard]] client make_client(server& where, const connecting& how,
                                     std::shared_ptr<observer> watching = {});

    /// Makes a client of a quorum of independent servers, as with `redlock://`: 3, 5, 7 or 9 of
    /// them, of which `how.limits.quorum` must grant. It has its own connections.
    [[nodiscard]] client make_client(std::span<server* const> members, const connecting& how,
                                     std::shared_ptr<observer> watching = {});

    /// Makes a client of a cluster, as with `redis+cluster://`: its URL has all nodes. It has its
    /// own connections.
    [[nodiscard]] client make_client(cluster& where, const connecting& how,
                                     std::shared_ptr<observer> watching = {});

    /// The clock that measures leases on this host.
    [[nodiscard]] clock::time_point now() const noexcept;

    /// The wall clock. This library does not use it.
    [[nodiscard]] std::chrono::system_clock::time_point wall_clock() const noexcept;

    /// Sets the function that is called in every step of the clients of this host. An empty
    /// function removes it.
    void on_step(std::function<void(step)> f);

    // Faults of the process and the machine. Each takes effect after the running task has returned.

    /// Stops the process (`SIGSTOP`, a long garbage collection, an overloaded machine). Its clock
    /// continues, but no code of it runs.
    void pause(duration how_long);

    /// Suspends the machine: as `pause`, and timers that were due meanwhile fire up to a second
    /// after it resumes.
    void suspend(duration how_long);

    /// Ends the process (`SIGKILL`): handlers are destroyed, nothing is sent any more, connections
    /// are reset.
    void crash();

    /// Changes the rate of its clocks by this number of millionths; negative: slower.
    void drift(std::int64_t parts_per_million);

    /// Steps the wall clock.
    void step_wall_clock(duration by) noexcept;

    /// Whether it is paused or suspended now.
    [[nodiscard]] bool is_paused() const noexcept;
    /// Whether it has crashed.
    [[nodiscard]] bool is_crashed() const noexcept;

    // Faults of its network.

    /// Sets the conditions of every message from now on.
    void network(const conditions& what) noexcept;
    /// Sets them for messages to and from one server, until the next call for all.
    void network(const server& to, const conditions& what);
    /// The conditions that were set for every message.
    [[nodiscard]] const conditions& network() const noexcept;

    /// Cuts the host off for `how_long`. Messages arrive after the cut. If it takes a second or
    /// more, they may also be lost with their connection.
    void cut_off(direction which, duration how_long);
    /// Cuts it off from one server only.
    void cut_off(const server& to, direction which, duration how_long);

    /// Requests of its clients fail with `errc::store_unavailable` for `how_long`, before they are
    /// sent. The connections stay open.
    void fail_sending(duration how_long);

    /// Resets the connections to all servers. Messages on their way may still arrive.
    void reset_connections();
    /// Resets the connections to one server.
    void reset_connections(const server& to);

    /// Loses every published release for `how_long`, and no other message.
    void lose_wakeups(duration how_long);

    /// Sends a wake-up to the clients on this host, although the name was not released.
    void false_wakeup(std::string_view name);

    /// The faults that this host has had so far.
    [[nodiscard]] const testing::mishaps& mishaps() const noexcept;

    /// @cond
    // For the library itself.
    [[nodiscard]] impl::host_state& state() const noexcept { return *state_; }
    /// @endcond

private:
    friend class impl::world_state;
    void end() noexcept;
    client make_client(std::shared_ptr<store> store, const connecting& how,
                       std::shared_ptr<observer> watching);

    std::unique_ptr<impl::host_state> state_;
};

} // namespace leasehold::testing

#endif
