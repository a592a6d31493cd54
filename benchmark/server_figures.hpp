#ifndef LEASEHOLD_BENCHMARK_SERVER_FIGURES_HPP
#define LEASEHOLD_BENCHMARK_SERVER_FIGURES_HPP

#include "raw_client.hpp"

#include <boost/asio/awaitable.hpp>

namespace leasehold::benchmark {

/// The CPU time of the server's process, user and system, in seconds.
boost::asio::awaitable<void> server_cpu(raw_client&, double& sum);

/// The number of reads of the server from connections: one for each write of a client.
boost::asio::awaitable<void> server_reads(raw_client&, double& sum);

/// The allocated bytes of the server.
boost::asio::awaitable<void> server_memory(raw_client&, double& bytes);

} // namespace leasehold::benchmark

#endif
