#ifndef LEASEHOLD_TESTING_TIMER_HPP
#define LEASEHOLD_TESTING_TIMER_HPP

#include <leasehold/clock.hpp>
#include <leasehold/detail/initiation.hpp>
#include <leasehold/error.hpp>
#include <leasehold/testing/host.hpp>

#include <memory>

namespace leasehold::testing {

namespace impl {

class timer_state;

/// The data of a wait.
struct timer_parts
{
    asio::any_io_executor executor;
    std::shared_ptr<timer_state> state;

    friend const asio::any_io_executor& executor_of(const timer_parts& of) noexcept
    {
        return of.executor;
    }
};

LEASEHOLD_TESTING_EXPORT void start_wait(leasehold::detail::bound_handler<void(error_code)>&&,
                                         const timer_parts&);

} // namespace impl

/// Waits in the virtual time of a host, by its clock, as `asio::steady_timer` does in a real
/// process.
///
/// @par Threads
/// One, as everything in a world.
class LEASEHOLD_TESTING_EXPORT timer
{
public:
    /// Constructs a timer of that host that is not set.
    explicit timer(host& where);
    ~timer();
    /// Takes over the outstanding waits.
    timer(timer&&) noexcept = default;
    timer& operator=(timer&&) = delete;

    /// Sets the time relative to now. Cancels outstanding waits.
    void expires_after(clock::duration how_long);
    /// Sets the time by the clock of its host. Cancels outstanding waits.
    void expires_at(clock::time_point when);

    /// Completes outstanding waits with `operation_aborted`.
    void cancel();

    /// The executor of its host.
    [[nodiscard]] asio::any_io_executor get_executor() const noexcept { return parts_.executor; }

    /// Waits until the timer expires.
    /// @return What `token` determines. `co_await` with the default token returns nothing.
    /// @par Signature
    /// `void(error_code)`
    /// @par Errors
    ///  - success: the timer has expired.
    ///  - `asio::error::operation_aborted`: cancelled, or the timer was destroyed or set again.
    /// @par Cancellation
    /// All types.
    /// @par Completion
    /// Never inside this call, on the handler's associated executor (default: the host's).
    template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
    auto async_wait(Token&& token = Token())
    {
        return leasehold::detail::initiate<void(error_code), &impl::start_wait>(
            parts_, std::forward<Token>(token));
    }

private:
    impl::timer_parts parts_;
};

} // namespace leasehold::testing

#endif
