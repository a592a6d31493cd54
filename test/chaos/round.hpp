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
    std::chrono::milliseconds length{}; ///< The time in which there are faults.
};

/// The progress of a round. Called often. May throw to end the round, which then ends everything
/// that was started.
using progress_function = std::function<void(const client_fleet& clients, std::size_t faults)>;

/// Starts servers, a register and clients, causes faults for a while and repairs them. Then lets
/// all clients get the locks once more, and end.
[[nodiscard]] record run_round(const round_settings& how, const progress_function& progress);

/// A round in which the first client is stopped `pauses` times, between checking its lease and
/// writing, until another client has written. There is no other fault. `fenced`: whether the
/// register checks fences.
[[nodiscard]] record run_overtaken(const round_settings& how, const progress_function& progress);

/// A round in which the master of the first name is cut off from its replicas and replaced, while
/// the first client acquires that lock there and keeps it. Then the second client acquires it.
[[nodiscard]] record run_cut_off(const round_settings& how, const progress_function& progress);

} // namespace leasehold::test::chaos

#endif
