#ifndef LEASEHOLD_BENCHMARK_CREW_HPP
#define LEASEHOLD_BENCHMARK_CREW_HPP

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstddef>
#include <exception>

namespace leasehold::benchmark {

namespace asio = boost::asio;

/// Starts coroutines together, and waits for all of them.
class crew
{
public:
    /// @param patience Time for which the loop polls before it sleeps.
    explicit crew(asio::io_context& context, std::chrono::microseconds patience = {}) noexcept
        : context_(context), patience_(patience)
    {}
    crew(const crew&) = delete;
    crew& operator=(const crew&) = delete;

    void add(asio::awaitable<void> task);

    /// Runs the context on this thread until all coroutines have ended. Throws the exception of the
    /// first that failed. Ends the program if this takes longer than `limit`.
    void wait(std::chrono::seconds limit = std::chrono::minutes(5));

private:
    asio::io_context& context_;
    const std::chrono::microseconds patience_;
    std::size_t running_ = 0;
    std::exception_ptr failure_;
};

/// Runs one coroutine to its end.
void run(asio::io_context&, asio::awaitable<void> task);

} // namespace leasehold::benchmark

#endif
