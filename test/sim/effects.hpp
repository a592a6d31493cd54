#ifndef LEASEHOLD_TEST_SIM_EFFECTS_HPP
#define LEASEHOLD_TEST_SIM_EFFECTS_HPP

#include "sim/coverage.hpp"
#include "sim/trial.hpp"

#include <bitset>
#include <chrono>
#include <cstdint>
#include <deque>

namespace leasehold::test::sim {

/// Counts the faults that had an effect, by the client's phase. A cut without an affected message,
/// or a cancellation of nothing, is not counted.
class effects
{
public:
    using met_phases = std::bitset<phases>;

    /// A fault that was applied to a client.
    struct incident
    {
        const fault* what;
        process* client;
        met_phases met;     ///< The phase at the time of the fault.
        met_phases counted; ///< The phases in which a lasting fault had an effect.
        testing::mishaps before;
        client_stats stats;
        std::uint64_t served;   ///< Requests of this client that a server has executed.
        clock::time_point when; ///< True time.
        clock::time_point shown;
        std::chrono::system_clock::time_point wall;
        std::chrono::microseconds server_time;
        bool waited_for; ///< There is a waiter for the name here.
        bool was_closing;
        std::uint64_t stale_answers;
        bool happened = false;
    };

    explicit effects(trial& of) noexcept : trial_(of) {}

    /// To be called before a fault is applied.
    incident& begin(const fault& f, process& p);

    /// To be called after it. `changed`: the fault itself reports an effect.
    void applied(incident& i, bool changed, milliseconds how_long);

    /// A client has reached another step: earlier effects on its messages belong to the old phase.
    void step(process& p);

    /// The run has ended.
    void end();

private:
    [[nodiscard]] met_phases phases_of(const process& p) const;
    [[nodiscard]] bool changed_something(const incident& i) const;
    void evaluate(incident& i);
    void count(const fault& f, const met_phases& met);

    trial& trial_;
    std::deque<incident> incidents_;
};

} // namespace leasehold::test::sim

#endif
