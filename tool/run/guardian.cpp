#include "guardian.hpp"

#include "../exit_code.hpp"
#include "../message.hpp"
#include "process_tree.hpp"

#include "base/uninterrupted.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <set>
#include <spawn.h>
#include <string_view>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

extern char** environ;

namespace leasehold::tool {
namespace {

using namespace std::chrono_literals;

/// The time between TERM and KILL for processes that outlive the command or the supervisor.
constexpr clock::duration patience = 5s;
/// KILL is repeated: a process may fork after the list is read and before it is killed.
constexpr clock::duration between_kills = 5ms;
/// The same if no process can be killed.
constexpr clock::duration between_polls = 100ms;

[[noreturn]] void fail(const char* what)
{
    throw std::system_error(errno, std::generic_category(), what);
}

/// The controlling terminal of the supervisor, if it has one.
class terminal
{
public:
    /// @param supervisor The process group of the supervisor.
    explicit terminal(pid_t supervisor)
        : supervisor_(supervisor), terminal_(::open("/dev/tty", O_RDWR | O_CLOEXEC))
    {}

    [[nodiscard]] bool exists() const noexcept { return terminal_ >= 0; }

    /// Moves a process group to the foreground.
    /// @returns False if another group has the foreground.
    bool lend(pid_t group) noexcept
    {
        const pid_t now = ::tcgetpgrp(terminal_);
        lent_ = now == group || (now == supervisor_ && ::tcsetpgrp(terminal_, group) == 0);
        return lent_;
    }

    void take_back() noexcept
    {
        if (std::exchange(lent_, false))
            ::tcsetpgrp(terminal_, supervisor_);
    }

private:
    pid_t supervisor_;
    int terminal_;
    bool lent_ = false;
};

class guardian_process
{
public:
    /// @param mask The signals that are blocked in the command.
    /// @param supervisor The process group of the supervisor.
    guardian_process(const deadline_page& page, guardian_link link,
                     const std::vector<std::string>& command, const sigset_t& mask,
                     pid_t supervisor)
        : page_(page), link_(std::move(link)), command_(command), mask_(mask), terminal_(supervisor)
    {
        sigset_t ended;
        sigemptyset(&ended);
        sigaddset(&ended, SIGCHLD);
        children_ = ::signalfd(-1, &ended, SFD_CLOEXEC | SFD_NONBLOCK);
        if (children_ < 0)
            fail("signalfd");
        // The clock of the leases counts while the machine is suspended.
        timer_ = ::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
        if (timer_ < 0)
            fail("timerfd_create");
    }

    /// Returns when all processes of the command have ended.
    void run()
    {
        while (!over_) {
            arm();
            pollfd events[] = {
                {supervised_ ? link_.native_handle() : -1, POLLIN, 0},
                {children_, POLLIN, 0},
                {timer_, POLLIN, 0},
            };
            if (::poll(events, std::size(events), -1) < 0 && errno != EINTR)
                fail("poll");
            if (events[0].revents != 0)
                obey();
            drain(children_);
            drain(timer_);
            reap();
            keep_deadline();
        }
    }

private:
    /// Reads an order of the supervisor. The first one starts the command.
    void obey()
    {
        const std::string message = link_.receive_order();
        if (message.empty()) {
            supervised_ = false;
            if (!started_)
                over_ = true;
            hurry();
            return;
        }
        switch (static_cast<order>(message[0])) {
        case order::start: start(std::string_view(message).substr(1)); break;
        case order::forward:
            if (message.size() == 2)
                forward(message[1]);
            break;
        case order::check: break;
        }
    }

    void start(std::string_view variables)
    {
        std::vector<std::string> added;
        while (!variables.empty()) {
            added.emplace_back(variables.substr(0, variables.find('\0')));
            variables.remove_prefix(added.back().size() + 1);
        }
        std::vector<char*> environment;
        for (char** each = environ; *each != nullptr; ++each) {
            const std::string_view name(*each, std::strcspn(*each, "=") + 1);
            if (std::none_of(added.begin(), added.end(),
                             [&](const std::string& own) { return own.starts_with(name); }))
                environment.push_back(*each);
        }
        for (std::string& each : added)
            environment.push_back(each.data());
        environment.push_back(nullptr);
        std::vector<char*> words;
        for (const std::string& each : command_)
            words.push_back(const_cast<char*>(each.c_str()));
        words.push_back(nullptr);

        // Ignored signals stay ignored, as nohup requires.
        posix_spawnattr_t how;
        ::posix_spawnattr_init(&how);
        ::posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
        ::posix_spawnattr_setpgroup(&how, 0);
        ::posix_spawnattr_setsigmask(&how, &mask_);
        outcome_.error = ::posix_spawnp(&leader_, words[0], nullptr, &how, words.data(),
                                        environment.data());
        ::posix_spawnattr_destroy(&how);
        if (outcome_.error == 0) {
            started_ = true;
            return;
        }
        outcome_.how = outcome::kind::not_started;
        finish();
    }

    void reap()
    {
        for (;;) {
            int status = 0;
            const pid_t ended = ::waitpid(-1, &status, WNOHANG | WUNTRACED);
            if (ended == 0)
                return;
            if (ended < 0) {
                if (started_ && errno == ECHILD)
                    finish();
                return;
            }
            if (ended != leader_)
                continue;
            if (WIFSTOPPED(status)) {
                stopped(WSTOPSIG(status));
                continue;
            }
            leader_ended_ = true;
            outcome_.exit_code = WIFEXITED(status) ? WEXITSTATUS(status)
                                                   : ended_by_signal + WTERMSIG(status);
            // The rest must not outlive the command.
            outcome_.remainder = static_cast<unsigned>(end_gently());
            hurry();
        }
    }

