#include "zookeeper_facts.hpp"

#include "../failures.hpp"
#include "../zookeeper/operator_session.hpp"
#include "../zookeeper/status_word.hpp"

#include "zookeeper/protocol/messages.hpp"

#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <charconv>
#include <sstream>

namespace leasehold::tool::doctor {
namespace {

using namespace zookeeper_store;
using std::chrono::milliseconds;

std::int64_t number_after(const std::string& text, std::string_view name)
{
    // "count=5" is not the end of "hardcount=5".
    for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
        const bool begins = at == 0 || text[at - 1] == ',' || text[at - 1] == ';';
        std::int64_t value = -1;
        const char* const from = text.data() + at + name.size();
        if (begins && std::from_chars(from, text.data() + text.size(), value).ec == std::errc())
            return value;
    }
    return -1;
}

/// Empty: there is no such node.
std::string content_of(operator_session& session, const std::string& node)
{
    const auto read = read_data(session.ask(get_data(node, false)).body);
    return read ? read->data : std::string();
}

std::vector<zookeeper_facts::quota> ask_quotas(operator_session& session, const std::string& root)
{
    std::vector<zookeeper_facts::quota> all;
    for (std::size_t end = root.find('/', 1); !root.empty(); end = root.find('/', end + 1)) {
        const std::string node = root.substr(0, end);
        const std::string kept = "/zookeeper/quota" + node;
        for (auto& each : quotas_of(node, content_of(session, kept + "/zookeeper_limits"),
                                    content_of(session, kept + "/zookeeper_stats")))
            all.push_back(std::move(each));
        if (end == root.npos)
            break;
    }
    return all;
}

std::vector<std::chrono::microseconds> ping(operator_session& session)
{
    constexpr int times = 20;
    std::vector<std::chrono::microseconds> took;
    for (int i = 0; i < times; ++i) {
        const auto began = std::chrono::steady_clock::now();
        static_cast<void>(session.ask(sync_request()));
        took.push_back(std::chrono::duration_cast<std::chrono::microseconds>(
            std::chrono::steady_clock::now() - began));
    }
    return took;
}

/// The timeout of a session that requests two ticks.
std::optional<milliseconds> ask_shortest(boost::asio::io_context& context, zookeeper_config where)
{
    const milliseconds ticks = 2 * where.tick;
    where.tick = milliseconds(10);
    where.session = std::max(milliseconds(100), ticks);
    try {
        operator_session session(context, where);
        static_cast<void>(session.ask(sync_request()));
        return session.timeout();
    }
    catch (const unreachable&) { // such a session has little time for its replies
        return std::nullopt;
    }
}

void ask_words(const zookeeper_config& where, zookeeper_facts& to)
{
    const zookeeper_config::address& at = where.addresses.front();
    const std::string status = answer_to_word(at, "srvr", where.timeout);
    const std::string version = line_of(status, "Zookeeper version: ");
    to.version = version.substr(0, version.find_first_of("-,"));
    to.role = line_of(status, "Mode: ");
    const std::string tick = line_of(answer_to_word(at, "conf", where.timeout), "tickTime=");
    std::int64_t value = 0;
    if (std::from_chars(tick.data(), tick.data() + tick.size(), value).ec == std::errc())
        to.tick = milliseconds(value);
}

} // namespace

std::vector<std::string> voters_of(const std::string& config)
{
    std::vector<std::string> all;
    std::istringstream lines(config);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t value = line.find('=');
        if (line.starts_with("server.") && value != line.npos &&
            line.find(":observer") == line.npos)
            all.push_back(line.substr(value + 1, line.find_first_of(":;", value) - value - 1));
    }
    return all;
}

std::vector<zookeeper_facts::quota> quotas_of(const std::string& node, const std::string& limits,
                                              const std::string& used)
{
    std::vector<zookeeper_facts::quota> all;
    const auto add = [&](const char* unit, std::string_view name, std::string_view of) {
        if (const std::int64_t most = number_after(limits, name); most >= 0)
            all.push_back({node, unit, number_after(used, of), most});
    };
    add("nodes", "count=", "count=");
    add("bytes", "bytes=", "bytes=");
    add("nodes", "countHardLimit=", "count=");
    add("bytes", "byteHardLimit=", "bytes=");
    return all;
}

zookeeper_facts ask_zookeeper(const zookeeper_config& where, const zookeeper_config& as)
{
    boost::asio::io_context context(1);
    zookeeper_config wanted = where;
    wanted.session = as.session;
    wanted.tick = as.tick;
    operator_session session(context, wanted);
    zookeeper_facts found;
    found.pings = ping(session);
    found.name = session.server();
    found.granted = session.timeout();
    try {
        found.voters = voters_of(content_of(session, "/zookeeper/config"));
        found.quotas = ask_quotas(session, as.root);
    }
    catch (const refused&) { // the user may not read them
    }
    found.shortest = ask_shortest(context, wanted);
    if (!where.tls) // the commands of four letters have a port without TLS
        ask_words(where, found);
    return found;
}

} // namespace leasehold::tool::doctor
