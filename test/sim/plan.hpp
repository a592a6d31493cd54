#ifndef LEASEHOLD_TEST_SIM_PLAN_HPP
#define LEASEHOLD_TEST_SIM_PLAN_HPP

#include <leasehold/options.hpp>
#include <leasehold/redis_config.hpp>
#include <leasehold/testing/world.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace leasehold::test::sim {

using std::chrono::milliseconds;

/// The faults of the world.
enum class fault_kind : std::uint8_t
{
    cut_both,
    cut_to_server,
    cut_from_server,
    reset,
    lost_wakeups,
    false_wakeup,
    slow_server,
    stalled_server,
    refusing_server,
    restart_kept,
    restart_lost,
    restart_second_lost,
    fail_over,
    flush_all,
    flush_scripts,
    key_deleted,
    key_overwritten,
    key_seized,
    pause,
    suspend,
    crash,
    drift_within,
    drift_beyond,
    server_drift,
    wall_clock_step,
    server_clock_forward,
    server_clock_back,
    shutdown,
    lossy, ///< From here on, faults that lose or delay messages.
    duplicating,
    reordering,
    resetting,
    delaying,
    cancel, ///< An operation is cancelled.
    denying_server,
    failing_renewals, ///< Of one name: the other renewals of a batch succeed.
    unsent,           ///< Requests fail before they are sent, and the connection remains.
    // From here on, faults of a cluster, where `fail_over` affects a shard.
    shard_down,
    /// The master is isolated from the other nodes, but continues to serve for a while.
    master_cut_off,
    switch_over,
    slot_moves,
    stale_map,    ///< A node does not learn the state of the others.
    machine_dies, ///< Like `fail_over`, but without closing connections.
    count_,
};

/// Whether the fault affects only a cluster.
[[nodiscard]] constexpr bool is_of_cluster(fault_kind kind) noexcept
{
    return kind >= fault_kind::shard_down;
}

/// Whether plans of clusters have the fault.
[[nodiscard]] bool occurs_in_clusters(fault_kind kind) noexcept;

/// Whether the fault affects a server, and not the path to it.
[[nodiscard]] bool is_of_server(fault_kind kind) noexcept;

/// Whether the fault affects the paths to servers, or the path to one of them.
[[nodiscard]] bool is_of_way(fault_kind kind) noexcept;

/// Whether the fault affects one client, or its path to the servers.
[[nodiscard]] bool is_of_client(fault_kind kind) noexcept;

/// Whether the fault lasts as long as the run, and may affect each message.
[[nodiscard]] bool lasts(fault_kind kind) noexcept;

[[nodiscard]] const char* name_of(fault_kind kind) noexcept;

/// Whether the data or the clock of the server is unreliable afterwards: two owners may hold the
/// lock at once, for as long as a lease lasts.
[[nodiscard]] bool breaks_exclusion(fault_kind kind) noexcept;

/// Whether a server loses data, and knows that it may have. A member of a quorum is no member
/// afterwards.
[[nodiscard]] bool is_forgetting(fault_kind kind) noexcept;

/// Whether all requests are in time again within a second after its end.
[[nodiscard]] bool is_mild(fault_kind kind) noexcept;

/// Whether the fault causes no rejected request.
[[nodiscard]] bool is_unnoticed(fault_kind kind) noexcept;

struct fault
{
    fault_kind what;
    milliseconds at;                      ///< Since the start.
    std::optional<testing::step> trigger; ///< Not before the client has reached this step.
    bool when_closing = false;            ///< Not before the client shuts down.
    std::size_t client = 0;
    std::size_t name = 0;
    milliseconds how_long{};
    std::int64_t amount = 0;
    /// The affected server of a quorum or a cluster, or the path to it. Empty: all paths, and of
    /// the servers of a cluster the one that keeps the name.
    std::optional<std::size_t> member{};
    bool together = false; ///< Affects all members at once, and therefore each of them.
};

