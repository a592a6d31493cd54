#ifndef LEASEHOLD_TEST_CHAOS_NEMESIS_HPP
#define LEASEHOLD_TEST_CHAOS_NEMESIS_HPP

#include "chaos/client_fleet.hpp"
#include "chaos/plan.hpp"
#include "chaos/record.hpp"
#include "support/redis_server.hpp"
#include "support/resp_client.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace leasehold::test::chaos {

/// The options for redis-server.
[[nodiscard]] std::vector<std::string> options_for(persistence how);

/// Whether the server has DEBUG SLEEP, and allows it.
[[nodiscard]] bool can_sleep(const redis_server& server);

/// Breaks a server, its clients and what is between them, and mends them again, as it was planned:
/// in that order, a little later where something took longer.
class nemesis
{
public:
    nemesis(std::vector<planned_fault> plan, persistence how, std::chrono::milliseconds lease,
            std::vector<std::string> names, redis_server& server, client_fleet& clients);

    /// Does what is due by now.
    void step(stamp now);

    /// Mends everything.
    void heal();

    /// What was done so far; those that are not over yet have no end.
    [[nodiscard]] const std::vector<fault>& log() const noexcept { return log_; }

private:
    struct active
    {
        planned_fault what;
        stamp until;
        std::size_t logged; ///< Index in the log.
        std::unique_ptr<resp_client> connection{};
        std::uint64_t size = 0;
    };

    bool busy(std::size_t place) const;
    void begin(const planned_fault& planned, stamp now);
    void begin_at_server(active& fault);
    void begin_at_client(const planned_fault& planned);
    void end(active& fault);
    void done(const std::vector<std::string>& command);
    std::optional<std::filesystem::path> append_only_file() const;

    const std::vector<planned_fault> plan_;
    const persistence persistence_;
    const std::chrono::milliseconds lease_;
    const std::vector<std::string> names_;
    redis_server& server_;
    client_fleet& crew_;
    const stamp started_;
    std::size_t next_ = 0; ///< In the plan.
    std::vector<fault> log_;
    std::vector<active> active_;
};

/// Now, by the clock of the histories.
[[nodiscard]] stamp boot_time() noexcept;

} // namespace leasehold::test::chaos

#endif
