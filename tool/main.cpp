// leasehold: locks for scripts.
#include "command_line.hpp"
#include "exit_code.hpp"
#include "message.hpp"
#include "run/run_command.hpp"

#include <boost/system/system_error.hpp>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace {

using namespace leasehold::tool;

constexpr char usage[] = R"(usage: leasehold COMMAND [OPTION...]

  run    runs a command while it holds locks

leasehold COMMAND --help tells more; leasehold --version tells the version.
)";

int dispatch(const std::vector<std::string>& words)
{
    if (words.empty())
        throw usage_error("a command is missing; allowed: run, --help, --version");
    const std::vector<std::string> rest(words.begin() + 1, words.end());
    if (words[0] == "run")
        return run_command(rest);
    if (words[0] == "--help" || words[0] == "-h") {
        std::fputs(usage, stdout);
        return success;
    }
    if (words[0] == "--version") {
        std::puts("leasehold " LEASEHOLD_TOOL_VERSION);
        return success;
    }
    throw usage_error("unknown command '" + words[0] + "'; allowed: run, --help, --version");
}

} // namespace

int main(int argc, char** argv)
try {
    return dispatch({argv + 1, argv + argc});
}
catch (const usage_error& wrong) {
    say(wrong.what());
    return bad_arguments;
}
catch (const boost::system::system_error& wrong) {
    // The library's own checks: an option, a name, a URL.
    say(wrong.what());
    return bad_arguments;
}
catch (const std::exception& failed) {
    say(failed.what());
    return internal_failure;
}
