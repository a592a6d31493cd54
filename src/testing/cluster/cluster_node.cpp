#include "testing/cluster/cluster_node.hpp"

#include "testing/server/verbs.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>

namespace leasehold::testing::impl {
namespace {

using redis_store::slot_of;

// On the connections between the nodes.
constexpr clock::duration bus_delay = std::chrono::microseconds(500);

words keys_of(words command)
{
    const std::string_view verb = command[0];
    if (verb == "EVAL" || verb == "EVALSHA") {
        std::size_t count = 0;
        if (command.size() > 2)
            std::from_chars(command[2].data(), command[2].data() + command[2].size(), count);
        return command.subspan(std::min<std::size_t>(3, command.size()),
                               std::min(count, command.size() - 3));
    }
    if (command.size() < 2 ||
        is_one_of(verb, {"HELLO", "PING", "TIME", "SCRIPT", "CLIENT", "WAIT", "SELECT", "CLUSTER",
                         "ASKING", "PUBLISH", "SUBSCRIBE", "UNSUBSCRIBE", "FLUSHALL"}))
        return {};
    return command.subspan(1, 1);
}

/// A server that does not know a command does not look for its keys.
bool is_known(std::string_view verb, server::product to)
{
    if (verb == "DELIFEQ")
        return to == server::product::valkey_9;
    if (verb == "DELEX")
        return to == server::product::redis_8_4;
    return !is_shard_subscription(verb) || to != server::product::redis_6;
}

} // namespace

cluster_node::cluster_node(cluster_knowledge& known, server_state& of, std::size_t index,
                           const slot_table& first)
    : server(of), number(index), shard(index % first.masters.size()), sees(first), known_(known)
{
    server.cluster = this;
    server.redis.cluster = true;
}

std::optional<std::string> cluster_node::refusal(words command, bool asking)
{
    const words keys = keys_of(command);
    if (keys.empty() || !is_known(command[0], server.redis.product))
        return std::nullopt;
    const slot_number slot = slot_of(keys.front());
    const auto elsewhere = [slot](std::string_view key) { return slot_of(key) != slot; };
    if (std::any_of(keys.begin(), keys.end(), elsewhere))
        return "CROSSSLOT Keys in request don't hash to the same slot";
    if (rejoins || known_.is_down())
        return "CLUSTERDOWN The cluster is down";

    const std::size_t serves = sees.shard_of(slot);
    const bool is_master = sees.masters[shard] == number;
    const auto to = [&](const char* how, std::size_t where) {
        return how + std::to_string(slot) + " " + known_.nodes()[sees.masters[where]].address();
    };
    if (is_shard_subscription(command[0])) {
        if (serves == shard)
            return std::nullopt;
        return to("MOVED ", serves);
    }
    const migration* const moving = is_master ? known_.migration_of(slot) : nullptr;
    if (moving != nullptr) {
        server.refresh();
        const auto missing = static_cast<std::size_t>(
            std::count_if(keys.begin(), keys.end(),
                          [&](std::string_view key) { return !server.redis.data.exists(key); }));
        const bool newer = server.redis.product != server::product::redis_6 &&
                           server.redis.product != server::product::redis_7;
        if (serves == shard && moving->from == shard && missing != 0) {
            if (newer && missing < keys.size())
                return "TRYAGAIN Multiple keys request during rehashing of slot";
            return to("ASK ", moving->to);
        }
        if (moving->to == shard && asking) {
            if (keys.size() > 1 && missing != 0)
                return "TRYAGAIN Multiple keys request during rehashing of slot";
            return std::nullopt;
        }
    }
    if (serves == shard && is_master)
        return std::nullopt;
    return to("MOVED ", serves);
}

message cluster_node::answer(words command, std::string_view client)
{
    if (command.size() == 2 && command[1] == "SHARDS" &&
        server.redis.product != server::product::redis_6) {
        known_.topology_reply(*this, client);
        return shards();
    }
    if (command.size() == 2 && command[1] == "INFO") {
        message reply;
        reply.add(
            message::type::blob_string,
            std::string(rejoins || known_.is_down() ? "cluster_state:fail" : "cluster_state:ok") +
                "\r\ncluster_current_epoch:" + std::to_string(sees.epoch) + "\r\n",
            0);
        return reply;
    }
    if (command.size() == 2 && command[1] == "SLOTS") {
        known_.topology_reply(*this, client);
        return slots();
    }
    return message::error("ERR Unknown subcommand or wrong number of arguments for '" +
                          std::string(command.size() > 1 ? command[1] : "") + "'");
}

message cluster_node::shards() const
{
    using type = message::type;
    message reply;
    reply.begin(type::array, sees.masters.size());
    for (std::size_t each = 0; each < sees.masters.size(); ++each) {
        const auto ranges = sees.ranges_of(each);
        reply.begin(type::map, 2, 1);
        reply.add(type::blob_string, "slots", 2);
        reply.begin(type::array, 2 * ranges.size(), 2);
        for (const auto& [first, last] : ranges) {
            reply.add(type::number, std::to_string(first), 3);
            reply.add(type::number, std::to_string(last), 3);
        }
        const auto& all = known_.nodes();
        reply.add(type::blob_string, "nodes", 2);
        reply.begin(
            type::array,
            static_cast<std::size_t>(std::count_if(
                all.begin(), all.end(), [&](const cluster_node& n) { return n.shard == each; })),
            2);
        for (const cluster_node& node : all) {
            if (node.shard != each)
                continue;
            const bool is_master = sees.masters[each] == node.number;
            const bool knows = !cut_off && server.time.now() >= unaware_until;
            const bool failed = knows && (!node.server.accepts() || node.cut_off);
            reply.begin(type::map, 5, 3);
            const auto add = [&](std::string_view name, std::string_view value) {
                reply.add(type::blob_string, name, 4);
                reply.add(name == "port" ? type::number : type::blob_string, value, 4);
            };
            add("port", std::to_string(node.port()));
            add("ip", node.host());
            add("endpoint", node.host());
            add("role", is_master ? "master" : "replica");
            add("health", failed ? "fail" : "online");
        }
    }
    return reply;
}

message cluster_node::slots() const
{
    using type = message::type;
    std::size_t count = 0;
    for (std::size_t each = 0; each < sees.masters.size(); ++each)
        count += sees.ranges_of(each).size();
    message reply;
    reply.begin(type::array, count);
    for (std::size_t each = 0; each < sees.masters.size(); ++each) {
        for (const auto& [first, last] : sees.ranges_of(each)) {
            std::vector<const cluster_node*> nodes{&known_.nodes()[sees.masters[each]]};
            for (const cluster_node& node : known_.nodes())
                if (node.shard == each && &node != nodes.front())
                    nodes.push_back(&node);
            reply.begin(type::array, 2 + nodes.size(), 1);
            reply.add(type::number, std::to_string(first), 2);
            reply.add(type::number, std::to_string(last), 2);
            for (const cluster_node* node : nodes) {
                reply.begin(type::array, 2, 2);
                reply.add(type::blob_string, node->host(), 3);
                reply.add(type::number, std::to_string(node->port()), 3);
            }
        }
    }
    return reply;
}

void cluster_node::spread(std::string_view channel, std::string_view text)
{
    if (cut_off)
        return;
    for (const cluster_node& each : known_.nodes()) {
        if (each.shard != shard || each.number == number || each.cut_off ||
            each.server.listeners(channel) == 0)
            continue;
        server.time.at(server.time.now() + bus_delay,
                       [to = &each.server, channel = std::string(channel),
                        text = std::string(text)] { to->publish_here(channel, text); });
    }
}

bool cluster_node::is_moving(std::string_view name) const
{
    return known_.migration_of(slot_of(name)) != nullptr;
}

void cluster_node::learn(const slot_table& table)
{
    sees = table;
    rejoins = false;
    server.unsubscribe_all(
        [&](std::string_view channel) { return sees.shard_of(slot_of(channel)) != shard; });
}

} // namespace leasehold::testing::impl
