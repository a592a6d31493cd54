#ifndef LEASEHOLD_TOOL_LOCKS_LOCK_COMMAND_HPP
#define LEASEHOLD_TOOL_LOCKS_LOCK_COMMAND_HPP

#include "command.hpp"
#include "lock_admin.hpp"

#include <boost/asio/io_context.hpp>

#include <memory>
#include <string>

namespace leasehold::tool {

/// The common part of commands that read locks: `--url`, `--json`, and the locks.
class lock_command : public command
{
protected:
    lock_command(std::string usage, std::string about, std::string json_help);

    /// @throws usage_error
    [[nodiscard]] std::unique_ptr<lock_admin> open() { return make_admin(context_, url_); }
    [[nodiscard]] bool json() const noexcept { return json_; }
    [[nodiscard]] const std::string& url() const noexcept { return url_; }

    /// Returns the only argument, a KEY.
    [[nodiscard]] static const std::string& only_key(const command_line::words& given);
    /// Returns the only argument, a pattern, or "*" if there is none.
    [[nodiscard]] static std::string pattern(const command_line::words& given);

    boost::asio::io_context context_{1};

private:
    std::string url_;
    bool json_ = false;
};

} // namespace leasehold::tool

#endif
