#include "process_tree.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <pwd.h>
#include <string_view>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace leasehold::tool {
namespace {

struct process
{
    pid_t id = 0;
    pid_t parent = 0;
    pid_t group = 0;
    unsigned long long started = 0; ///< Identifies the process, together with the id.
};

template <class Number>
bool read_number(std::string_view text, Number& number)
{
    const auto [stopped, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    return failed == std::errc() && stopped == text.data() + text.size();
}

/// Returns word `number` of a line, counted from 0.
std::string_view word_of(std::string_view line, int number)
{
    for (; number > 0; --number)
        line.remove_prefix(std::min(line.find(' '), line.size() - 1) + 1);
    return line.substr(0, line.find(' '));
}

/// Returns false if there is no such process, or if it is a zombie.
bool read_process(pid_t id, process& found)
{
    char path[64];
    std::snprintf(path, sizeof(path), "/proc/%d/stat", static_cast<int>(id));
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    char text[1024];
    const ssize_t size = ::read(file, text, sizeof(text));
    ::close(file);
    if (size <= 0)
        return false;
    // "<id> (<name, with any characters>) <state> <parent> <group> …"
    std::string_view line(text, static_cast<std::size_t>(size));
    const std::size_t name_end = line.rfind(')');
    if (name_end == std::string_view::npos || name_end + 2 >= line.size())
        return false;
    line.remove_prefix(name_end + 2);
    const std::string_view state = word_of(line, 0);
    found.id = id;
    return state != "Z" && state != "X" && read_number(word_of(line, 1), found.parent) &&
           read_number(word_of(line, 2), found.group) &&
           read_number(word_of(line, 19), found.started);
}

std::vector<process> all_processes()
{
    std::vector<process> all;
    const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir("/proc"), &::closedir);
    if (!directory)
        return all;
    while (const dirent* entry = ::readdir(directory.get())) {
        pid_t id = 0;
        process found;
        if (read_number(entry->d_name, id) && read_process(id, found))
            all.push_back(found);
    }
    return all;
}

enum class delivery
{
    done,
    denied,
    gone,
};

/// Signals exactly this process, not a later one with the same id.
/// @param signal 0: only checks if a signal may be sent.
delivery send(const process& to, int signal) noexcept
{
    const int handle = static_cast<int>(::syscall(SYS_pidfd_open, to.id, 0));
    if (handle < 0)
        return delivery::gone;
    process now;
    const bool same = read_process(to.id, now) && now.started == to.started;
    const bool sent = same && ::syscall(SYS_pidfd_send_signal, handle, signal, nullptr, 0) == 0;
    const bool denied = same && !sent && errno == EPERM;
    ::close(handle);
    return sent ? delivery::done : denied ? delivery::denied : delivery::gone;
}

uid_t user_of(pid_t id) noexcept
{
    char path[64];
    std::snprintf(path, sizeof(path), "/proc/%d", static_cast<int>(id));
    struct stat found{};
    return ::stat(path, &found) == 0 ? found.st_uid : 0;
}

std::vector<process> descendants_of(pid_t root)
{
    const std::vector<process> all = all_processes();
    std::vector<pid_t> parents{root};
    std::vector<process> found;
    for (std::size_t i = 0; i < parents.size(); ++i) {
        for (const process& each : all) {
            if (each.parent == parents[i] && each.id != root) {
                parents.push_back(each.id);
                found.push_back(each);
            }
        }
    }
    return found;
}

} // namespace

std::string to_text(const denied_process& of)
{
    const passwd* const known = ::getpwuid(of.user);
    return "process " + std::to_string(of.id) + " belongs to user '" +
           (known != nullptr ? known->pw_name : std::to_string(of.user)) +
           "' and cannot be signalled";
}

reach signal_descendants(pid_t root, int signal, pid_t group, pid_t spared) noexcept
try {
    reach done;
    const std::vector<process> found = descendants_of(root);
    // The group is signalled only if it has a member here: the id of an empty group may be reused.
    const auto in_group = [group](const process& each) {
        return group != 0 && each.group == group;
    };
    if (std::any_of(found.begin(), found.end(), in_group))
        ::kill(-group, signal);
    for (const process& each : found) {
        if (each.id == spared)
            continue;
        // The group has the signal, except its members of other users.
        const delivery came = send(each, in_group(each) ? 0 : signal);
        if (came == delivery::denied)
            done.denied.push_back({each.id, user_of(each.id)});
        else if (came == delivery::done || in_group(each))
            ++done.count;
    }
    return done;
}
catch (const std::bad_alloc&) {
    // The signal to the group needs no memory.
    if (group != 0)
        ::kill(-group, signal);
    return {};
}

void become_subreaper() noexcept
{
    ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

} // namespace leasehold::tool
