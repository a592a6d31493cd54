#include "redis_admin.hpp"

#include "command_line.hpp"
#include "failures.hpp"
#include "lock_breaker.hpp"
#include "lock_reader.hpp"
#include "lock_sweep.hpp"
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
        return read([&](servers& where) { return lock_reader(where).list(pattern); });
    }

    lock_list list_again(const std::string& pattern, std::chrono::nanoseconds limit) override
    {
        if (sweep_)
            return read([&](servers& where) { return sweep_->next(where, limit); });
        lock_list first = list(pattern);
        if (first.complete)
            sweep_.emplace(pattern, first.locks);
        return first;
    }

    std::optional<lock_state> read(const std::string& name) override
    {
        check(name);
        try {
            return lock_reader(all()).read(name);
        }
        catch (const unreachable&) {
            find_servers_again();
            throw;
        }
    }

    break_result break_lock(const std::string& name, const std::string& owner) override
    {
        check(name);
        return tool::break_lock(all(), name, owner);
    }

private:
    template <class Read>
    lock_list read(Read from)
    {
        lock_list seen;
        if (!read_or_report(seen.problems, [&] { seen = from(all()); }))
            seen.complete = false;
        if (!seen.problems.empty())
            find_servers_again();
        return seen;
    }

    /// Another server may be the master now.
    void find_servers_again()
    {
        if (servers_ && !servers_->is_quorum())
            servers_.reset();
    }

    static void check(const std::string& name)
    {
        if (is_reserved(name))
            throw usage_error("KEY is '" + name + "'; it must be the name of a lock");
    }

    servers& all() { return servers_ ? *servers_ : servers_.emplace(context_, where_); }

    boost::asio::io_context& context_;
    const redis_config where_;
    std::optional<servers> servers_;
    std::optional<lock_sweep> sweep_;
};

} // namespace

std::unique_ptr<lock_admin> make_redis_admin(boost::asio::io_context& context,
                                             const redis_config& where)
{
    return std::make_unique<redis_admin>(context, where);
}

} // namespace leasehold::tool
