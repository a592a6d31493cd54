#ifndef LEASEHOLD_TOOL_EXIT_CODE_HPP
#define LEASEHOLD_TOOL_EXIT_CODE_HPP

namespace leasehold::tool {

/// Exit codes of the program, unless the command that it ran decides.
enum exit_code : int
{
    success = 0,
    not_there = 1, ///< No owner holds the requested lock.
    bad_arguments = 2,
    /// The guardian ended early, or a system call failed, such as the write of the output.
    internal_failure = 70,
    busy = 75,              ///< Another owner holds the lock, until the end of the wait.
    lost = 76,              ///< The lock was lost while the command ran.
    store_unavailable = 77, ///< The store could not be reached, or rejected a command.
    not_ended = 78,         ///< A process of the command outlives the lock: it cannot be signalled.
    cannot_execute = 126,   ///< The command was found, but could not be started.
    command_not_found = 127, ///< As in a shell.
    ended_by_signal = 128,   ///< Plus the number of the signal, as in a shell.
};

} // namespace leasehold::tool

#endif
