#include <leasehold/zookeeper_config.hpp>

#include "base/connection_config.hpp"
#include "base/printable.hpp"
#include "base/url.hpp"
#include "session_store/config/session_url.hpp"
#include "zookeeper/config/config_check.hpp"

#include <leasehold/error.hpp>

#include <boost/system/system_error.hpp>

#include <algorithm>

namespace leasehold {
namespace zookeeper_store {
namespace {

using detail::wrong_value;
using std::chrono::milliseconds;

// ZooKeeper allows more characters, but clients of other languages may show them differently.
std::string problem_of_root(const std::string& root)
{
    const bool printable = std::all_of(root.begin(), root.end(),
                                       [](char c) { return c > ' ' && c < '\x7f'; });
    const bool is_path = root.empty() || (root.starts_with('/') && !root.ends_with('/'));
    const std::string closed = root + '/';
    if (printable && is_path && closed.find("//") == closed.npos &&
        closed.find("/./") == closed.npos && closed.find("/../") == closed.npos)
        return {};
    return wrong_value("root", root, "empty, or a path of printable ASCII as /app/locks");
}

std::string problem_of_user(const std::string& user)
{
    return user.find(':') == user.npos ? std::string()
                                       : wrong_value("user", user, "a name without ':'");
}

std::string problem_of_session(const zookeeper_config& c)
{
    using namespace std::chrono_literals;
    const auto text = [](milliseconds time) { return std::to_string(time.count()) + " ms"; };
    if (c.tick < 10ms || c.tick > 1min)
        return wrong_value("tick", text(c.tick), "10 to 60000 ms");
    if (c.session < std::max(100ms, 4 * c.tick) || c.session > 10min)
        return wrong_value("session", text(c.session),
                           std::to_string(std::max(100ms, 4 * c.tick).count()) +
                               " to 600000 ms with this tick");
    return {};
}

} // namespace

std::string problem_of(const zookeeper_config& c)
{
    // There is no separate check of the connection: the session has pings.
    const milliseconds no_check = std::chrono::seconds(1);
    for (std::string text :
         {detail::problem_of_addresses(c.addresses, "a name or an address"),
          problem_of_root(c.root), session_store::problem_of_texts(c), problem_of_user(c.user),
          problem_of_session(c), detail::problem_of_times(c.timeout, no_check, c.reconnect)}) {
        if (!text.empty())
            return text;
    }
    return {};
}

} // namespace zookeeper_store

void zookeeper_config::validate() const
{
    if (const std::string text = zookeeper_store::problem_of(*this); !text.empty())
        throw boost::system::system_error(errc::invalid_option, detail::printable(text));
}

} // namespace leasehold
