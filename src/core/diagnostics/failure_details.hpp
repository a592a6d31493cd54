#ifndef LEASEHOLD_SRC_CORE_DIAGNOSTICS_FAILURE_DETAILS_HPP
#define LEASEHOLD_SRC_CORE_DIAGNOSTICS_FAILURE_DETAILS_HPP

#include "core/turn/turn_context.hpp"

#include <leasehold/clock.hpp>
#include <leasehold/diagnostics.hpp>
#include <leasehold/error.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace leasehold::detail {

/// What a client knows of a failure.
struct failure
{
    std::string_view name;      ///< Of the lock.
    error_code told;            ///< What the caller is told.
    error_code cause{};         ///< What the last request failed with, if it did.
    const diagnostics* said{};  ///< What the store said of that; may be null.
    std::string_view holder{};  ///< The id of an owner of this client that has the lock.
    clock::duration waited{};   ///< Since the operation began.
    std::uint32_t attempts = 0; ///< Requests since then.
};

/// Puts the details together. Null when there is no memory: a failure is told all the same.
[[nodiscard]] details_ptr make_details(const turn_context& client, const failure& of) noexcept;

/// The holder, as far as it may be shown. Empty: not known, or there is no memory.
[[nodiscard]] std::string shown_holder(const diagnostics& said) noexcept;

/// A copy; null when there is no memory.
[[nodiscard]] details_ptr copy_details(const diagnostics& from) noexcept;

/// What an observer is shown.
[[nodiscard]] const diagnostics& shown(const details_ptr& known) noexcept;

} // namespace leasehold::detail

#endif
