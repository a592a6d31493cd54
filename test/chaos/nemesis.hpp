#ifndef LEASEHOLD_TEST_CHAOS_NEMESIS_HPP
#define LEASEHOLD_TEST_CHAOS_NEMESIS_HPP

#include "chaos/crew.hpp"
#include "chaos/record.hpp"
#include "support/redis_server.hpp"
#include "support/resp_client.hpp"
#include "testing/random.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace leasehold::test::chaos {

/// How a server keeps its data, and hence what a SIGKILL takes.
enum class persistence : std::uint8_t
{
    none,
    always,
    everysec,
};

/// The options for redis-server.
[[nodiscard]] std::vector<std::string> options_for(persistence how);

enum class fault_kind : std::uint8_t
{
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
    stop_client,
    kill_client,
    blackhole,
    drop_requests,
    drop_replies,
    hold_replies,
    reset_connections,
    reset_after_command,
    refuse_connections,
    latency,
    count_,
};

[[nodiscard]] const char* name_of(fault_kind kind) noexcept;

/// Breaks a server, its clients and what is between them, and mends them again, in an order that a seed decides. Each kind comes once before
/// one comes again. No more than two faults at a time, and no two in one place; now and then it leaves everybody in peace.
class nemesis
{
public:
    nemesis(std::uint64_t seed, persistence how, std::chrono::milliseconds lease, std::vector<std::string> names, redis_server& server,
            crew& clients);

    /// Does what is due by now.
    void step(stamp now);

    /// Mends everything.
    void heal();

    /// What was done so far; those that are not over yet have no end.
    [[nodiscard]] const std::vector<fault>& log() const noexcept { return log_; }

private:
    static constexpr std::size_t the_server = ~std::size_t{0};

    struct active
    {
        fault_kind kind;
        std::size_t place; ///< Of the client, or `the_server`.
        stamp until;
        std::size_t logged; ///< Index in the log.
        std::unique_ptr<resp_client> connection{};
        std::uint64_t size = 0;
    };

    bool begin_next(stamp now);
    void begin(active& what);
    void end(active& what);
    void begin_for_server(active& what);
    void begin_for_client(active& what);
    bool busy(std::size_t place) const;
    bool known(fault_kind kind) const;
    fault_kind next_kind();
    std::size_t free_client();
    stamp lease_times(int tenths_from, int tenths_to);
    void done(const std::vector<std::string>& command);
    std::optional<std::filesystem::path> append_only_file() const;

    testing::impl::generator random_;
    const persistence persistence_;
    const std::chrono::milliseconds lease_;
    const std::vector<std::string> names_;
    redis_server& server_;
    crew& crew_;
    std::vector<fault> log_;
    std::vector<active> active_;
    std::vector<fault_kind> bag_;
    stamp next_{};
    bool resting_ = false;
    bool sleeps_ = true; ///< The server has DEBUG SLEEP.
};

/// Now, by the clock of the histories.
[[nodiscard]] stamp boot_time() noexcept;

} // namespace leasehold::test::chaos

#endif
