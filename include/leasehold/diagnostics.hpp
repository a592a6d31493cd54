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

/// What is known of a failure beyond its `error_code`, for people who read logs. Members that
/// nothing is known of are empty. No secret is in any of them.
///
/// An operation that is given one sets it right before its handler is called, on the handler's
/// executor, and empties it when there was no error. It has to stay until then.
struct diagnostics
{
    std::string server{};         ///< Whom the client talked to: an address, a socket, a master.
    std::string key{};            ///< What was asked for: the name of the lock.
    std::string server_message{}; ///< What the server answered, in its own words.
    /// Why there is no connection to the server, as far as that is known: a host that is not found,
    /// a refused connection, a certificate that is not trusted.
    std::string connection_error{};
    /// Who holds the lock, as the store last said, or because it is this client: the `client::id`
    /// of the holder's client. Nobody can enter with it.
    std::string holder{};
    /// What the last request to the store failed with, where that is not the error itself. Of a
    /// lease that was lost: the last renewal or sign of life.
    error_code cause{};
    /// Since the operation began. Of a lease that was lost: since the first of the renewals that
    /// failed.
    std::chrono::milliseconds waited{};
    /// Requests to the store in that time; those of an acquire are sent for all who wait for the
    /// name in this client.
    std::uint32_t attempts = 0;
    /// What the holder's client says of itself, if it does and that could be found out: Redis
    /// stores write it (`config::client_info`), for people. A wait looks it up while it waits. One
    /// try that is told `held` waits 100 ms for it, at most, and only when somebody wants the
    /// details: `with_diagnostics`, which is the default token, or an observer. What was found out
    /// is kept, so it is one more round trip for each holder that is new to this client.
    client_info holder_info{};

    /// Whether nothing is known.
    [[nodiscard]] bool empty() const noexcept
    {
        return server.empty() && key.empty() && server_message.empty() &&
               connection_error.empty() && holder.empty() && !cause && waited.count() == 0 &&
               attempts == 0 && holder_info.empty();
    }

    /// Forgets everything, and keeps the memory of the strings.
    void clear() noexcept
    {
        for (std::string* each : {&server, &key, &server_message, &connection_error, &holder})
            each->clear();
        cause = {};
        waited = {};
        attempts = 0;
        holder_info = {};
    }

    /// One line: `server 127.0.0.1:6379, key 'stock', held by client 5e0f8c21 (orders on web-3, pid
    /// 4711, since 2026-11-23 02:04:05 UTC), waited 20 ms, 2 attempts`. What is empty is left out,
    /// control characters are written as hexadecimal escapes.
    [[nodiscard]] LEASEHOLD_EXPORT std::string to_string() const;

    /// Compares all members.
    friend bool operator==(const diagnostics&, const diagnostics&) = default;
};

/// What may be shown of an owner's id: the first eight digits of the UUID of its client, which tell
/// one client from another, and of 122 random bits give 32 away. Empty for a text that is no
/// `<uuid>:<number>`. For stores, which know the whole id.
[[nodiscard]] LEASEHOLD_EXPORT std::string holder_name(std::string_view owner_id);

/// A `system_error` that knows the details: `what()` is `diagnostics::to_string()`, a colon, and
/// what the error says. It is what a coroutine gets that waits for an operation of this library
/// with the default token, see `with_diagnostics`. Copying it never throws.
class LEASEHOLD_EXPORT error_with_diagnostics : public boost::system::system_error
{
public:
    /// @param details Not null.
    error_with_diagnostics(error_code code, std::shared_ptr<const diagnostics> details);
    /// Copies the exception. There is no separate move: an exception that was moved from keeps its
    /// details.
    error_with_diagnostics(const error_with_diagnostics&) = default;
    /// Copies the exception.
    error_with_diagnostics& operator=(const error_with_diagnostics&) = default;

    /// What is known beyond the `error_code`.
    [[nodiscard]] const diagnostics& get_diagnostics() const noexcept { return *details_; }

private:
    std::shared_ptr<const diagnostics> details_;
};

namespace detail {

using details_ptr = std::shared_ptr<const diagnostics>;

/// The exception for an error; `error_with_diagnostics` where there are details. Null for success.
[[nodiscard]] LEASEHOLD_EXPORT std::exception_ptr to_exception(error_code,
                                                               const details_ptr&) noexcept;

/// Copies them to where the caller wants them. Empties that when there are none, or no memory.
LEASEHOLD_EXPORT void report(diagnostics& to, const details_ptr& from) noexcept;

} // namespace detail
} // namespace leasehold

#endif
