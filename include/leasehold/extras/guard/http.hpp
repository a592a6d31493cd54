#ifndef LEASEHOLD_EXTRAS_GUARD_HTTP_HPP
#define LEASEHOLD_EXTRAS_GUARD_HTTP_HPP

#include <leasehold/detail/export.hpp>
#include <leasehold/extras/guard/error.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace leasehold::guard {

/// The field of a request that carries the fence, in decimal digits, and of the answer to one that
/// was refused, which carries the largest fence that has written.
inline constexpr std::string_view http_field = "Lease-Fence";

/// What a server makes of the field of a request.
/// @param field The value of the field; nothing: the request has none.
/// @return The fence; 0 when `failed` is set.
/// @param failed `errc::missing_fence` or `errc::invalid_fence`; success otherwise. A field with
/// anything but the digits of one number, spaces and tabs around them aside, is invalid: so is one
/// that a proxy joined out of two.
[[nodiscard]] LEASEHOLD_EXPORT std::uint64_t fence_of_http(std::optional<std::string_view> field,
                                                           error_code& failed) noexcept;

/// The status that answers a guarded write, which ended with `result`:
///  - success: 204 No Content
///  - `errc::stale_fence`: 412 Precondition Failed, as for `If-Match`
///  - `errc::missing_fence`: 428 Precondition Required
///  - `errc::invalid_fence`: 400 Bad Request
///  - anything else: 500 Internal Server Error
[[nodiscard]] LEASEHOLD_EXPORT unsigned http_status(error_code result) noexcept;

} // namespace leasehold::guard

#endif
