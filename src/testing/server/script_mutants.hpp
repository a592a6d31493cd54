#ifndef LEASEHOLD_SRC_TESTING_SERVER_SCRIPT_MUTANTS_HPP
#define LEASEHOLD_SRC_TESTING_SERVER_SCRIPT_MUTANTS_HPP

#include "base/mutant.hpp"
#include "redis/protocol/script.hpp"
#include "testing/server/known_script.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace leasehold::testing::impl {

/// A deliberate error in a script: it replaces a text wherever it occurs in the script. The text
/// has no comments and indentation, because the scripts are sent without them.
struct script_patch
{
    mutant error;
    std::string_view text, instead;
    std::optional<known_script> only = std::nullopt; ///< In this script; otherwise in all.
};

/// The text of a script with the deliberate error in it.
[[nodiscard]] std::string with_mutant(const redis_store::script& source, mutant error);

[[nodiscard]] std::span<const script_patch> patches_of_scripts() noexcept;

/// A patch that changes no script, because none has its text any more; null: there is none.
[[nodiscard]] const script_patch* find_stale_patch(std::span<const script_patch> among);

} // namespace leasehold::testing::impl

#endif
