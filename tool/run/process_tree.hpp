#ifndef LEASEHOLD_TOOL_RUN_PROCESS_TREE_HPP
#define LEASEHOLD_TOOL_RUN_PROCESS_TREE_HPP

#include <cstddef>
#include <string>
#include <sys/types.h>
#include <vector>

namespace leasehold::tool {

/// A process that this user may not signal.
struct denied_process
{
    pid_t id = 0;
    uid_t user = 0;
};

/// "process 4711 belongs to user 'root' and cannot be signalled"
[[nodiscard]] std::string to_text(const denied_process& of);

/// The processes that a signal reached.
struct reach
{
    std::size_t count = 0; ///< Processes that got the signal.
    std::vector<denied_process> denied{};
};

/// Sends a signal to every descendant of a process, in any process group and session: orphans are
/// children of the nearest subreaper above.
///
/// @param root  Gets no signal itself.
/// @param group A process group of descendants, which gets the signal in one call, so that no
///              member escapes by forking; 0: none.
/// @param spared A descendant that gets no signal itself; 0: none.
reach signal_descendants(pid_t root, int signal, pid_t group = 0, pid_t spared = 0) noexcept;

/// Makes later orphans below this process its children.
void become_subreaper() noexcept;

} // namespace leasehold::tool

#endif
