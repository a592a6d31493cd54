#ifndef LEASEHOLD_SRC_REDIS_REDLOCK_MEMBER_COMMANDS_HPP
#define LEASEHOLD_SRC_REDIS_REDLOCK_MEMBER_COMMANDS_HPP

#include "redis/commands/command_set.hpp"
#include "redis/commands/ended_connections.hpp"
#include "redis/redlock/member_names.hpp"

#include <string>
#include <string_view>

namespace leasehold::quorum {

/// The keys of a member that is a Redis server, and its first command: which connections have
/// ended. Every other request is a script of its own (`redis_member`).
class member_commands final : public redis_store::command_set
{
public:
    [[nodiscard]] store_traits traits() const noexcept override { return {}; }
    [[nodiscard]] const redis_store::script_set& scripts() const noexcept override
    {
        return redis_store::quorum_script_set();
    }

    [[nodiscard]] std::size_t greetings() override
    {
        ended_.begin();
        return ended_.count() + 1;
    }

    redis_store::call greeting(std::size_t number, boost::redis::request& to) override
    {
        if (number < ended_.count()) {
            ended_.end(number, to);
            return {.forms = {redis_store::answer_form::number}};
        }
        to.push("CLIENT", "INFO");
        return {.forms = {redis_store::answer_form::text}};
    }

    // If this is not permitted, the connections end by themselves.
    [[nodiscard]] error_code greeted(std::size_t number, redis_store::answers replies,
                                     error_code) override
    {
        if (number < ended_.count())
            return {};
        ended_.forget();
        if (replies.front().text)
            ended_.learn(*replies.front().text);
        return {};
    }

    // A member is no store.
    redis_store::call acquire(const acquire_request&, std::int64_t, boost::redis::request&) override
    {
        return {};
    }
    redis_store::call renew(std::span<const renewal>, boost::redis::request&) override
    {
        return {};
    }
    redis_store::call release(const release_request&, std::int64_t, boost::redis::request&) override
    {
        return {};
    }
    [[nodiscard]] redis_store::parsed<acquire_reply> acquired(const redis_store::call&,
                                                              redis_store::answers) override
    {
        return {errc::not_supported, {}};
    }
    [[nodiscard]] error_code renewed(redis_store::answers, std::span<renewal_result>) const override
    {
        return errc::not_supported;
    }
    [[nodiscard]] redis_store::parsed<release_reply> released(const redis_store::call&,
                                                              redis_store::answers) override
    {
        return {errc::not_supported, {}};
    }

private:
    redis_store::ended_connections ended_;
};

} // namespace leasehold::quorum

#endif
