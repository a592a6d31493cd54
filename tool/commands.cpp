#include "command.hpp"

#include "bench/bench_command.hpp"
#include "break/break_command.hpp"
#include "describe/describe_command.hpp"
#include "doctor/doctor_command.hpp"
#include "inspect/inspect_command.hpp"
#include "ls/ls_command.hpp"
#include "run/run_command.hpp"
#if defined(LEASEHOLD_HAS_POSTGRES) || defined(LEASEHOLD_HAS_MYSQL)
#include "schema/schema_command.hpp"
#endif
#include "trace/trace_command.hpp"
#include "watch/watch_command.hpp"

namespace leasehold::tool {

std::span<const command_entry> commands() noexcept
{
    static constexpr command_entry all[] = {
        {"run", "runs a command while it holds locks", make_run_command},
        {"ls", "lists the held locks and their holders", make_ls_command},
        {"inspect", "shows all details of one lock", make_inspect_command},
        {"watch", "shows changes of locks as they happen", make_watch_command},
        {"trace", "records the life of some locks", make_trace_command},
        {"break", "removes the lock of an owner", make_break_command},
#if defined(LEASEHOLD_HAS_POSTGRES) || defined(LEASEHOLD_HAS_MYSQL)
        {"schema", "prints the SQL text that installs the locks in a database",
         make_schema_command},
#endif
        {"doctor", "checks if servers are fit to keep locks", make_doctor_command},
        {"bench", "measures locks on servers", make_bench_command},
        {"describe", "", make_describe_command},
    };
    return all;
}

} // namespace leasehold::tool
