#ifndef LEASEHOLD_TOOL_LOCKS_LOCK_COMMAND_HPP
#define LEASEHOLD_TOOL_LOCKS_LOCK_COMMAND_HPP

#include "command.hpp"

#include "server/servers.hpp"

#include <boost/asio/io_context.hpp>

#include <string>

namespace leasehold::tool {

/// What the commands have in common that look at locks: `--url`, `--json`, and their servers.
class lock_command : public command
{
protected:
    lock_command(std::string usage, std::string about, std::string json_help);

    /// @throws usage_error, unreachable, refused
    [[nodiscard]] servers open();
    [[nodiscard]] bool json() const noexcept { return json_; }
    [[nodiscard]] const std::string& url() const noexcept { return url_; }

    /// The one KEY that has to be there.
    [[nodiscard]] static const std::string& only_key(const command_line::words& given);
    /// The pattern that may be there; without it everything.
    [[nodiscard]] static std::string pattern(const command_line::words& given);

    boost::asio::io_context context_{1};

private:
    std::string url_;
    bool json_ = false;
};

} // namespace leasehold::tool

#endif
