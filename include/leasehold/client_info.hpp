#ifndef LEASEHOLD_CLIENT_INFO_HPP
#define LEASEHOLD_CLIENT_INFO_HPP

#include <chrono>
#include <cstdint>
#include <string>

namespace leasehold {

/// What a client says of itself to those who look who holds a lock. For people: nothing depends on
/// it, and whoever may write to the store may write anything. Members that nothing is known of are
/// empty.
struct client_info
{
    std::string host{};    ///< The name of the machine.
    std::string program{}; ///< What its process runs.
    std::string version{}; ///< Of this library.
    std::int64_t pid = 0;  ///< The number of the process on its machine.
    std::chrono::sys_time<std::chrono::milliseconds> since{}; ///< When the client began.

    /// Whether nothing is known.
    [[nodiscard]] bool empty() const noexcept { return *this == client_info(); }

    /// Compares all members.
    friend bool operator==(const client_info&, const client_info&) = default;
};

} // namespace leasehold

#endif
