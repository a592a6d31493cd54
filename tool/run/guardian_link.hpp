#ifndef LEASEHOLD_TOOL_RUN_GUARDIAN_LINK_HPP
#define LEASEHOLD_TOOL_RUN_GUARDIAN_LINK_HPP

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leasehold::tool {

/// An order of the supervisor to the guardian.
enum class order : char
{
    start = 's',   ///< Start the command. Environment variables follow, each ended by a zero byte.
    check = 'l',   ///< Read the page: it has an earlier moment than before.
    forward = 'f', ///< Send a signal to the command; its number follows.
};

/// A report of the guardian to the supervisor: each stop of the command, and its end. After the
/// report of the end the guardian ends.
struct outcome
{
    enum class kind : int
    {
        not_started,
        ended,
        stopped,
    };

    kind how = kind::ended;
    int error = 0;          ///< Not started: `errno` of the start.
    int exit_code = 0;      ///< Ended: the command's own, or that of a shell if a signal ended it.
    bool late = false;      ///< It got TERM or KILL because of the page's deadline.
    bool killed = false;    ///< The command, or a process that outlived it, got KILL.
    unsigned remainder = 0; ///< The number of processes that outlived the command.
    unsigned unended = 0;   ///< The number of processes that cannot be signalled.
    int stop_signal = 0;    ///< Stopped: the signal.
    bool by_terminal = false; ///< Stopped: the terminal stopped the whole job.
};

/// One end of a pair of sockets for messages.
class guardian_link
{
public:
    explicit guardian_link(int socket) noexcept : socket_(socket) {} ///< -1: none.
    guardian_link(guardian_link&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
    guardian_link& operator=(guardian_link&& other) noexcept
    {
        std::swap(socket_, other.socket_);
        return *this;
    }
    ~guardian_link();

    [[nodiscard]] int native_handle() const noexcept { return socket_; }

    /// @name The supervisor's end
    /// @{
    /// @throws std::system_error When the message is too long.
    void start(const std::vector<std::string>& environment) const;
    void check() const noexcept;
    void forward(int signal) const noexcept;
    /// Returns false if the guardian has ended without a report.
    [[nodiscard]] bool receive(outcome& to) const noexcept;
    /// @}

    /// @name The guardian's end
    /// @{
    /// Returns an empty text if the supervisor has ended.
    [[nodiscard]] std::string receive_order() const;
    void notify(const outcome& what) const noexcept;
    /// @}

private:
    bool send(std::string_view message) const noexcept;

    int socket_;
};

/// @throws std::system_error
void make_guardian_links(int (&sockets)[2]);

} // namespace leasehold::tool

#endif
