#include "support/unprivileged.hpp"

#include <pwd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <system_error>

namespace leasehold::test {

std::vector<std::string> unprivileged(const std::filesystem::path& directory,
                                      std::vector<std::string> command)
{
    std::vector<std::string> result{"env", "-C", directory.string()};
    if (::geteuid() == 0) {
        const passwd* const user = ::getpwnam("nobody");
        if (user == nullptr)
            throw std::runtime_error("there is no user \"nobody\"");
        if (::chown(directory.c_str(), user->pw_uid, user->pw_gid) != 0)
            throw std::system_error(errno, std::generic_category(), directory.string());
        // A change of the user removes the signal for the end of the parent, so it is set again.
        result.insert(result.end(), {"setpriv", "--reuid=" + std::to_string(user->pw_uid),
                                     "--regid=" + std::to_string(user->pw_gid), "--clear-groups",
                                     "--pdeathsig=KILL"});
    }
    result.insert(result.end(), command.begin(), command.end());
    return result;
}

std::string find_program(const std::string& name, const std::vector<std::filesystem::path>& more)
{
    std::vector<std::filesystem::path> folders;
    if (const char* path = std::getenv("PATH")) {
        std::istringstream words(path);
        for (std::string folder; std::getline(words, folder, ':');)
            folders.emplace_back(folder);
    }
    folders.emplace_back("/usr/sbin");
    folders.insert(folders.end(), more.begin(), more.end());
    for (const std::filesystem::path& folder : folders) {
        const std::filesystem::path program = folder / name;
        if (::access(program.c_str(), X_OK) == 0)
            return program.string();
    }
    return {};
}

} // namespace leasehold::test
