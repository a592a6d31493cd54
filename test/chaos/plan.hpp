#ifndef LEASEHOLD_TEST_CHAOS_PLAN_HPP
#define LEASEHOLD_TEST_CHAOS_PLAN_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace leasehold::test::chaos {

/// How a server stores its data, which decides what a SIGKILL loses.
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
    power_cut, ///< Killed, and the last writes to the file are lost.
    stop_server,
    sleep_server,
    slow_script,
    flush_scripts,
    flush_all,
    delete_key,
    kill_connections,
    out_of_memory,
    lock_tables, ///< Another session of a database keeps the tables locked.
                 /// @}
                 /// @name At servers that replace each other
                 /// @{
    kill_master,
    stop_master,   ///< Until another master has taken over, or for a shorter time.
    cut_master,    ///< Cut off from its replicas, but not from connected clients.
    switch_master, ///< On purpose.
    kill_replica,
    stop_replica,
    kill_sentinel,
    move_slot, ///< The slot of a lock is moved to another master.

    /// The slot of a lock gets no node, and then the cluster serves no slot.
    orphan_slot,
    /// @}
    /// @name At one of a quorum
    /// @{
    kill_member,
    stop_member,
    empty_member,
    cut_member, ///< Cut off from the others, but not from clients.
                /// @}
    stop_client,
    kill_client,
    half_open, ///< No more data arrives in either direction, and no error is reported.
    blackhole, ///< The same, but the data arrives at the end of the fault.
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

/// Whether data that the only server has confirmed may be gone afterwards.
[[nodiscard]] bool loses_data(fault_kind kind, persistence how) noexcept;

/// The place of a fault at a server. There is one such fault at a time.
inline constexpr std::size_t the_server = ~std::size_t{0};

struct planned_fault
{
    fault_kind kind;
    std::size_t place;                ///< The client of this number, or `the_server`.
    std::chrono::milliseconds begin;  ///< Since the beginning of the round.
    std::chrono::milliseconds length; ///< 0: ends at once.
    std::uint64_t detail;             ///< Selects one of the possible targets.
};

/// The maximum number of faults at once. Two show more than one alone, and with more than two the
/// cause could not be found.
inline constexpr std::size_t most_at_once = 2;

struct plan_settings
{
    std::vector<fault_kind> kinds{}; ///< The possible kinds.
    std::chrono::milliseconds lease{};
    std::chrono::milliseconds length{};
    std::size_t clients = 0;
};

/// The faults and their times, in order, determined by the seed alone. Each kind is used once
/// before a kind is repeated, no two faults are at one place at a time, and sometimes there is no
/// fault for a while.
[[nodiscard]] std::vector<planned_fault> make_plan(std::uint64_t seed, const plan_settings& how);

} // namespace leasehold::test::chaos

#endif
