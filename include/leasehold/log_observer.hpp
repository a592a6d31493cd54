#ifndef LEASEHOLD_LOG_OBSERVER_HPP
#define LEASEHOLD_LOG_OBSERVER_HPP

#include <leasehold/detail/export.hpp>
#include <leasehold/diagnostics.hpp>
#include <leasehold/error.hpp>
#include <leasehold/observer.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

namespace leasehold {

/// Writes the problems of a client as lines of text:
///  - The store cannot be reached, or rejects a request: the server and the cause. A line follows
///    when the client is connected again.
///  - A wait for a lock is longer than 0.9 seconds: the server, and the cause or the holder. A line
///    follows when the wait ends.
///  - A renewal is late, a lease is lost, or the TTL of a lock does not decrease.
///  - A lease was destroyed at once, without use: see `observer::unused`. Reported once.
///
/// A line about the same problem is repeated after a minute at the earliest, and there are at most
/// 20 problems a minute. Then one line says that more are left out. Lines contain the names of
/// locks, but no secret and no control character.
///
/// A client without a problem writes nothing, and its operations do no work for this observer.
/// @par Threads
/// As `observer`: called on the strand of the client. One object serves one client.
class LEASEHOLD_EXPORT log_observer final : public observer
{
public:
    /// Receives a line, without a line end. Must not block, and should not throw: the observer
    /// ignores exceptions.
    using sink = std::function<void(std::string_view line)>;

    /// Writes to standard error: see `log_to_stderr`.
    log_observer();
    /// Writes to `to`.
    /// @param to If empty, nothing is written.
    explicit log_observer(sink to);
    log_observer(const log_observer&) = delete;
    log_observer& operator=(const log_observer&) = delete;
    ~log_observer() override;

    /// True.
    [[nodiscard]] bool only_problems() const noexcept override { return true; }

    /// @name Events
    /// @{

    /// Writes a line, or none: see `observer`.
    void long_wait(std::string_view name, error_code why, duration waited,
                   std::chrono::milliseconds remaining,
                   const diagnostics& details) noexcept override;
    void long_wait_ended(std::string_view name, error_code why, duration waited) noexcept override;
    void suspect_expiry(std::string_view name,
                        std::chrono::milliseconds remaining) noexcept override;
    void renewal_late(std::string_view name, std::uint64_t fence, error_code why,
                      duration left) noexcept override;
    void lost(std::string_view name, std::uint64_t fence, duration held, error_code reason,
              const diagnostics& details) noexcept override;
    void unused(std::string_view name, std::uint64_t fence, duration held) noexcept override;
    void connected() noexcept override;
    void store_error(error_code code, const diagnostics& details) noexcept override;
    void disconnected(error_code why) noexcept override;
    /// @}

private:
    struct state;
    std::unique_ptr<state> state_;
};

/// Makes a `log_observer` that writes to standard error, each line after "leasehold: ". The default
/// of a client.
///
/// It never blocks: a line that cannot be written at once is lost, for example if a pipe is full.
/// (On other systems than Unix it may block.)
/// @throws std::bad_alloc There is not enough memory.
[[nodiscard]] LEASEHOLD_EXPORT std::shared_ptr<observer> log_to_stderr();

} // namespace leasehold

#endif
