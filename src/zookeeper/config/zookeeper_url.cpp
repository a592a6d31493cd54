#include <leasehold/zookeeper_config.hpp>

#include "session_store/config/session_url.hpp"
#include "zookeeper/config/config_check.hpp"

#include <string>
#include <string_view>

namespace leasehold {
namespace {

zookeeper_config parse(std::string_view url)
{
    zookeeper_config result;
    const auto read_tick = [&](const std::string& name, const std::string& value) {
        if (name != "tick")
            return false;
        result.tick = detail::read_milliseconds(name, value);
        return true;
    };
    const std::string_view path = session_store::read_session_url(
        result, url, "zookeeper", 2181, read_tick,
        "one of session, tick, timeout, reconnect, password_file, client_info, tls, ca, cert, key, "
        "verify");
    if (path != "/")
        result.root = detail::decode_url(path, "root");
    if (const std::string wrong = zookeeper_store::problem_of(result); !wrong.empty())
        detail::refuse_url(wrong);
    return result;
}

} // namespace

zookeeper_config::zookeeper_config(std::string_view url) : zookeeper_config(parse(url)) {}

} // namespace leasehold
