#ifndef LEASEHOLD_TEST_MODEL_STEPS_HPP
#define LEASEHOLD_TEST_MODEL_STEPS_HPP

#include "model/setting.hpp"
#include "model/state.hpp"

#include <cstdint>
#include <vector>

namespace leasehold::test::model {

/// A possible next event, and the owner or client that it concerns.
struct step
{
    enum class type : std::uint8_t
    {
        // Steps towards the end.
        start_short,
        start_long,
        try_short,
        try_long,
        poll,
        leave,
        leave_and_join,
        leave_alone,
        renew,
        hand_on,
        reenter,
        leave_entry,
        reconnect,
        listen,
        release_owed,
        run,
        run_leaving_free,
        never_runs,
        limit_passed,
        deliver,
        expire,
        presence_over,
        queue_over,
        entries_over,
        turn_over,
        external_takes,
        external_leaves,
        // Steps that are neither that nor faults.
        cancel,
        elsewhere,
        snapshot,
        // Faults.
        crash,
        crash_unnoticed,
        disconnect,
        deafen,
        turn_lost,
        turn_doubled,
        key_lost,
        presence_lost,
        too_late,
        fence_refused,
        flush,
        restart,
        external_crash,
    };
    type what;
    std::uint8_t client = 0; ///< The client, or the owner whose presence has ended.
    message about{};

    [[nodiscard]] bool progress() const noexcept { return what < type::cancel; }
    [[nodiscard]] bool fault() const noexcept { return what >= type::crash; }
};

struct successor
{
    step by;
    state to;
    const char* wrong = nullptr; ///< The property that the step violates.
};

/// All possible steps of a state. The results are not in canonical form.
void successors(const state& from, const setting& g, std::vector<successor>& out);

state first_state(const setting& g);

} // namespace leasehold::test::model

#endif
