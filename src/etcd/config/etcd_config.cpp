#include <leasehold/etcd_config.hpp>

#include "base/connection_config.hpp"
#include "base/printable.hpp"
#include "base/url.hpp"
#include "etcd/config/config_check.hpp"
#include "session_store/config/session_url.hpp"

#include <leasehold/error.hpp>

#include <boost/system/system_error.hpp>

#include <algorithm>

namespace leasehold {
namespace etcd_store {
namespace {

using detail::wrong_value;
using std::chrono::milliseconds;

// etcd allows any bytes, but other tools may show them differently.
std::string problem_of_root(const std::string& root)
{
    const bool printable = std::all_of(root.begin(), root.end(),
                                       [](char c) { return c > ' ' && c < '\x7f'; });
    if (printable && !root.ends_with('/'))
        return {};
    return wrong_value("root", root,
                       "empty, or printable ASCII without a '/' at its end, as app/locks");
}

std::string problem_of_session(const etcd_config& c)
{
    using namespace std::chrono_literals;
    // A longer TTL may be a checkpoint of the servers, and then a new leader does not give all of
    // it.
    if (c.session < 2s || c.session > 5min)
        return wrong_value("session", std::to_string(c.session.count()) + " ms",
                           "2000 to 300000 ms");
    return {};
}

} // namespace

std::string problem_of(const etcd_config& c)
{
    // There is no separate check of the connection: the session has keep-alives.
    const milliseconds no_check = std::chrono::seconds(1);
    for (std::string text :
         {detail::problem_of_addresses(c.addresses, "a name or an address"),
          problem_of_root(c.root), session_store::problem_of_texts(c), problem_of_session(c),
          detail::problem_of_times(c.timeout, no_check, c.reconnect)}) {
        if (!text.empty())
            return text;
    }
    return {};
}

} // namespace etcd_store

void etcd_config::validate() const
{
    if (const std::string text = etcd_store::problem_of(*this); !text.empty())
        throw boost::system::system_error(errc::invalid_option, detail::printable(text));
}

} // namespace leasehold
