#ifndef LEASEHOLD_TOOL_BENCH_BENCH_COMMAND_HPP
#define LEASEHOLD_TOOL_BENCH_BENCH_COMMAND_HPP

#include "../command.hpp"

#include <memory>

namespace leasehold::tool {

/// `leasehold bench`: measures locks on the user's own servers.
[[nodiscard]] std::unique_ptr<command> make_bench_command();

} // namespace leasehold::tool

#endif
