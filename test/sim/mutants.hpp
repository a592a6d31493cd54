#ifndef LEASEHOLD_TEST_SIM_MUTANTS_HPP
#define LEASEHOLD_TEST_SIM_MUTANTS_HPP

#include "base/mutant.hpp"

#include <optional>
#include <string_view>

namespace leasehold::test::sim {

[[nodiscard]] const char* name_of(mutant m) noexcept;
/// Whether the error has an effect only in a quorum of servers.
[[nodiscard]] bool is_of_quorum(mutant m) noexcept;
/// Whether the error has an effect only with a store whose locks live in sessions.
[[nodiscard]] bool is_of_session(mutant m) noexcept;
/// Whether the error has an effect only in a cluster.
[[nodiscard]] bool is_of_cluster(mutant m) noexcept;
[[nodiscard]] std::optional<mutant> mutant_of(std::string_view name) noexcept;

} // namespace leasehold::test::sim

#endif
