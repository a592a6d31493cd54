#ifndef LEASEHOLD_BENCHMARK_SESSION_HPP
#define LEASEHOLD_BENCHMARK_SESSION_HPP

#include <leasehold.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace leasehold::benchmark {

/// A client that runs until the end of the scope, which shuts it down in order.
class session
{
public:
    session(asio::io_context& context, const std::string& url);
    ~session();
    session(const session&) = delete;
    session& operator=(const session&) = delete;

    client& locks() noexcept { return locks_; }

    /// Shuts several clients down at the same time.
    static void close(asio::io_context&, std::vector<std::unique_ptr<session>>&);

private:
    asio::awaitable<void> shut_down();

    asio::io_context& context_;
    client locks_;
    bool open_ = true;
};

/// Acquires and releases a lock until `end`, at least once, and adds the seconds of each cycle.
asio::awaitable<void> timed_cycles(client& locks, std::string name,
                                   std::chrono::steady_clock::time_point end,
                                   std::vector<double>& times);

} // namespace leasehold::benchmark

#endif
