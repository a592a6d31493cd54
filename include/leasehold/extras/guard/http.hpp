#ifndef LEASEHOLD_EXTRAS_GUARD_HTTP_HPP
#define LEASEHOLD_EXTRAS_GUARD_HTTP_HPP

#include <leasehold/detail/export.hpp>
#include <leasehold/extras/guard/error.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace leasehold::guard {

/// The header field for the fence of a request, in decimal digits. In the reply to a rejected
/// request it has the largest fence that has written.
inline constexpr std::string_view http_field = "Lease-Fence";

/// Parses the field of a request, in a server.
/// @param field The value of the field. Empty optional: the request has none.
/// @return The fence; 0 if `failed` is set.
/// @param failed `errc::missing_fence` or `errc::invalid_fence`; otherwise success. A valid field
///     has the digits of one number, with optional spaces and tabs around them. Two fields joined
///     by a proxy are invalid.
[[nodiscard]] LEASEHOLD_EXPORT std::uint64_t fence_of_http(std::optional<std::string_view> field,
                                                           error_code& failed) noexcept;

/// The status of the reply to a guarded write with this result:
///  - success: 204 No Content
///  - `errc::stale_fence`: 412 Precondition Failed, as for `If-Match`
///  - `errc::missing_fence`: 428 Precondition Required
///  - `errc::invalid_fence`: 400 Bad Request
///  - anything else: 500 Internal Server Error
[[nodiscard]] LEASEHOLD_EXPORT unsigned http_status(error_code result) noexcept;

} // namespace leasehold::guard

#endif
