#ifndef LEASEHOLD_SRC_ZOOKEEPER_PROTOCOL_ERRORS_HPP
#define LEASEHOLD_SRC_ZOOKEEPER_PROTOCOL_ERRORS_HPP

#include <leasehold/error.hpp>

#include <cstdint>
#include <string>

namespace leasehold::zookeeper_store {

// Errors that the store handles.
inline constexpr std::int32_t no_node = -101;
inline constexpr std::int32_t node_exists = -110;
inline constexpr std::int32_t login_required = -124; ///< The server closes the connection.
/// Not the server's: it counts fewer changes than the fences of earlier locks, because it was
/// restored from a backup, or is another one.
inline constexpr std::int32_t fence_below_floor = 1;

/// The meaning of an error of the server. An unknown one is `errc::store_refused`.
[[nodiscard]] error_code classify(std::int32_t error) noexcept;

/// The text of an error: "NoAuth: the user has no right to do this (-102)".
[[nodiscard]] std::string text_of(std::int32_t error);

/// The session, or this connection of it, has ended.
[[nodiscard]] bool ends_connection(std::int32_t error) noexcept;

/// Why there is no connection.
struct trouble
{
    error_code code{};
    std::string from_server{}; ///< The server's reason.
    std::string from_here{};   ///< Without one.
};

} // namespace leasehold::zookeeper_store

#endif
