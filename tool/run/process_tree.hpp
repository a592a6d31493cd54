#ifndef LEASEHOLD_TOOL_RUN_PROCESS_TREE_HPP
#define LEASEHOLD_TOOL_RUN_PROCESS_TREE_HPP

#include <cstddef>
#include <sys/types.h>

namespace leasehold::tool {

/// Sends a signal to every descendant of a process, whatever process group or session it has moved
/// to: those that lost their parent are children of the nearest subreaper above.
///
/// @param root  Gets no signal itself.
/// @param group A process group of descendants, which gets the signal in one step, so that none of
///              its members escapes by forking; 0: none.
/// @param spared A descendant that gets no signal itself; 0: none.
/// @returns How many processes got it.
std::size_t signal_descendants(pid_t root, int signal, pid_t group = 0, pid_t spared = 0) noexcept;

/// From now on orphans below this process become its children.
void become_subreaper() noexcept;

} // namespace leasehold::tool

#endif
