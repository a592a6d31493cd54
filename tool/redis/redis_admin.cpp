#include "redis_admin.hpp"

#include "command_line.hpp"
#include "lock_breaker.hpp"
#include "lock_reader.hpp"
#include "server/servers.hpp"

#include <optional>

namespace leasehold::tool {
namespace {

class redis_admin final : public lock_admin
{
public:
    redis_admin(boost::asio::io_context& context, const redis_config& where)
        : context_(context), where_(where)
    {}

    lock_list list(const std::string& pattern) override
    {
        try {
            lock_list seen = lock_reader(all()).list(pattern);
            // Another server may be the master now.
            if (!seen.problems.empty() && !all().is_quorum())
                servers_.reset();
            return seen;
        }
        catch (const unreachable& failed) {
            return {{}, {failed.what()}, false};
        }
        catch (const refused& failed) {
            return {{}, {failed.what()}, false};
        }
    }

    std::optional<lock_state> look(const std::string& name) override
    {
        check(name);
        try {
            return lock_reader(all()).look(name);
        }
        catch (const unreachable&) {
            // Another server may be the master now.
            if (servers_ && !servers_->is_quorum())
                servers_.reset();
            throw;
        }
    }

    break_result break_lock(const std::string& name, const std::string& owner) override
    {
        check(name);
        return tool::break_lock(all(), name, owner);
    }

private:
    static void check(const std::string& name)
    {
        if (is_reserved(name))
            throw usage_error("KEY is '" + name + "'; it must be the name of a lock");
    }

    servers& all() { return servers_ ? *servers_ : servers_.emplace(context_, where_); }

    boost::asio::io_context& context_;
    const redis_config where_;
    std::optional<servers> servers_;
};

} // namespace

std::unique_ptr<lock_admin> make_redis_admin(boost::asio::io_context& context,
                                             const redis_config& where)
{
    return std::make_unique<redis_admin>(context, where);
}

} // namespace leasehold::tool
