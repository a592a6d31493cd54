#include "command.hpp"

#include "bench/bench_command.hpp"
#include "describe/describe_command.hpp"
#include "doctor/doctor_command.hpp"
#include "run/run_command.hpp"

namespace leasehold::tool {

std::span<const command_entry> commands() noexcept
{
    static constexpr command_entry all[] = {
        {"run", "runs a command while it holds locks", make_run_command},
        {"doctor", "looks whether servers are fit to keep locks", make_doctor_command},
        {"bench", "measures locks at servers", make_bench_command},
        {"describe", "", make_describe_command},
    };
    return all;
}

} // namespace leasehold::tool
