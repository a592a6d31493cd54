#include "command.hpp"

#include "bench/bench_command.hpp"
#include "break/break_command.hpp"
#include "describe/describe_command.hpp"
#include "doctor/doctor_command.hpp"
#include "inspect/inspect_command.hpp"
#include "ls/ls_command.hpp"
#include "run/run_command.hpp"
#include "watch/watch_command.hpp"

namespace leasehold::tool {

std::span<const command_entry> commands() noexcept
{
    static constexpr command_entry all[] = {
        {"run", "runs a command while it holds locks", make_run_command},
        {"ls", "lists the locks that are held, and who holds them", make_ls_command},
        {"inspect", "tells all that is known of one lock", make_inspect_command},
        {"watch", "shows the locks as they come and go", make_watch_command},
        {"break", "takes a lock away from its owner", make_break_command},
        {"doctor", "looks whether servers are fit to keep locks", make_doctor_command},
        {"bench", "measures locks at servers", make_bench_command},
        {"describe", "", make_describe_command},
    };
    return all;
}

} // namespace leasehold::tool
