#ifndef LEASEHOLD_TEST_CHAOS_PLAN_HPP
#define LEASEHOLD_TEST_CHAOS_PLAN_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace leasehold::test::chaos {

/// How a server keeps its data, and hence what a SIGKILL takes.
enum class persistence : std::uint8_t
{
    none,
    always,
    everysec,
};

enum class fault_kind : std::uint8_t
{
    /// @name At one server
    /// @{
    kill_server,
    power_cut, ///< Killed, and what was written to the file last is gone.
    stop_server,
    sleep_server,
    slow_script,
    flush_scripts,
    flush_all,
    delete_key,
    kill_connections,
    out_of_memory,
    /// @}
    /// @name At servers that stand in for each other
    /// @{
    kill_master,
    stop_master,   ///< Until another has taken over, or not so long.
    cut_master,    ///< From its replicas, but not from clients that are connected.
    switch_master, ///< On purpose.
    kill_replica,
    stop_replica,
    kill_sentinel,
    move_slot, ///< Of a lock, to another master.

    /// Of a lock; then the cluster serves nobody.
    orphan_slot,
    /// @}
    /// @name At one of a quorum
    /// @{
    kill_member,
    stop_member,
    empty_member,
    /// @}
    stop_client,
    kill_client,
    half_open, ///< Nothing arrives any more, in either direction, and neither side is told.
    blackhole, ///< The same, but what was sent arrives when it is over.
    drop_requests,
    drop_replies,
    hold_replies,
    reset_connections,
    reset_around_command,
    refuse_connections,
    latency,
    count_,
};

[[nodiscard]] const char* name_of(fault_kind kind) noexcept;

[[nodiscard]] bool at_server(fault_kind kind) noexcept;

/// Whether what the only server has confirmed may be gone afterwards.
[[nodiscard]] bool loses_data(fault_kind kind, persistence how) noexcept;

/// Where a fault is that is at a server; there is one at a time.
inline constexpr std::size_t the_server = ~std::size_t{0};

struct planned_fault
{
    fault_kind kind;
    std::size_t place;                ///< The client's, or `the_server`.
    std::chrono::milliseconds begin;  ///< Since the beginning.
    std::chrono::milliseconds length; ///< 0: over as soon as it has begun.
    std::uint64_t detail;             ///< Chooses among what can be chosen.
};

/// No more than this many at once: two show what one alone does not; of more nobody could tell
/// which it was.
inline constexpr std::size_t most_at_once = 2;

struct plan_settings
{
    std::vector<fault_kind> kinds{}; ///< That can be had.
    std::chrono::milliseconds lease{};
    std::chrono::milliseconds length{};
    std::size_t clients = 0;
};

/// What is to happen, and when, in order; decided by the seed alone. Each kind comes once before
/// one comes again, no two are in one place at a time, and now and then everybody is left in peace.
[[nodiscard]] std::vector<planned_fault> make_plan(std::uint64_t seed, const plan_settings& how);

} // namespace leasehold::test::chaos

#endif
