#ifndef LEASEHOLD_TEST_CHAOS_ROUND_HPP
#define LEASEHOLD_TEST_CHAOS_ROUND_HPP

#include "chaos/client_fleet.hpp"
#include "chaos/deployment.hpp"
#include "chaos/record.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>

namespace leasehold::test::chaos {

struct round_settings
{
    deployment_kind on{};
    crew_settings clients{};
    std::chrono::milliseconds length{}; ///< How long there are faults.
};

/// How far a round is. Called often; may throw to end it: everything that was started is ended
/// then.
using progress_function = std::function<void(const client_fleet& clients, std::size_t faults)>;

/// Starts servers, a register and clients; breaks things for a while; mends them; lets everybody
/// get in once more, and go.
[[nodiscard]] record run_round(const round_settings& how, const progress_function& progress);

/// A round in which the first client is stopped `pauses` times, when it stands between looking at
/// its lease and writing, until somebody else has written. Nothing else is broken. `fenced` says
/// whether the register looks at fences.
[[nodiscard]] record run_overtaken(const round_settings& how, const progress_function& progress);

/// A round in which the master of the first name is cut off from its replicas and replaced, while
/// the first client takes that lock there and keeps it; then the second one asks for it.
[[nodiscard]] record run_cut_off(const round_settings& how, const progress_function& progress);

} // namespace leasehold::test::chaos

#endif
