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

/// The client's information about a failure.
struct failure
{
    std::string_view name;         ///< Of the lock.
    error_code error;              ///< The error for the caller.
    error_code cause{};            ///< The error of the last request, if it failed.
    const diagnostics* reported{}; ///< The store's details of that; may be null.
    std::string_view holder{};     ///< The id of an owner of this client that holds the lock.
    clock::duration waited{};      ///< Since the operation began.
    std::uint32_t attempts = 0;    ///< Requests since then.
};

/// Makes the details. Null if there is no memory: the failure is still reported.
[[nodiscard]] details_ptr make_details(const turn_context& client, const failure& of) noexcept;

/// The holder, as far as it may be shown. Empty: unknown, or there is no memory.
[[nodiscard]] std::string shown_holder(const diagnostics& details) noexcept;

/// A copy; null if there is no memory.
[[nodiscard]] details_ptr copy_details(const diagnostics& from) noexcept;

/// The details for an observer.
[[nodiscard]] const diagnostics& shown(const details_ptr& known) noexcept;

} // namespace leasehold::detail

#endif
