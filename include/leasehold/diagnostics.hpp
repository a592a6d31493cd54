#ifndef LEASEHOLD_DIAGNOSTICS_HPP
#define LEASEHOLD_DIAGNOSTICS_HPP

#include <leasehold/client_info.hpp>
#include <leasehold/detail/export.hpp>
#include <leasehold/error.hpp>

#include <boost/system/system_error.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>

namespace leasehold {

/// Details of a failure beyond its `error_code`, for logs. An unknown member is empty. No member
/// contains a secret.
///
/// An operation sets its `diagnostics` right before its handler is called, on the handler's
/// executor. Without an error, it clears the object. The object must live until then.
struct diagnostics
{
    std::string server{};         ///< The server: an address, a socket, a master.
    std::string key{};            ///< The name of the lock.
    std::string server_message{}; ///< The server's reply.
    /// Why there is no connection to the server: for example a host that is not found, a refused
    /// connection, an untrusted certificate.
    std::string connection_error{};
    /// The `client::id` of the holder's client, as the store last reported. It does not permit
    /// reentrant acquisition.
    std::string holder{};
    /// The error of the last request to the store, if it differs from the error of the operation.
    /// For a lost lease: the error of the last renewal or heartbeat.
    error_code cause{};
    /// Time since the operation began. For a lost lease: since the first failed renewal.
    std::chrono::milliseconds waited{};
    /// Requests to the store in that time. An acquire is sent for all waiters of the name in this
    /// client.
    std::uint32_t attempts = 0;
    /// The description that the holder's client published (`redis_config::client_info`), if it was
    /// found. A waiting operation looks it up during the wait. A single try waits for it for at
    /// most 100 ms. It does so only with `with_diagnostics` (the default token), a `diagnostics&`
    /// or an observer. The result is cached, so each new holder costs one more round trip.
    client_info holder_info{};

    /// Whether every member is empty.
    [[nodiscard]] bool empty() const noexcept
    {
        return server.empty() && key.empty() && server_message.empty() &&
               connection_error.empty() && holder.empty() && !cause && waited.count() == 0 &&
               attempts == 0 && holder_info.empty();
    }

    /// Clears every member. The strings keep their memory.
    void clear() noexcept
    {
        for (std::string* each : {&server, &key, &server_message, &connection_error, &holder})
            each->clear();
        cause = {};
        waited = {};
        attempts = 0;
        holder_info = {};
    }

    /// Returns one line. Empty members are left out. Control characters are written as hexadecimal
    /// escapes. Example:
    /// @code{.txt}
    /// server 127.0.0.1:6379, key 'stock', held by client 5e0f8c21 (orders on web-3, pid 4711,
    /// since 2026-11-23 02:04:05 UTC), waited 20 ms, 2 attempts
    /// @endcode
    [[nodiscard]] LEASEHOLD_EXPORT std::string to_string() const;

    /// Compares all members.
    friend bool operator==(const diagnostics&, const diagnostics&) = default;
};

/// The public part of an owner's id: the first eight digits of the UUID of its client. They
/// distinguish clients, and reveal 32 of 122 random bits. Empty if the text is not
/// `<uuid>:<number>`. For stores, which have the whole id.
[[nodiscard]] LEASEHOLD_EXPORT std::string holder_name(std::string_view owner_id);

/// A `system_error` with details. `what()` is `diagnostics::to_string()`, a colon, and the message
/// of the error. With the default token, `co_await` of an operation of this library throws it: see
/// `with_diagnostics`. Copying it never throws.
class LEASEHOLD_EXPORT error_with_diagnostics : public boost::system::system_error
{
public:
    /// @param details Not null.
    error_with_diagnostics(error_code code, std::shared_ptr<const diagnostics> details);
    /// Copies the exception. There is no separate move: a moved-from exception keeps its details.
    error_with_diagnostics(const error_with_diagnostics&) = default;
    /// Copies the exception.
    error_with_diagnostics& operator=(const error_with_diagnostics&) = default;

    /// The details beyond the `error_code`.
    [[nodiscard]] const diagnostics& get_diagnostics() const noexcept { return *details_; }

private:
    std::shared_ptr<const diagnostics> details_;
};

namespace detail {

using details_ptr = std::shared_ptr<const diagnostics>;

/// The exception for an error: `error_with_diagnostics` if there are details. Null for success.
[[nodiscard]] LEASEHOLD_EXPORT std::exception_ptr to_exception(error_code,
                                                               const details_ptr&) noexcept;

/// Copies the details. Clears `to` if there are none, or if memory is short.
LEASEHOLD_EXPORT void report(diagnostics& to, const details_ptr& from) noexcept;

} // namespace detail
} // namespace leasehold

#endif
