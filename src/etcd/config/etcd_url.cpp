#include <leasehold/etcd_config.hpp>

#include "base/connection_config.hpp"
#include "base/url.hpp"
#include "etcd/config/config_check.hpp"

#include <string>
#include <string_view>

namespace leasehold {
namespace {

using detail::decode_url;
using detail::read_milliseconds;
using detail::read_on_off;
using detail::refuse_url;

void read_parameter(etcd_config& to, const std::string& name, const std::string& value)
{
    if (name == "session")
        to.session = read_milliseconds(name, value);
    else if (name == "timeout")
        to.timeout = read_milliseconds(name, value);
    else if (name == "reconnect")
        to.reconnect = read_milliseconds(name, value);
    else if (name == "password_file")
        to.password_file = value;
    else if (name == "client_info")
        to.client_info = read_on_off(name, value);
    else if (name == "tls")
        to.tls = read_on_off(name, value);
    else if (name == "ca")
        to.tls_ca_file = value;
    else if (name == "cert")
        to.tls_cert_file = value;
    else if (name == "key")
        to.tls_key_file = value;
    else if (name == "verify" && (value == "full" || value == "none"))
        to.tls_verify = value == "full";
    else if (name == "verify")
        refuse_url(name, value, "full or none");
    else
        refuse_url("parameter", name,
                   "one of session, timeout, reconnect, password_file, client_info, tls, ca, cert, "
                   "key, verify");
}

etcd_config parse_etcd(std::string_view url)
{
    const detail::url_parts given = detail::split_url(url);
    detail::check_place(given, {"etcd"}, "a name or an address");
    etcd_config result;
    detail::read_user(result, given);
    detail::read_addresses(result, given, 2379);
    if (!given.path.empty())
        result.root = decode_url(given.path.substr(1), "root");
    detail::each_parameter(given.query, [&](const std::string& name, const std::string& value) {
        read_parameter(result, name, value);
    });
    if (const std::string wrong = etcd_store::problem_of(result); !wrong.empty())
        refuse_url(wrong);
    return result;
}

} // namespace

etcd_config::etcd_config(std::string_view url) : etcd_config(parse_etcd(url)) {}

} // namespace leasehold