    void stopped(int signal)
    {
        // The command may also have asked for the terminal before it got the foreground.
        if ((signal == SIGTTIN || signal == SIGTTOU) && terminal_.lend(leader_)) {
            ::kill(-leader_, SIGCONT);
            return;
        }
        terminal_.take_back();
        outcome stopped;
        stopped.how = outcome::kind::stopped;
        stopped.stop_signal = signal;
        stopped.by_terminal = terminal_.exists() && signal != SIGSTOP;
        link_.notify(stopped);
    }

    void keep_deadline()
    {
        if (!started_ || over_)
            return;
        const clock::time_point now = clock::now();
        const deadline_page::moments until = page_.get();
        if (now >= std::min(until.kill_at, latest_)) {
            outcome_.late = outcome_.late || now >= until.kill_at;
            outcome_.killed = killing_ = true;
            const reach done = deliver(SIGKILL);
            kill_again_at_ = now + (done.count != 0 ? between_kills : between_polls);
            // The remaining processes cannot be ended, and there is no lease to wait for.
            if (done.count == 0 && !done.denied.empty() && (now >= until.kill_at || !supervised_)) {
                outcome_.unended = static_cast<unsigned>(done.denied.size());
                finish();
            }
        }
        else if (now >= until.term_at && !outcome_.late) {
            outcome_.late = true;
            // A command that got TERM must end, even if the lease is renewed later.
            latest_ = std::min(latest_, until.kill_at);
            end_gently();
        }
    }

    std::size_t end_gently() { return forward(SIGTERM); }

    /// @returns The number of processes that got the signal.
    std::size_t forward(int signal)
    {
        const std::size_t count = deliver(signal).count;
        // A stopped process does not handle a signal that should end it.
        if (signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT)
            deliver(SIGCONT);
        return count;
    }

    reach deliver(int signal)
    {
        reach done = signal_descendants(::getpid(), signal, leader_);
        for (const denied_process& each : done.denied) {
            if (reported_.insert(each.id).second)
                say(to_text(each) + "; it continues until it ends itself");
        }
        return done;
    }

    /// The remaining processes must end soon, whatever the page says.
    void hurry()
    {
        if (!supervised_ && !leader_ended_)
            end_gently();
        latest_ = std::min(latest_, clock::now() + patience);
    }

    void arm()
    {
        if (!started_)
            return;
        const deadline_page::moments until = page_.get();
        clock::time_point next = std::min(until.kill_at, latest_);
        if (!outcome_.late)
            next = std::min(next, until.term_at);
        if (killing_)
            next = kill_again_at_;
        // Zero disarms the timer.
        const auto at = std::max<clock::rep>(next.time_since_epoch().count(), 1);
        itimerspec when{};
        when.it_value.tv_sec = static_cast<time_t>(at / 1'000'000'000);
        when.it_value.tv_nsec = static_cast<long>(at % 1'000'000'000);
        if (::timerfd_settime(timer_, TFD_TIMER_ABSTIME, &when, nullptr) != 0)
            fail("timerfd_settime");
    }

    void finish()
    {
        over_ = true;
        terminal_.take_back();
        link_.notify(outcome_);
    }

    static void drain(int file) noexcept
    {
        char bytes[sizeof(signalfd_siginfo)];
        while (::read(file, bytes, sizeof(bytes)) > 0) {
        }
    }

    const deadline_page& page_;
    guardian_link link_;
    const std::vector<std::string>& command_;
    const sigset_t mask_;
    int children_ = -1;
    int timer_ = -1;
    pid_t leader_ = 0; ///< And its process group.
    outcome outcome_;
    terminal terminal_;
    std::set<pid_t> reported_; ///< Processes that cannot be signalled.
    clock::time_point latest_ = clock::time_point::max();
    clock::time_point kill_again_at_{};
    bool supervised_ = true;
    bool started_ = false;
    bool leader_ended_ = false;
    bool killing_ = false;
    bool over_ = false;
};

[[noreturn]] void be_guardian(const deadline_page& page, int socket,
                              const std::vector<std::string>& command) noexcept
{
    try {
        const pid_t supervisor = ::getpgrp();
        // The guardian must not get the signals that the terminal sends to the foreground.
        ::setpgid(0, 0);
        // If SIGCHLD is ignored, the end of the command is not reported.
        std::signal(SIGCHLD, SIG_DFL);
        sigset_t all;
        sigset_t before;
        sigfillset(&all);
        ::sigprocmask(SIG_SETMASK, &all, &before);
        ::prctl(PR_SET_NAME, "leasehold-guard", 0, 0, 0);
        become_subreaper();
        guardian_process(page, guardian_link(socket), command, before, supervisor).run();
    }
    catch (...) {
        // The supervisor notices the end of the guardian, and ends the command.
        ::_exit(internal_failure);
    }
    ::_exit(success);
}

} // namespace

guardian::guardian(const deadline_page& page, const std::vector<std::string>& command)
    : link_(-1), process_(0)
{
    int sockets[2];
    make_guardian_links(sockets);
    link_ = guardian_link(sockets[0]);
    const guardian_link other(sockets[1]);
    process_ = ::fork();
    if (process_ < 0)
        fail("fork");
    if (process_ == 0) {
        link_ = guardian_link(-1);
        be_guardian(page, other.native_handle(), command);
    }
}

guardian::~guardian()
{
    link_ = guardian_link(-1);
    resume();
    detail::uninterrupted([this] { return ::waitpid(process_, nullptr, 0); });
}

void guardian::resume() const noexcept
{
    ::kill(process_, SIGCONT);
}

} // namespace leasehold::tool
