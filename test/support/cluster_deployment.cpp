#include "support/cluster_deployment.hpp"

#include "support/poll_servers.hpp"

#include "redis/protocol/slot.hpp"

#include <charconv>
#include <sstream>
#include <utility>

namespace leasehold::test {

cluster_deployment::cluster_deployment(cluster_setup setup) : setup_(std::move(setup))
{
    const std::size_t count = setup_.replicas ? 2 * master_count : master_count;
    for (std::size_t i = 0; i < count; ++i) {
        auto made = std::make_unique<node_state>();
        std::vector<std::string> options{"--cluster-enabled",
                                         "yes",
                                         "--cluster-config-file",
                                         "nodes.conf",
                                         "--cluster-port",
                                         std::to_string(made->bus.number()),
                                         "--cluster-node-timeout",
                                         std::to_string(setup_.node_timeout.count()),
                                         "--repl-diskless-sync-delay",
                                         "0"};
        options.insert(options.end(), setup_.options.begin(), setup_.options.end());
        if (setup_.options_of) {
            const std::vector<std::string> own = setup_.options_of(i);
            options.insert(options.end(), own.begin(), own.end());
        }
        made->server = std::make_unique<redis_server>(std::move(options), redis_setup{.tcp = true});
        nodes_.push_back(std::move(made));
        resp_client client = connect(i);
        nodes_.back()->id = client.string({"CLUSTER", "MYID"});
        if (setup_.announces) {
            for (const std::string& each : setup_.announces(i, node(i).port())) {
                const std::size_t blank = each.find(' ');
                client.done({"CONFIG", "SET", each.substr(0, blank), each.substr(blank + 1)});
            }
        }
    }
    for (std::size_t i = 0; i < master_count; ++i) {
        resp_client client = connect(i);
        const std::size_t first = i * slot_count / master_count;
        const std::size_t last = (i + 1) * slot_count / master_count - 1;
        client.done({"CLUSTER", "ADDSLOTSRANGE", std::to_string(first), std::to_string(last)});
        client.done({"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)});
    }
    for (std::size_t i = 1; i < count; ++i)
        connect(0).done({"CLUSTER", "MEET", "127.0.0.1", std::to_string(node(i).port()),
                         std::to_string(nodes_[i]->bus.number())});
    for (std::size_t i = master_count; i < count; ++i)
        poll(
            [&] {
                return !connect(i)
                            .command({"CLUSTER", "REPLICATE", nodes_[i - master_count]->id})
                            .is_error();
            },
            "the nodes' meeting");
    wait_until_whole();
}

cluster_deployment::~cluster_deployment() = default;

std::string cluster_deployment::url() const
{
    std::string hosts;
    for (std::size_t i = 0; i < master_count; ++i)
        hosts.append(hosts.empty() ? "127.0.0.1:" : ",127.0.0.1:")
            .append(std::to_string(nodes_[i]->server->port()));
    return "redis+cluster://" + hosts;
}

resp_client cluster_deployment::connect(std::size_t index) const
{
    return nodes_.at(index)->server->connect();
}

std::uint16_t cluster_deployment::slot_of(const std::string& key)
{
    return redis_store::slot_of(key);
}

/// The format of a line is "<id> <address> myself,master - 0 0 <epoch> connected 0-5460 5462 …"
cluster_deployment::slot_claim cluster_deployment::claim_seen_by(std::size_t index,
                                                                 std::uint16_t slot) const
{
    std::istringstream lines(connect(index).string({"CLUSTER", "NODES"}));
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::vector<std::string> all;
        for (std::string word; words >> word;)
            all.push_back(word);
        for (std::size_t i = 8; i < all.size(); ++i) {
            if (all[i].starts_with('['))
                continue;
            const std::size_t dash = all[i].find('-');
            const int first = std::stoi(all[i]);
            const int last = dash == std::string::npos ? first : std::stoi(all[i].substr(dash + 1));
            if (slot >= first && slot <= last)
                return {all[0], all[6]};
        }
    }
    return {};
}

bool cluster_deployment::serves(std::size_t index, std::uint16_t slot) const
{
    return claim_seen_by(index, slot).id == nodes_[index]->id;
}

std::size_t cluster_deployment::master_of(const std::string& key)
{
    std::size_t found = size();
    poll(
        [&] {
            for (std::size_t i = 0; i < size(); ++i) {
                if (node(i).running() && serves(i, slot_of(key))) {
                    found = i;
                    return true;
                }
            }
            return false;
        },
        "a master of " + key);
    return found;
}

std::size_t cluster_deployment::wait_for_other_master(const std::string& key, std::size_t than)
{
    std::size_t found = size();
    poll(
        [&] {
            for (std::size_t i = 0; i < size(); ++i) {
                if (i != than && node(i).running() && serves(i, slot_of(key))) {
                    found = i;
                    return true;
                }
            }
            return false;
        },
        "another master of " + key);
    return found;
}

std::size_t cluster_deployment::switch_master(const std::string& key)
{
    const std::size_t master = master_of(key);
    const std::size_t replica = other_of(master);
    wait_until_whole();
    std::chrono::steady_clock::time_point asked{};
    poll(
        [&] {
            if (serves(replica, slot_of(key)))
                return true;
            // The other masters do not vote on the same shard again so soon, and send no
            // notification.
            if (const auto now = std::chrono::steady_clock::now();
                now >= asked + setup_.node_timeout) {
                asked = now;
                connect(replica).done({"CLUSTER", "FAILOVER"});
            }
            return false;
        },
        "the switch of the master");
    return replica;
}

std::size_t cluster_deployment::master_besides(std::size_t index, std::size_t which)
{
    const std::size_t shard = (index + 1 + which) % master_count;
    std::size_t found = shard;
    poll(
        [&] {
            for (const std::size_t each : {shard, other_of(shard)}) {
                if (connect(each).command({"ROLE"}).items.at(0).text == "master") {
                    found = each;
                    return true;
                }
            }
            return false;
        },
        "the master of another shard");
    return found;
}

std::string cluster_deployment::name_at(std::size_t index, const std::string& prefix)
{
    for (int i = 0;; ++i) {
        std::string name = prefix + std::to_string(i);
        if (serves(index, slot_of(name)))
            return name;
    }
}

void cluster_deployment::begin_move(const std::string& key, std::size_t to)
{
    const std::size_t from = master_of(key);
    const std::string slot = std::to_string(slot_of(key));
    connect(to).done({"CLUSTER", "SETSLOT", slot, "IMPORTING", nodes_[from]->id});
    connect(from).done({"CLUSTER", "SETSLOT", slot, "MIGRATING", nodes_[to]->id});
}

void cluster_deployment::move_keys(const std::string& key, std::size_t to)
{
    resp_client source = connect_to(key);
    const std::string slot = std::to_string(slot_of(key));
    for (;;) {
        const auto keys = source.strings({"CLUSTER", "GETKEYSINSLOT", slot, "100"});
        if (keys.empty())
            return;
        resp_client::words command{"MIGRATE", "127.0.0.1", std::to_string(node(to).port()), "", "0",
                                   "5000",    "KEYS"};
        command.insert(command.end(), keys.begin(), keys.end());
        source.done(command);
    }
}

// If the next move starts before all nodes know of this one, two nodes may take the same epoch, and
// the cluster may disagree forever about the slot: two nodes redirect clients to each other.
void cluster_deployment::end_move(const std::string& key, std::size_t to)
{
    const std::size_t from = master_of(key);
    const std::uint16_t slot = slot_of(key);
    for (const std::size_t each : {to, from})
        connect(each).done({"CLUSTER", "SETSLOT", std::to_string(slot), "NODE", nodes_[to]->id});
    wait_until_known(slot, to, "the news of a slot's move");
}

void cluster_deployment::wait_until_known(std::uint16_t slot, std::size_t owner,
                                          const std::string& awaited)
{
    poll(
        [&] {
            const slot_claim own = claim_seen_by(owner, slot);
            for (std::size_t i = 0; i < size(); ++i) {
                if (node(i).running() && claim_seen_by(i, slot) != own)
                    return false;
            }
            return own.id == nodes_[owner]->id;
        },
        awaited);
}

void cluster_deployment::move(const std::string& key, std::size_t to)
{
    begin_move(key, to);
    move_keys(key, to);
    end_move(key, to);
}

void cluster_deployment::orphan_slot(const std::string& key)
{
    const std::string slot = std::to_string(slot_of(key));
    // First at the current node: a node that is notified of the slot later regards it as served
    // again.
    connect(master_of(key)).done({"CLUSTER", "DELSLOTS", slot});
    poll(
        [&] {
            bool all = true;
            for (std::size_t i = 0; i < size(); ++i) {
                resp_client client = connect(i);
                const bool known = !claim_seen_by(i, slot_of(key)).id.empty();
                if (known)
                    client.command({"CLUSTER", "DELSLOTS", slot});
                const std::string state = client.string({"CLUSTER", "INFO"});
                all = all && !known && state.find("cluster_state:fail") != state.npos;
            }
            return all;
        },
        "the fall of the cluster");
}

void cluster_deployment::adopt_slot(const std::string& key, std::size_t by)
{
    connect(by).done({"CLUSTER", "ADDSLOTS", std::to_string(slot_of(key))});
    wait_until_known(slot_of(key), by, "the news of a slot's return");
}

void cluster_deployment::clear()
{
    for (std::size_t i = 0; i < size(); ++i) {
        if (!node(i).running())
            continue;
        resp_client client = connect(i);
        if (client.command({"ROLE"}).items.at(0).text == "master")
            client.done({"FLUSHALL"});
    }
}

void cluster_deployment::wait_until_whole()
{
    for (std::size_t i = 0; i < size(); ++i) {
        poll(
            [&] {
                resp_client client = connect(i);
                const std::string state = client.string({"CLUSTER", "INFO"});
                const auto says = [&](const std::string& line) {
                    return state.find(line) != std::string::npos;
                };
                if (!says("cluster_state:ok") ||
                    !says("cluster_known_nodes:" + std::to_string(size())))
                    return false;
                const auto role = client.command({"ROLE"});
                if (role.items.at(0).text != "master")
                    return role.items.at(3).text == "connected";
                return !setup_.replicas || role.items.at(2).items.size() == 1;
            },
            "the forming of the cluster");
    }
}

// The nodes publish none of these changes, so they are polled.
void cluster_deployment::poll(const std::function<bool()>& reached,
                              const std::string& awaited) const
{
    poll_servers(reached, limit, [&] {
        std::string told = "cluster_deployment: " + awaited + " took too long";
        for (const auto& each : nodes_)
            told += "\n--- a node's log\n" + each->server->log();
        return told;
    });
}

} // namespace leasehold::test
