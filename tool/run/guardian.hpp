#ifndef LEASEHOLD_TOOL_RUN_GUARDIAN_HPP
#define LEASEHOLD_TOOL_RUN_GUARDIAN_HPP

#include "deadline_page.hpp"
#include "guardian_link.hpp"

#include <string>
#include <sys/types.h>
#include <vector>

namespace leasehold::tool {

/// A second process, which starts the command and ends it in time, whatever the first one does.
///
/// The guardian starts the command, in a process group of its own, when it is told to. It sends
/// TERM to all that has come of the command when the first moment of the page has passed, KILL from
/// the second one on. It does so by the page, the clock and what it hears from the kernel alone: a
/// supervisor that was stopped, or hangs, does not hold it up. When the supervisor is gone it sends
/// TERM at once, and KILL at the page's second moment, or five seconds later, whatever comes first.
/// What the command leaves behind is ended in the same way when the command has ended. Then it
/// tells how that was, and ends. A process of another user cannot be ended: it is reported, and the
/// guardian waits for its end until the page's second moment.
///
/// A command that is stopped because it uses the terminal from the background gets the foreground
/// of the terminal, as long as that is the supervisor's to give.
///
/// All descendants are reached, also in other process groups and sessions: they become children of
/// the guardian when they lose their parents.
class guardian
{
public:
    /// Forks: this process must have one thread, and nothing open that a copy should not have.
    /// @throws std::system_error
    guardian(const deadline_page& page, const std::vector<std::string>& command);
    /// Returns when the process has ended.
    ~guardian();
    guardian(const guardian&) = delete;
    guardian& operator=(const guardian&) = delete;

    [[nodiscard]] pid_t process() const noexcept { return process_; }
    [[nodiscard]] const guardian_link& link() const noexcept { return link_; }
    /// So that it does what it has to, if it was stopped.
    void resume() const noexcept;

private:
    guardian_link link_;
    pid_t process_;
};

} // namespace leasehold::tool

#endif
