// leasehold: locks for scripts.
#include "command.hpp"
#include "exit_code.hpp"
#include "message.hpp"
#include "server/server_connection.hpp"
#include "terminal.hpp"

#include <leasehold_version.hpp>

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <fcntl.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

using namespace leasehold::tool;

std::string usage()
{
    std::size_t width = 0;
    for (const command_entry& each : commands())
        width = std::max(width, each.name.size());
    std::string text = "usage: leasehold COMMAND [OPTION...]\n\n";
    for (const command_entry& each : commands()) {
        if (each.summary.empty())
            continue;
        std::string name(each.name);
        name.resize(width, ' ');
        text.append("  ").append(name).append("  ").append(each.summary).append("\n");
    }
    return text + "\nleasehold COMMAND --help describes a command; --version prints the version.\n";
}

/// Opens a file for each closed standard descriptor. Otherwise the next socket gets its number, and
/// the output goes to the server. Reads and writes of these files fail as before.
void occupy_standard_descriptors() noexcept
{
    for (const int each : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(each, F_GETFD) == -1)
            ::open("/dev/null", each == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    }
}

[[noreturn]] void refuse(std::string text)
{
    text += "; allowed: ";
    for (const command_entry& each : commands()) {
        if (!each.summary.empty())
            text.append(each.name).append(", ");
    }
    throw usage_error(text + "--help, --version");
}

int dispatch(const std::vector<std::string>& words)
{
    if (words.empty())
        refuse("a command is missing");
    for (const command_entry& each : commands()) {
        if (each.name != words[0])
            continue;
        const auto found = each.make();
        const auto given = found->options().read({words.begin() + 1, words.end()});
        if (!given.asks_for_help)
            return found->run(given);
        print(found->options().help());
        return success;
    }
    if (asks_for(words[0], "--help") || asks_for(words[0], "-h")) {
        print(usage());
        return success;
    }
    if (asks_for(words[0], "--version")) {
        print(std::string("leasehold ") + leasehold::version + "\n");
        return success;
    }
    refuse("unknown command '" + words[0] + "'");
}

} // namespace

int main(int argc, char** argv)
try {
    occupy_standard_descriptors();
    return dispatch({argv + 1, argv + argc});
}
catch (const usage_error& wrong) {
    say(wrong.what());
    return bad_arguments;
}
catch (const boost::system::system_error& wrong) {
    // From the checks of the library: an option, a name, a URL.
    say(wrong.what());
    return bad_arguments;
}
catch (const unreachable& failed) {
    say(failed.what());
    return store_unavailable;
}
catch (const refused& failed) {
    say(failed.what());
    return store_unavailable;
}
catch (const std::exception& failed) {
    say(failed.what());
    return internal_failure;
}
