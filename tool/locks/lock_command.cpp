#include "lock_command.hpp"

#include "url_option.hpp"

#include <utility>

namespace leasehold::tool {

lock_command::lock_command(std::string usage, std::string about, std::string json_help)
    : command(std::move(usage), std::move(about))
{
    declare_url(options(), url_);
    options().flag("--json", std::move(json_help), json_);
}

const std::string& lock_command::only_key(const command_line::words& given)
{
    if (given.arguments.empty())
        throw usage_error("KEY is missing");
    if (given.arguments.size() > 1 || !given.command.empty())
        throw usage_error("there are several arguments; only one KEY is allowed");
    const std::string& key = given.arguments.front();
    if (key.empty())
        throw usage_error("KEY is ''; it must be the name of a lock");
    return key;
}

std::string lock_command::pattern(const command_line::words& given)
{
    if (given.arguments.size() > 1 || !given.command.empty())
        throw usage_error("there are several arguments; only one PATTERN is allowed, in quotes so "
                          "that the shell does not expand it");
    return given.arguments.empty() ? "*" : given.arguments.front();
}

} // namespace leasehold::tool
