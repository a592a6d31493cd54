#ifndef LEASEHOLD_SRC_ETCD_PROTOCOL_ERRORS_HPP
#define LEASEHOLD_SRC_ETCD_PROTOCOL_ERRORS_HPP

#include <leasehold/detail/export.hpp>
#include <leasehold/error.hpp>

#include <string>
#include <string_view>

namespace leasehold::etcd_store {

/// An error of the server: the code of gRPC with its text, or the status of HTTP if another program
/// has answered.
struct server_error
{
    int code = 0;   ///< Of gRPC. 0: there is none.
    int status = 0; ///< Of HTTP.
    std::string text{};
};

/// Reads the error of a reply whose status is not 200.
[[nodiscard]] LEASEHOLD_ETCD_EXPORT server_error read_error(int status, std::string_view body);

/// The meaning of an error. `outcome_unknown`: the request may have been executed.
[[nodiscard]] error_code classify(const server_error& error) noexcept;

/// "etcdserver: permission denied (gRPC 7)".
[[nodiscard]] LEASEHOLD_ETCD_EXPORT std::string text_of(const server_error& error);

/// The server does not know the token (any more). The request was not executed.
[[nodiscard]] bool needs_authentication(const server_error& error) noexcept;

/// The lease of the request has ended. The request was not executed.
[[nodiscard]] bool is_lease_gone(const server_error& error) noexcept;

/// The next revision of the server is smaller than earlier fences of a lock.
inline constexpr const char* fence_below_floor =
    "the revision is smaller than earlier fences of this lock; was the server restored from a "
    "backup?";

/// Why there is no connection.
struct trouble
{
    error_code code{};
    std::string from_server{}; ///< The server's reason.
    std::string from_here{};   ///< Without one.
};

[[nodiscard]] inline trouble trouble_here(std::string text)
{
    return {.code = errc::store_unavailable, .from_server = {}, .from_here = std::move(text)};
}

[[nodiscard]] trouble trouble_of(const server_error& error);

} // namespace leasehold::etcd_store

#endif