enum class verb : std::uint8_t
{
    lock,
    try_once,
    try_for,
    guarded,          ///< `with_lock`, with work that stops on cancellation.
    guarded_stubborn, ///< With work that ignores cancellation.
    reenter,          ///< Acquires, and again under the same owner, on this client or another.
};

struct operation
{
    verb what;
    milliseconds at;
    std::size_t client;
    std::size_t name;
    milliseconds hold;
    milliseconds limit{};
    std::optional<milliseconds> cancel_after;
    std::size_t other = 0;         ///< The client of the reentrant acquisition.
    std::size_t options = 0;       ///< An index into the options of the plan.
    std::size_t other_options = 0; ///< The index for the reentrant acquisition.
    bool let_go = false;           ///< The lease is destroyed instead of released.
    bool own_executor = false;     ///< Handlers run on the host, not on the client's strand.
    bool ignores_loss = false;
};

/// A client of another library, which does not use the queue. It acquires and releases a lock at
/// intervals.
struct external_client
{
    std::size_t name;
    milliseconds every; ///< Between two attempts.
    milliseconds hold;
    milliseconds lease;
};

/// One complete run, made from a seed and possibly shrunk.
struct plan
{
    std::uint64_t seed = 0;
    redis_config::key_layout layout = redis_config::key_layout::redisson;
    testing::server::product product = testing::server::product::redis_7;
    bool may_kill = true;       ///< The user may end connections.
    bool replicated = false;    ///< A replica has to confirm each lock.
    std::size_t members = 0;    ///< Of a quorum. 0: there is one server.
    std::size_t grants = 0;     ///< The number of members whose grants make a lock.
    std::size_t shards = 0;     ///< Of a cluster. 0: there is no cluster.
    std::size_t replicas = 1;   ///< Of each master of the cluster.
    bool full_coverage = false; ///< While some slots have no node, the cluster serves none.
    bool one_slot = false;      ///< All names are in one slot.
    bool ends_together = false; ///< The holds of a client end with its first one.
    std::size_t clients = 1;
    std::size_t names = 1;
    std::vector<lock_options> options;            ///< One for all clients, or several for each.
    std::vector<testing::connecting> connections; ///< Of each client.
    std::vector<operation> operations;
    std::vector<fault> faults;
    std::vector<external_client> external_clients;
    milliseconds heals{}; ///< After this time no new fault begins.
    milliseconds ends{60'000};

    [[nodiscard]] bool is_quiet() const noexcept { return faults.empty(); }
    [[nodiscard]] bool all_faults(bool (*are)(fault_kind)) const
    {
        return std::all_of(faults.begin(), faults.end(),
                           [are](const fault& each) { return are(each.what); });
    }
    [[nodiscard]] milliseconds longest_lease() const noexcept;
    /// Whether external clients sometimes find a lock free that has waiters.
    [[nodiscard]] bool leaves_free() const noexcept;
    [[nodiscard]] bool is_quorum() const noexcept { return members != 0; }
    [[nodiscard]] bool is_cluster() const noexcept { return shards != 0; }
    [[nodiscard]] bool is_native() const noexcept
    {
        return layout == redis_config::key_layout::native;
    }
};

/// A separate connection, with time limits for which `to_notice` holds.
[[nodiscard]] testing::connecting usual_connection();

/// @param layout Without it, each layout has half of the seeds.
[[nodiscard]] plan make_plan(std::uint64_t seed,
                             std::optional<redis_config::key_layout> layout = std::nullopt);

/// A plan of a quorum of servers.
[[nodiscard]] plan make_quorum_plan(std::uint64_t seed);

/// A plan of a cluster.
[[nodiscard]] plan make_cluster_plan(std::uint64_t seed,
                                     std::optional<redis_config::key_layout> layout = std::nullopt);

} // namespace leasehold::test::sim

#endif
