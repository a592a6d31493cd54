#ifndef LEASEHOLD_BENCHMARK_SERVER_FIGURES_HPP
#define LEASEHOLD_BENCHMARK_SERVER_FIGURES_HPP

#include "raw_client.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>

namespace leasehold::benchmark {

/// How many commands clients have sent to the server so far. It also counts what runs inside
/// scripts, and what a measurement asks itself: those are left out. So are the plain commands that
/// take a free lock; whoever waits, and is waited for, goes by scripts.
boost::asio::awaitable<void> count_commands(raw_client&, std::uint64_t& sum);

/// CPU time that the server's process has used, user and system, in seconds.
boost::asio::awaitable<void> server_cpu(raw_client&, double& sum);

/// How often the server has read from a connection: once for what a client writes at once.
boost::asio::awaitable<void> server_reads(raw_client&, double& sum);

/// Bytes that the server has allocated.
boost::asio::awaitable<void> server_memory(raw_client&, double& bytes);

} // namespace leasehold::benchmark

#endif
