#ifndef LEASEHOLD_BENCHMARK_SAMPLE_HPP
#define LEASEHOLD_BENCHMARK_SAMPLE_HPP

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace leasehold::benchmark {

using steady = std::chrono::steady_clock;

/// The middle one; of an even number, the mean of the two in the middle.
double median(std::vector<double> values);

double seconds(steady::duration);

/// CPU time, user and system, of this process so far.
double cpu_seconds();

/// Bytes that the heap of this process has given out; 0 where the C library does not tell.
double heap_bytes();

/// 1,234,567
std::string grouped(std::size_t);

boost::asio::awaitable<void> pause(steady::duration);

} // namespace leasehold::benchmark

#endif
