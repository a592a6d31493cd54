// The first byte selects the question, the node, and the client's settings:
//   1  CLUSTER SLOTS instead of CLUSTER SHARDS
//   2  over TLS
//   4  announced addresses are translated
// The rest is sent by the node. Its errors are read as redirections as well.
#include "fuzz/server_stream.hpp"
#include "fuzz/targets.hpp"

#include "redis/cluster/reply_tree.hpp"
#include "redis/cluster/topology.hpp"
#include "redis/connection/push_inbox.hpp"
#include "redis/protocol/redirection.hpp"

#include <leasehold/redis.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace leasehold::fuzz {
namespace {

using namespace redis_store::cluster;
using boost::redis::resp3::type;
using redis_store::read_redirection;
using redis_store::redirection;
using redis_store::slot_count;

using topology_map = redis_store::cluster::topology;

const redis_config::address asked{"asked", 7000};

bool same(const topology_map& a, const topology_map& b)
{
    return a.masters == b.masters && a.others == b.others &&
           std::equal(a.ranges.begin(), a.ranges.end(), b.ranges.begin(), b.ranges.end(),
                      [](const topology_map::range& one, const topology_map::range& other) {
                          return one.first == other.first && one.last == other.last &&
                                 one.master == other.master;
                      });
}

void check(const topology_map& found, std::string_view input)
{
    require(!found.ranges.empty(), "a map without a server of any slot", input);
    std::vector<bool> serves(found.masters.size(), false);
    for (const topology_map::range& each : found.ranges) {
        require(each.first <= each.last && each.last < slot_count, "slots that are none", input);
        require(each.master < found.masters.size(), "a range without a master", input);
        serves[each.master] = true;
    }
    require(std::find(serves.begin(), serves.end(), false) == serves.end(),
            "a master that serves nothing", input);
    for (const auto* group : {&found.masters, &found.others})
        for (const redis_config::address& each : *group)
            require(!each.host.empty() && each.port != 0, "an address that leads nowhere", input);
    for (std::size_t i = 1; i < found.masters.size(); ++i)
        require(std::count(found.masters.begin(), found.masters.end(), found.masters[i]) == 1,
                "one master twice", input);
}

/// "MOVED 3999 127.0.0.1:6381"
void check_redirection(std::string_view said)
{
    using kind = redirection::kind;
    const redirection found = read_redirection(said);
    const std::string_view code = said.substr(0, said.find(' '));
    const bool sent_on = code == "MOVED" || code == "ASK";
    switch (found.what) {
    case kind::none:
        return require(!sent_on && code != "TRYAGAIN" && code != "CLUSTERDOWN",
                       "a redirection is taken for another error", said);
    // The command was not executed, and the reply names no node to ask.
    case kind::try_again:
        return require(sent_on || code == "TRYAGAIN", "tried again without a reason", said);
    case kind::down: return require(code == "CLUSTERDOWN", "down without a reason", said);
    case kind::moved:
    case kind::ask: break;
    }
    require(code == (found.what == kind::moved ? "MOVED" : "ASK"), "sent on by another error",
            said);
    require(found.slot < slot_count && found.where.port != 0, "sent to nowhere", said);
    const redirection again = read_redirection(std::string(code) + ' ' +
                                               std::to_string(found.slot) + ' ' +
                                               (found.where.host.empty() ? "?" : found.where.host) +
                                               ':' + std::to_string(found.where.port));
    require(again.what == found.what && again.slot == found.slot && again.where == found.where,
            "written back, it leads elsewhere", said);
}

} // namespace

void topology(std::string_view input)
{
    if (input.empty())
        return;
    const auto how = static_cast<unsigned char>(input.front());
    input.remove_prefix(1);
    redis_config settings("redis+cluster://asked:7000");
    settings.tls = (how & 2) != 0;
    if ((how & 4) != 0)
        settings.address_map = {{{"10.0.0.1", 0}, {"outside", 0}},
                                {{"asked", 7001}, {"gateway", 9001}}};
    const address_reading reached(settings);

    redis_store::push_inbox ignored;
    boost::redis::any_adapter pushes = ignored.adapter();
    server_stream stream;
    stream.add(input);
    for (;;) {
        reply_tree answer;
        using boost::redis::any_adapter;
        any_adapter adapter(any_adapter::impl_t([&](any_adapter::parse_event event,
                                                    const boost::redis::resp3::node_view& node,
                                                    boost::system::error_code&) {
            if (event == any_adapter::parse_event::node)
                answer.record(node);
        }));
        const server_stream::result got = stream.read(&adapter, pushes);
        if (got == server_stream::result::pushed)
            continue;
        if (got != server_stream::result::answer)
            return;
        for (const auto& node : stream.last())
            if (node.data_type == type::simple_error || node.data_type == type::blob_error)
                check_redirection(node.value);
        if (!answer.error().empty())
            continue; // the rest is not read
        const auto read = [&] {
            return (how & 1) != 0 ? read_slots(answer, asked, reached)
                                  : read_shards(answer, asked, reached);
        };
        const auto found = read();
        const auto again = read();
        require(found.has_value() == again.has_value() && (!found || same(*found, *again)),
                "read twice, it says another thing", input);
        if (found)
            check(*found, input);
    }
}

} // namespace leasehold::fuzz
