#ifndef LEASEHOLD_CLIENT_INFO_HPP
#define LEASEHOLD_CLIENT_INFO_HPP

#include <chrono>
#include <cstdint>
#include <string>

namespace leasehold {

/// The description that a client publishes for people who inspect a lock. The library does not rely
/// on it, because every program that may write to the store can change it. An unknown member is
/// empty.
struct client_info
{
    std::string host{};                                       ///< The name of the machine.
    std::string program{};                                    ///< The name of the program.
    std::string version{};                                    ///< The version of this library.
    std::int64_t pid = 0;                                     ///< The process id.
    std::chrono::sys_time<std::chrono::milliseconds> since{}; ///< The start of the client.

    /// Whether every member is empty.
    [[nodiscard]] bool empty() const noexcept { return *this == client_info(); }

    /// Compares all members.
    friend bool operator==(const client_info&, const client_info&) = default;
};

} // namespace leasehold

#endif
