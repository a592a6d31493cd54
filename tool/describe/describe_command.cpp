#include "describe_command.hpp"

#include "../exit_code.hpp"
#include "../terminal.hpp"
#include "description.hpp"

#include <leasehold_version.hpp>

#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace leasehold::tool {
namespace {

class describe_command final : public command
{
public:
    describe_command()
        : command("describe man | bash | zsh | fish [FILE]",
                  "Prints the manual, or the completions of a shell, or writes them to FILE.\n")
    {}

    int run(const command_line::words& given) override
    {
        const std::vector<described_command> commands = describe_commands();
        const std::string wanted = given.arguments.empty() ? "" : given.arguments.front();
        std::string text;
        if (wanted == "man")
            text = make_manual(commands, version);
        else if (wanted == "bash")
            text = make_bash_completions(commands);
        else if (wanted == "zsh")
            text = make_zsh_completions(commands);
        else if (wanted == "fish")
            text = make_fish_completions(commands);
        else
            throw usage_error("the kind of description is invalid; allowed: man, bash, zsh, fish");
        if (given.arguments.size() == 1) {
            print(text);
            return success;
        }
        std::ofstream file(given.arguments[1]);
        if (!(file << text << std::flush))
            throw std::runtime_error("cannot write to '" + given.arguments[1] + "'");
        return success;
    }
};

} // namespace

std::vector<described_command> describe_commands()
{
    std::vector<described_command> all;
    for (const command_entry& each : commands()) {
        if (each.summary.empty())
            continue;
        const auto made = each.make();
        const command_line& declared = made->options();
        all.push_back({std::string(each.name), std::string(each.summary), declared.usage(),
                       declared.about(), declared.notes(), declared.options()});
    }
    return all;
}

std::unique_ptr<command> make_describe_command()
{
    return std::make_unique<describe_command>();
}

} // namespace leasehold::tool
