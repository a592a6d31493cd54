#include <leasehold/postgres_config.hpp>

#include "base/fence_retention.hpp"
#include "base/printable.hpp"
#include "base/url.hpp"
#include "postgres/config/config_check.hpp"

#include <leasehold/error.hpp>

#include <boost/system/system_error.hpp>

namespace leasehold {
namespace postgres_store {
namespace {

using detail::wrong_value;
using std::chrono::milliseconds;

// The server cuts longer identifiers.
constexpr std::size_t longest_identifier = 63;

std::string milliseconds_between(std::string_view part, milliseconds value, milliseconds least,
                                 milliseconds most)
{
    if (value >= least && value <= most)
        return {};
    return wrong_value(part, std::to_string(value.count()) + " ms",
                       std::to_string(least.count()) + " to " + std::to_string(most.count()) +
                           " ms");
}

bool has_nul(std::string_view text)
{
    return text.find('\0') != std::string_view::npos;
}

std::string problem_of_addresses(const postgres_config& c)
{
    if (c.addresses.empty())
        return "addresses is empty, must contain a host";
    for (const postgres_config::address& each : c.addresses) {
        if (each.host.empty() || has_nul(each.host))
            return wrong_value("host", has_nul(each.host) ? "(with a NUL)" : "",
                               "a name, an address or the directory of a socket");
        if (each.port == 0)
            return wrong_value("port", "0", "1 to 65535");
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
    if (c.tls_cert_file.empty() != c.tls_key_file.empty())
        return wrong_value("tls_key_file", c.tls_key_file,
                           c.tls_cert_file.empty() ? "empty without tls_cert_file"
                                                   : "the file of the key of tls_cert_file");
    return {};
}

std::string problem_of_times(const postgres_config& c)
{
    using namespace std::chrono_literals;
    for (std::string text : {milliseconds_between("timeout", c.timeout, 10ms, 10min),
                             milliseconds_between("health_check", c.health_check, 10ms, 10min),
                             milliseconds_between("reconnect", c.reconnect, 1ms, 10min)}) {
        if (!text.empty())
            return text;
    }
    return {};
}

std::string problem_of_retention(const postgres_config& c)
{
    return detail::problem_of(c.fence_retention);
}

} // namespace

std::string problem_of(const postgres_config& c)
{
    using check_type = std::string (*)(const postgres_config&);
    for (const check_type check : {check_type(problem_of_addresses), problem_of_texts,
                                   problem_of_times, problem_of_retention}) {
        if (std::string text = check(c); !text.empty())
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
