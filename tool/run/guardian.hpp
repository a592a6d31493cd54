#ifndef LEASEHOLD_TOOL_RUN_GUARDIAN_HPP
#define LEASEHOLD_TOOL_RUN_GUARDIAN_HPP

#include "deadline_page.hpp"
#include "guardian_link.hpp"

#include <string>
#include <sys/types.h>
#include <vector>

namespace leasehold::tool {

/// A second process, which starts the command and ends it in time, independently of the first one.
///
/// The guardian starts the command in its own process group, on an order of the supervisor. It
/// sends TERM to all processes of the command at the first moment of the page, and KILL from the
/// second one on. It needs only the page, the clock and the kernel: a supervisor that is stopped or
/// hangs does not delay it. If the supervisor has ended, it sends TERM at once, and KILL at the
/// page's second moment or five seconds later, whichever is first. It ends the processes that
/// outlive the command in the same way. Then it reports the outcome, and ends. It cannot end a
/// process of another user: it reports it, and waits for its end until the page's second moment.
///
/// A command that is stopped because it uses the terminal from the background gets the foreground
/// of the terminal, if the supervisor has it.
///
/// All descendants are reached, also in other process groups and sessions: they become children of
/// the guardian when they lose their parents.
class guardian
{
public:
    /// Forks. This process must have one thread, and no open files that the copy must not have.
    /// @throws std::system_error
    guardian(const deadline_page& page, const std::vector<std::string>& command);
    /// Returns when the process has ended.
    ~guardian();
    guardian(const guardian&) = delete;
    guardian& operator=(const guardian&) = delete;

    [[nodiscard]] pid_t process() const noexcept { return process_; }
    [[nodiscard]] const guardian_link& link() const noexcept { return link_; }
    /// Continues the guardian if it was stopped.
    void resume() const noexcept;

private:
    guardian_link link_;
    pid_t process_;
};

} // namespace leasehold::tool

#endif
