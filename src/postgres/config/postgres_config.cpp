#include <leasehold/postgres_config.hpp>

#include "base/connection_config.hpp"
#include "base/fence_retention.hpp"
#include "base/printable.hpp"
#include "base/url.hpp"
#include "postgres/config/config_check.hpp"

#include <leasehold/error.hpp>

#include <boost/system/system_error.hpp>

namespace leasehold {
namespace postgres_store {
namespace {

using detail::has_nul;
using detail::wrong_value;

// The server cuts longer identifiers.
constexpr std::size_t longest_identifier = 63;

std::string problem_of_addresses(const postgres_config& c)
{
    if (c.addresses.empty())
        return "addresses is empty, must contain a host";
    for (const postgres_config::address& each : c.addresses) {
        if (std::string text = detail::problem_of_address(
                each.host, each.port, "a name, an address or the directory of a socket");
            !text.empty())
            return text;
    }
    return {};
}

std::string problem_of_texts(const postgres_config& c)
{
    // The text is not shown, because it may be a secret.
    if (has_nul(c.password))
        return "password contains a NUL, must be a text";
    const struct
    {
        const char* name;
        const std::string& value;
    } texts[] = {{"user", c.user},
                 {"database", c.database},
                 {"schema", c.schema},
                 {"application_name", c.application_name},
                 {"password_file", c.password_file},
                 {"tls_ca_file", c.tls_ca_file},
                 {"tls_cert_file", c.tls_cert_file},
                 {"tls_key_file", c.tls_key_file}};
    for (const auto& each : texts) {
        if (has_nul(each.value))
            return std::string(each.name) + " contains a NUL, must be a text";
    }
    if (c.schema.empty() || c.schema.size() > longest_identifier)
        return wrong_value("schema", c.schema, "a name of 1 to 63 bytes");
    if (!c.password_file.empty() && !c.password.empty())
        return wrong_value("password_file", c.password_file, "empty with a password");
    return detail::problem_of_certificate(c.tls_cert_file, c.tls_key_file);
}

} // namespace

std::string problem_of(const postgres_config& c)
{
    for (std::string text : {problem_of_addresses(c), problem_of_texts(c),
                             detail::problem_of_times(c.timeout, c.health_check, c.reconnect),
                             detail::problem_of(c.fence_retention)}) {
        if (!text.empty())
            return text;
    }
    return {};
}

const char* name_of(postgres_config::tls_mode mode) noexcept
{
    switch (mode) {
    case postgres_config::tls_mode::disable: return "disable";
    case postgres_config::tls_mode::prefer: return "prefer";
    case postgres_config::tls_mode::require: return "require";
    case postgres_config::tls_mode::verify_ca: return "verify-ca";
    case postgres_config::tls_mode::verify_full: break;
    }
    return "verify-full";
}

const char* name_of(postgres_config::commit_durability durability) noexcept
{
    switch (durability) {
    case postgres_config::commit_durability::local: return "local";
    case postgres_config::commit_durability::relaxed: return "relaxed";
    case postgres_config::commit_durability::full: break;
    }
    return "full";
}

} // namespace postgres_store

void postgres_config::validate() const
{
    if (const std::string text = postgres_store::problem_of(*this); !text.empty())
        throw boost::system::system_error(errc::invalid_option, detail::printable(text));
}

} // namespace leasehold
