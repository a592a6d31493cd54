#ifndef LEASEHOLD_BENCHMARK_SERVER_FIGURES_HPP
#define LEASEHOLD_BENCHMARK_SERVER_FIGURES_HPP

#include "raw_client.hpp"

#include <boost/asio/awaitable.hpp>

namespace leasehold::benchmark {

/// CPU time that the server's process has used, user and system, in seconds.
boost::asio::awaitable<void> server_cpu(raw_client&, double& sum);

/// How often the server has read from a connection: once for what a client writes at once.
boost::asio::awaitable<void> server_reads(raw_client&, double& sum);

/// Bytes that the server has allocated.
boost::asio::awaitable<void> server_memory(raw_client&, double& bytes);

} // namespace leasehold::benchmark

#endif
