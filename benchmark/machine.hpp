#ifndef LEASEHOLD_BENCHMARK_MACHINE_HPP
#define LEASEHOLD_BENCHMARK_MACHINE_HPP

#include "report.hpp"

#include <string>

namespace leasehold::benchmark {

/// The conditions of the figures: compiler, Boost, server, processor.
facts machine(const std::string& socket);

} // namespace leasehold::benchmark

#endif
