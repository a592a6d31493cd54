#ifndef LEASEHOLD_TEST_SIM_EFFECTS_HPP
#define LEASEHOLD_TEST_SIM_EFFECTS_HPP

#include "sim/coverage.hpp"
#include "sim/trial.hpp"

#include <bitset>
#include <chrono>
#include <cstdint>
#include <deque>

namespace leasehold::test::sim {

/// Counts the faults that changed something, by what the client was doing then: a cut that no
/// message met, or a cancellation of nothing, is not counted.
class effects
{
public:
    using met_phases = std::bitset<phases>;

    /// A fault that was applied to a client.
    struct incident
    {
        const fault* what;
        process* client;
        met_phases met;     ///< When it came.
        met_phases counted; ///< Of those of a lasting fault, where it has changed something.
        testing::mishaps before;
        client_stats stats;
        std::uint64_t served;   ///< Requests of this client that a server has run.
        clock::time_point when; ///< True time.
        clock::time_point shown;
        std::chrono::system_clock::time_point wall;
        std::chrono::microseconds server_time;
        bool waited_for; ///< Somebody waits for the name here.
        bool was_closing;
        std::uint64_t stale_answers;
        bool happened = false;
    };

    explicit effects(trial& of) noexcept : trial_(of) {}

    /// To be called before a fault is applied.
    incident& begin(const fault& f, process& p);

    /// To be called when it has been. `changed`: it says itself that it did.
    void applied(incident& i, bool changed, milliseconds how_long);

    /// A client has come to another step: what befell its messages belongs to the phase of then.
    void step(process& p);

    /// The run is over.
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
