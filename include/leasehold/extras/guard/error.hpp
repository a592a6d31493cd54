#ifndef LEASEHOLD_EXTRAS_GUARD_ERROR_HPP
#define LEASEHOLD_EXTRAS_GUARD_ERROR_HPP

#include <leasehold/detail/export.hpp>
#include <leasehold/error.hpp>

#include <boost/system/error_category.hpp>
#include <boost/system/error_code.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

/// Guards, which reject a write whose fencing token is smaller than one that has written before.
namespace leasehold::guard {

/// The largest fence that every guard can store: that of a signed 64-bit column. The stores reach
/// it in more than a hundred thousand years.
inline constexpr std::uint64_t largest_fence = std::numeric_limits<std::int64_t>::max();

/// The reason why a guard rejected a write.
enum class errc
{
    stale_fence = 1, ///< A larger fence has written; nothing was written. The caller has lost its
                     ///< lock and should stop.
    missing_fence,   ///< The request has no fence.
    invalid_fence,   ///< The fence is 0 (no lease), not a number, or above `largest_fence`; nothing
                     ///< was written.
    invalid_identifier, ///< The name of a table or a column is empty, too long, or contains a zero
                        ///< byte.
    invalid_write,      ///< The write has no command, or an empty one; nothing was sent.
    different_slots, ///< The fence and the data are in different slots of a Redis Cluster; nothing
                     ///< was sent.
    damaged_fence,   ///< The stored value is not a fence; nothing was written.
    write_failed,    ///< The fence was accepted and stored, and one of the writes failed.
};

/// The category of `errc`. Thread-safe; never throws.
[[nodiscard]] LEASEHOLD_EXPORT const boost::system::error_category& guard_category() noexcept;

/// Makes an `error_code` of an `errc`.
[[nodiscard]] inline error_code make_error_code(errc e) noexcept
{
    return {static_cast<int>(e), guard_category()};
}

/// Returns `errc::invalid_fence` for a fence that every guard rejects, otherwise success.
[[nodiscard]] LEASEHOLD_EXPORT error_code check_fence(std::uint64_t fence) noexcept;

} // namespace leasehold::guard

namespace boost::system {

template <>
struct is_error_code_enum<leasehold::guard::errc> : std::true_type
{};

} // namespace boost::system

#endif
