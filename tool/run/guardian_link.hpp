#ifndef LEASEHOLD_TOOL_RUN_GUARDIAN_LINK_HPP
#define LEASEHOLD_TOOL_RUN_GUARDIAN_LINK_HPP

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leasehold::tool {

/// What the supervisor tells the guardian.
enum class order : char
{
    start = 's',   ///< Variables for the environment follow, each ended by a zero byte.
    look = 'l',    ///< At the page: it has an earlier moment than before.
    forward = 'f', ///< A signal, to the command; its number follows.
};

/// What the guardian tells the supervisor: each stop of the command, and how it ended. After the
/// end the guardian ends, too.
struct outcome
{
    enum class kind : int
    {
        not_started,
        ended,
        stopped,
    };

    kind how = kind::ended;
    int error = 0;          ///< Not started: the system's reason.
    int exit_code = 0;      ///< Ended: the command's own; as a shell has it when a signal ended it.
    bool asked = false;     ///< It was sent TERM for the sake of the page's deadline.
    bool killed = false;    ///< It, or what it had left behind, was sent KILL.
    unsigned remainder = 0; ///< The processes that were still there when the command had ended.
    unsigned unended = 0;   ///< Processes that cannot be signalled, and outlive the lease.
    int stop_signal = 0;    ///< Stopped: by this signal,
    bool by_terminal = false; ///< as the terminal stops a job.
};

/// One end of a pair of sockets that keep messages apart.
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
    void look() const noexcept;
    void forward(int signal) const noexcept;
    /// False: the guardian is gone, and has told nothing.
    [[nodiscard]] bool receive(outcome& told) const noexcept;
    /// @}

    /// @name The guardian's end
    /// @{
    /// Empty: the supervisor is gone.
    [[nodiscard]] std::string receive_order() const;
    void tell(const outcome& what) const noexcept;
    /// @}

private:
    bool send(std::string_view message) const noexcept;

    int socket_;
};

/// @throws std::system_error
void make_guardian_links(int (&sockets)[2]);

} // namespace leasehold::tool

#endif
