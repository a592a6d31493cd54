#ifndef LEASEHOLD_DIAGNOSTICS_HPP
#define LEASEHOLD_DIAGNOSTICS_HPP

#include <leasehold/detail/export.hpp>

#include <chrono>
#include <string>

namespace leasehold {

/// What is known of a failure beyond its `error_code`, for people who read logs. Members that
/// nothing is known of are empty. No secret is in any of them.
struct diagnostics
{
    std::string server;         ///< Whom the client talked to: an address, a socket, a master.
    std::string key;            ///< What was asked for: the name of the lock.
    std::string server_message; ///< What the server answered, in its own words.
    std::chrono::nanoseconds waited{}; ///< Since the operation began.

    [[nodiscard]] bool empty() const noexcept
    {
        return server.empty() && key.empty() && server_message.empty() && waited.count() == 0;
    }

    void clear() noexcept
    {
        for (std::string* each : {&server, &key, &server_message})
            each->clear();
        waited = {};
    }

    /// One line: `server 127.0.0.1:6379, key 'stock', answered 'NOPERM …', waited 20 ms`. What is
    /// empty is left out, control characters are written as `\x0a`.
    [[nodiscard]] LEASEHOLD_EXPORT std::string to_string() const;
};

} // namespace leasehold

#endif
