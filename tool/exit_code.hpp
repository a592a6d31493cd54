#ifndef LEASEHOLD_TOOL_EXIT_CODE_HPP
#define LEASEHOLD_TOOL_EXIT_CODE_HPP

namespace leasehold::tool {

/// What the program ends with when it is not the command that it ran that decides.
enum exit_code : int
{
    success = 0,
    not_there = 1, ///< Nobody holds the lock that was asked for.
    bad_arguments = 2,
    /// The guardian ended early, or the system refused what is needed, such as writing the output.
    internal_failure = 70,
    busy = 75,              ///< Another owner holds the lock, until the end of the wait.
    lost = 76,              ///< The lock could not be kept while the command ran.
    store_unavailable = 77, ///< The store could not be reached, or refused.
    not_ended = 78,         ///< A process of the command outlives the lock: it cannot be signalled.
    cannot_execute = 126,   ///< The command was found, and could not be started.
    command_not_found = 127, ///< As a shell has it.
    ended_by_signal = 128,   ///< Plus the number of the signal, as a shell has it.
};

} // namespace leasehold::tool

#endif
