#ifndef LEASEHOLD_SRC_CORE_TURN_TIME_SOURCE_HPP
#define LEASEHOLD_SRC_CORE_TURN_TIME_SOURCE_HPP

#include <leasehold/clock.hpp>
#include <leasehold/detail/fwd.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace leasehold {

class observer;
class store;

} // namespace leasehold

namespace leasehold::detail {

namespace asio = boost::asio;

/// The source of a client's time and wake-ups: the operating system, or a simulation.
class time_source
{
public:
    virtual ~time_source() = default;

    /// From any thread.
    [[nodiscard]] virtual clock::time_point now() const noexcept = 0;

    /// Called once, on the strand; `wake` is called on it from then on.
    virtual void open(const asio::any_io_executor& strand, std::function<void()> wake) = 0;

    /// Calls `wake` once, at `when` or a little later. Replaces an earlier request.
    virtual void wake_at(clock::time_point when) = 0;

    /// Ends the calls of `wake`.
    virtual void close() noexcept = 0;

    /// The seed of the client's random numbers and its id, if a run must be repeatable. Nothing:
    /// that of the operating system.
    [[nodiscard]] virtual std::optional<std::uint64_t> seed() const noexcept
    {
        return std::nullopt;
    }
};

/// A client's core with the time of `time`.
/// @param acquires The maximum number of outstanding acquires; 0: the usual number.
[[nodiscard]] LEASEHOLD_EXPORT client_state_ptr
make_client_state(const asio::any_io_executor& executor, std::shared_ptr<store> backend,
                  std::shared_ptr<observer> watching, std::unique_ptr<time_source> time,
                  std::size_t acquires = 0);

[[nodiscard]] LEASEHOLD_EXPORT std::unique_ptr<time_source> make_system_time();

/// Its seed, or one of the operating system's.
[[nodiscard]] LEASEHOLD_EXPORT std::uint64_t seed_of(const time_source& time);

} // namespace leasehold::detail

#endif
