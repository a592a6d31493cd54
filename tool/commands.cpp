#include "command.hpp"

#include "run/run_command.hpp"

namespace leasehold::tool {

std::span<const command_entry> commands() noexcept
{
    static constexpr command_entry all[] = {
        {"run", "runs a command while it holds locks", make_run_command},
    };
    return all;
}

} // namespace leasehold::tool
