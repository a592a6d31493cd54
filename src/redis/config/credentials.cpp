#include "redis/config/credentials.hpp"

#include "base/printable.hpp"

#include <cerrno>
#include <cstddef>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>

namespace leasehold::redis_store {
namespace {

// Tokens are shorter.
constexpr std::size_t longest_file = 64 * 1024;

[[noreturn]] void refuse_password_file(const std::string& field, const std::string& file,
                                       const std::string& problem)
{
    throw std::runtime_error(detail::printable(field + " '" + file + "' " + problem));
}

std::string read_password(const std::string& field, const std::string& file)
{
    errno = 0;
    std::ifstream from(file, std::ios::binary);
    std::string text(longest_file + 1, '\0');
    from.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (!from.is_open() || from.bad())
        refuse_password_file(field, file,
                             "cannot be read: " + std::generic_category().message(errno));
    text.resize(static_cast<std::size_t>(from.gcount()));
    if (text.size() > longest_file)
        refuse_password_file(field, file, "is too large, must have 64 KiB at most");
    if (text.ends_with('\n'))
        text.pop_back();
    if (text.ends_with('\r'))
        text.pop_back();
    if (text.empty())
        refuse_password_file(field, file, "is empty, must contain a password");
    return text;
}

} // namespace

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
        return {settings.user, read_password("password_file", settings.password_file)};
    return {settings.user, settings.password};
}

redis_config::credentials sentinel_credentials_for(const redis_config& settings)
{
    if (settings.sentinel_credentials_source)
        return settings.sentinel_credentials_source();
    if (!settings.sentinel_password_file.empty())
        return {settings.sentinel_user,
                read_password("sentinel_password_file", settings.sentinel_password_file)};
    return {settings.sentinel_user, settings.sentinel_password};
}

} // namespace leasehold::redis_store
