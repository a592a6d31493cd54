#ifndef LEASEHOLD_TEST_SIM_SESSION_SESSION_FAULTS_HPP
#define LEASEHOLD_TEST_SIM_SESSION_SESSION_FAULTS_HPP

#include "sim/session/session_scene.hpp"

namespace leasehold::test::sessions {

/// The faults of a run, in its first third.
class faults
{
public:
    explicit faults(scene& of) : scene_(of) {}

    /// Schedules a random fault at a random time.
    void schedule();

private:
    enum class kind : std::uint8_t
    {
        cut,
        cut_to_service,
        cut_from_service,
        slow,
        reset,
        service_stalled,
        pause,
        suspend,
        drift,
        crash,
        shutdown,
        removal, ///< An operator removes a holder.
        count_,
    };

    void apply(kind what, std::uint64_t client, milliseconds how_long);
    void cut(process& p, kind what, clock::time_point until);
    void stop(process& p, void (testing::host::*how)(clock::duration), milliseconds how_long);
    void crash(process& p, std::uint64_t client, milliseconds how_long);
    void shut_down(process& p, std::uint64_t client);
    void remove_holder(std::uint64_t name);
    void trouble(clock::time_point& until, clock::duration how_long);

    scene& scene_;
};

} // namespace leasehold::test::sessions

#endif
