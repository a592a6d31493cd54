#ifndef LEASEHOLD_TEST_SIM_PROCESSES_HPP
#define LEASEHOLD_TEST_SIM_PROCESSES_HPP

#include "sim/checks.hpp"
#include "sim/trial.hpp"

#include <cstddef>
#include <functional>

namespace leasehold::test::sim {

/// Starts the clients, follows their requests, and shuts them down.
class processes
{
public:
    processes(trial& of, checks& judge) noexcept : trial_(of), checks_(judge) {}

    /// Called for the faults.
    std::function<void(process&)> on_start;
    std::function<void(process&, testing::step)> on_step;
    std::function<void(process&)> on_close;

    /// The first process of each client.
    void start_all();

    /// Replaces the last process of a client by the next.
    void restart(std::size_t client, testing::host& on);

    /// @param again Another process replaces it afterwards.
    void close(process& p, bool again);

    /// Shuts down the remaining processes. Returns false if a shutdown did not end.
    [[nodiscard]] bool close_all();

private:
    process& start(std::size_t client, testing::host& on);
    static void follow(process& p, testing::step done) noexcept;

    trial& trial_;
    checks& checks_;
};

} // namespace leasehold::test::sim

#endif
