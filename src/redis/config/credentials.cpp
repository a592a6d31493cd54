#include "redis/config/credentials.hpp"

#include "base/password_file.hpp"

namespace leasehold::redis_store {

bool may_change_credentials(const redis_config& settings) noexcept
{
    return settings.credentials_source || !settings.password_file.empty();
}

bool may_change_sentinel_credentials(const redis_config& settings) noexcept
{
    return settings.sentinel_credentials_source || !settings.sentinel_password_file.empty();
}

redis_config::credentials credentials_for(const redis_config& settings)
{
    if (settings.credentials_source)
        return settings.credentials_source();
    if (!settings.password_file.empty())
        return {settings.user, detail::read_password_file("password_file", settings.password_file)};
    return {settings.user, settings.password};
}

redis_config::credentials sentinel_credentials_for(const redis_config& settings)
{
    if (settings.sentinel_credentials_source)
        return settings.sentinel_credentials_source();
    if (!settings.sentinel_password_file.empty())
        return {
            settings.sentinel_user,
            detail::read_password_file("sentinel_password_file", settings.sentinel_password_file)};
    return {settings.sentinel_user, settings.sentinel_password};
}

} // namespace leasehold::redis_store
