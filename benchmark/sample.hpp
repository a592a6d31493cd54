#ifndef LEASEHOLD_BENCHMARK_SAMPLE_HPP
#define LEASEHOLD_BENCHMARK_SAMPLE_HPP

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace leasehold::benchmark {

using steady = std::chrono::steady_clock;

/// The median; of an even number, the mean of the two in the middle.
double median(std::vector<double> values);

double seconds(steady::duration);

/// The CPU time of this process so far, user and system.
double cpu_seconds();

/// Allocated bytes of the heap of this process; 0 if the C library does not report them.
double heap_bytes();

/// 1,234,567
std::string grouped(std::size_t);

boost::asio::awaitable<void> pause(steady::duration);

} // namespace leasehold::benchmark

#endif
