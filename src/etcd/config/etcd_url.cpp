#include <leasehold/etcd_config.hpp>

#include "etcd/config/config_check.hpp"
#include "session_store/config/session_url.hpp"

#include <string>
#include <string_view>

namespace leasehold {
namespace {

etcd_config parse_etcd(std::string_view url)
{
    etcd_config result;
    const std::string_view path = session_store::read_session_url(
        result, url, "etcd", 2379, [](const std::string&, const std::string&) { return false; },
        "one of session, timeout, reconnect, password_file, client_info, tls, ca, cert, key, "
        "verify");
    if (!path.empty())
        result.root = detail::decode_url(path.substr(1), "root");
    if (const std::string wrong = etcd_store::problem_of(result); !wrong.empty())
        detail::refuse_url(wrong);
    return result;
}

} // namespace

etcd_config::etcd_config(std::string_view url) : etcd_config(parse_etcd(url)) {}

} // namespace leasehold
