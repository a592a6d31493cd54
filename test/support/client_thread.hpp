#ifndef LEASEHOLD_TEST_SUPPORT_CLIENT_THREAD_HPP
#define LEASEHOLD_TEST_SUPPORT_CLIENT_THREAD_HPP

#include "support/recording_observer.hpp"
#include "support/redis_server.hpp"

#include <leasehold/client.hpp>
#include <leasehold/lease.hpp>
#include <leasehold/mutex.hpp>
#include <leasehold/redis.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

namespace leasehold::test {

/// The result of an attempt to lock.
struct taken
{
    error_code code;
    lease held;
};

/// Returns the value, which must arrive within `limit`: a lost completion fails the test instead of
/// hanging it.
template <class T>
T get(std::future<T>& from, std::chrono::milliseconds limit = std::chrono::seconds(30))
{
    if (from.wait_for(limit) != std::future_status::ready)
        throw std::runtime_error("an operation did not complete in time");
    return from.get();
}

template <class T>
T get(std::future<T>&& from, std::chrono::milliseconds limit = std::chrono::seconds(30))
{
    return get(from, limit);
}

/// Checks the condition every millisecond, for changes without an event. Throws
/// `std::runtime_error` after `limit`.
void wait_until(const std::function<bool()>& reached,
                std::chrono::milliseconds limit = std::chrono::seconds(20));

/// The config of a store for tests, which reconnects fast.
redis_config at(const redis_server& server);
redis_config at(const std::string& url);

/// A client that runs on its own thread, for tests that block. Its leases must be destroyed before
/// it.
class client_thread
{
public:
    explicit client_thread(std::shared_ptr<store> locks);
    explicit client_thread(const redis_config& settings) : client_thread(make_redis_store(settings))
    {}
    explicit client_thread(const redis_server& server) : client_thread(at(server)) {}
    ~client_thread();
    client_thread(const client_thread&) = delete;
    client_thread& operator=(const client_thread&) = delete;

    std::future<taken> start_lock(const std::string& name, const lock_options& options);
    std::future<taken> start_try_lock(const std::string& name, const lock_options& options);
    std::future<taken> start_reenter(const std::string& name, const lock_options& options,
                                     owner holder);
    static std::future<error_code> start_release(lease held);
    static std::future<error_code> start_wait_lost(lease& held);

    /// @name The same, waiting for completion
    /// @{
    taken lock(const std::string& name, const lock_options& options)
    {
        return get(start_lock(name, options));
    }
    taken try_lock(const std::string& name, const lock_options& options)
    {
        return get(start_try_lock(name, options));
    }
    error_code release(lease held) { return get(start_release(std::move(held))); }
    /// @}

    client& locks() noexcept { return *client_; }
    recording_observer& seen() noexcept { return *observer_; }
    client_stats stats() const noexcept { return client_->stats(); }

private:
    boost::asio::io_context context_{1};
    std::shared_ptr<recording_observer> observer_ = std::make_shared<recording_observer>();
    std::unique_ptr<client> client_;
    std::future<error_code> ended_;
    std::jthread thread_;
};

} // namespace leasehold::test

#endif
