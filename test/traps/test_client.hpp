#ifndef LEASEHOLD_TEST_TRAPS_TEST_CLIENT_HPP
#define LEASEHOLD_TEST_TRAPS_TEST_CLIENT_HPP

#include "support/recording_observer.hpp"
#include "support/run.hpp"

#include <leasehold/client.hpp>
#include <leasehold/lease.hpp>
#include <leasehold/mutex.hpp>
#include <leasehold/options.hpp>
#include <leasehold/owner.hpp>
#include <leasehold/redis.hpp>

#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace leasehold::test {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

/// More time than the slowest machine needs for an effect that is promised "at once".
inline constexpr milliseconds ample = 20s;

/// A lease time that outlasts `ample`: a key that disappears within a test did not expire.
inline constexpr milliseconds long_time = 30s;

inline const error_code success;

using kind = recording_observer::kind;

/// A started operation and its result. Copies share it.
class started
{
public:
    started();

    [[nodiscard]] bool done() const noexcept;
    [[nodiscard]] error_code code() const;    ///< Throws `std::logic_error` before completion.
    [[nodiscard]] class lease& lease() const; ///< Throws `std::runtime_error` without a lease.
    [[nodiscard]] bool has_lease() const noexcept;
    void cancel(asio::cancellation_type type = asio::cancellation_type::terminal) const;

    struct state;
    [[nodiscard]] const std::shared_ptr<state>& shared() const noexcept { return state_; }

private:
    std::shared_ptr<state> state_;
};

/// Represents one process: a client that runs, with an observer.
class test_client
{
public:
    test_client(asio::io_context& context, const redis_config& settings);
    test_client(asio::io_context& context, std::shared_ptr<store> from);

    started lock(const std::string& name, const lock_options& how);
    started lock(const std::string& name, const lock_options& how, const owner& holder);
    started try_lock(const std::string& name, const lock_options& how);
    started lock_for(milliseconds patience, const std::string& name, const lock_options& how);

    /// Runs the context until the lease is acquired. Throws if it is not.
    [[nodiscard]] lease take(const std::string& name, const lock_options& how);
    [[nodiscard]] lease reenter(const std::string& name, const lock_options& how,
                                const owner& holder);

    started release(lease& held);
    error_code released(lease& held); ///< Runs the context until completion.
    started wait_lost(lease& held);
    started shut_down();

    void await_connected();
    void await_count(kind event_kind,
                     std::size_t times = 1); ///< Runs the context until that many events have come.
    [[nodiscard]] std::size_t count(kind event_kind) const { return saw->count(event_kind); }
    [[nodiscard]] client_stats stats() const { return locks.stats(); }

    asio::io_context& context;
    std::shared_ptr<recording_observer> saw = std::make_shared<recording_observer>();
    client locks;
    started run;
};

void run_until(asio::io_context& context, const started& op);

/// Runs the context until `reached()` is true, checking every few milliseconds, for the state of
/// another program. Throws after `patience`.
void eventually(asio::io_context& context, const std::function<bool()>& reached,
                milliseconds patience = ample);

/// Runs at most this many handlers of the context.
void run_some(asio::io_context& context, std::size_t handlers);

[[nodiscard]] lock_options leased(milliseconds time);

/// Polls only after a message, or when the holder's TTL has passed.
[[nodiscard]] lock_options patient(milliseconds time);

} // namespace leasehold::test

#endif
