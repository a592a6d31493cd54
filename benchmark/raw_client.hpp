#ifndef LEASEHOLD_BENCHMARK_RAW_CLIENT_HPP
#define LEASEHOLD_BENCHMARK_RAW_CLIENT_HPP

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/redis/connection.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace leasehold::benchmark {

namespace asio = boost::asio;

/// A program without the library: the same commands through a bare Boost.Redis connection, without
/// renewals, deadlines and waiters.
class raw_client
{
public:
    raw_client(asio::io_context&, const std::string& socket);
    ~raw_client();
    raw_client(const raw_client&) = delete;
    raw_client& operator=(const raw_client&) = delete;

    /// Connects and loads the scripts.
    asio::awaitable<void> prepare();

    /// Acquires and releases the lock `name` until `end`, and adds the number to `cycles`.
    asio::awaitable<void> cycle(std::string name, std::chrono::steady_clock::time_point end,
                                std::uint64_t& cycles);

    /// A minimal lock: SET NX PX, and a script that compares and deletes. Without a fence and
    /// without wake-ups.
    asio::awaitable<void> bare_cycle(std::string name, std::chrono::steady_clock::time_point end,
                                     std::uint64_t& cycles);

    /// The fields of INFO, or of one section of it.
    asio::awaitable<std::map<std::string, std::string>> info(std::string section);

    /// Whether the server has the key.
    asio::awaitable<bool> exists(std::string key);

    asio::awaitable<void> flush_all();

private:
    asio::awaitable<std::string> load(const char* text);
    std::string next_owner();

    // The running operation owns the connection, because operations have pointers into it.
    std::shared_ptr<boost::redis::connection> connection_;
    std::string release_;
    std::string bare_release_;
    std::uint64_t owners_ = 0;
};

} // namespace leasehold::benchmark

#endif
