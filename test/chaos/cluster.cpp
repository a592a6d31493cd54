#include "chaos/cluster.hpp"

#include <stdexcept>
#include <utility>

namespace leasehold::test::chaos {
namespace {

// Shorter than a lease, so that holders keep their locks when a replica takes over.
constexpr std::chrono::milliseconds node_timeout(2000);

} // namespace

cluster::cluster(std::vector<std::string> names)
    : names_(std::move(names)), servers_({.node_timeout = node_timeout})
{}

client_way cluster::way()
{
    client_way made;
    for (std::size_t i = 0; i < servers_.size(); ++i) {
        const std::string port = std::to_string(made.add(servers_.node(i).endpoint()));
        made.url += (i == 0 ? "redis+cluster://127.0.0.1:" : ",127.0.0.1:") + port;
        made.port_map += (i == 0 ? "" : ",") + std::to_string(servers_.node(i).port()) + '=' + port;
    }
    return made;
}

std::vector<fault_kind> cluster::faults()
{
    return {fault_kind::kill_master,     fault_kind::stop_master,  fault_kind::cut_master,
            fault_kind::switch_master,   fault_kind::kill_replica, fault_kind::stop_replica,
            fault_kind::move_slot,       fault_kind::orphan_slot,  fault_kind::flush_scripts,
            fault_kind::kill_connections};
}

void cluster::begin(const planned_fault& what, fault& noted)
{
    key_ = names_[what.detail % names_.size()];
    struck_ = servers_.master_of(key_);
    switch (what.kind) {
    case fault_kind::kill_master: servers_.node(struck_).kill(); break;
    case fault_kind::stop_master: servers_.node(struck_).pause(); break;
    case fault_kind::cut_master: cut_off(servers_.node(struck_)); break;
    case fault_kind::switch_master:
        servers_.switch_master(key_);
        servers_.wait_until_whole();
        break;
    case fault_kind::kill_replica:
        struck_ = servers_.other_of(struck_);
        servers_.node(struck_).kill();
        break;
    case fault_kind::stop_replica:
        struck_ = servers_.other_of(struck_);
        servers_.node(struck_).pause();
        break;
    case fault_kind::move_slot:
        next_ = servers_.master_besides(struck_, what.detail / names_.size() % 2);
        servers_.begin_move(key_, next_);
        noted.whom = "slot of " + key_;
        return;
    case fault_kind::orphan_slot:
        servers_.orphan_slot(key_);
        noted.whom = "slot of " + key_;
        return;
    case fault_kind::flush_scripts: return notify_all({"SCRIPT", "FLUSH"});
    case fault_kind::kill_connections:
        return notify_all({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
    default: break;
    }
    noted.whom = "server " + std::to_string(struck_);
}

// A master that returns before another has taken over is empty, and its replica would lose the
// locks too.
void cluster::end(const planned_fault& what, fault&)
{
    switch (what.kind) {
    case fault_kind::cut_master: servers_.node(struck_).kill(); [[fallthrough]];
    case fault_kind::kill_master:
        cut_off_.reset();
        servers_.wait_for_other_master(key_, struck_);
        servers_.node(struck_).start();
        break;
    case fault_kind::stop_master:
        if (what.detail / names_.size() % 2 == 0)
            servers_.wait_for_other_master(key_, struck_);
        servers_.node(struck_).resume();
        break;
    case fault_kind::kill_replica: servers_.node(struck_).start(); break;
    case fault_kind::stop_replica: servers_.node(struck_).resume(); break;
    case fault_kind::move_slot:
        servers_.move_keys(key_, next_);
        servers_.end_move(key_, next_);
        wait_for_replica();
        break;
    case fault_kind::orphan_slot: servers_.adopt_slot(key_, struck_); break;
    default: return;
    }
    servers_.wait_until_whole();
}

std::vector<std::string> cluster::left_over()
{
    std::vector<std::string> all;
    for (std::size_t i = 0; i < servers_.size(); ++i) {
        resp_client look = servers_.connect(i);
        if (look.command({"ROLE"}).items.at(0).text == "master")
            add_left_over(look, all);
        // Older servers have no sharded channels.
        for (const resp_value& channel : look.command({"PUBSUB", "SHARDCHANNELS"}).items)
            all.push_back("subscription to " + channel.text);
    }
    return all;
}

// The other masters still reach it, so it still serves connected clients. Its replica does not know
// their writes when it takes over.
void cluster::cut_off(redis_server& master)
{
    cut_off_ = std::make_unique<resp_client>(master.endpoint());
    cut_off_->done({"CONFIG", "SET", "maxclients", "1"});
    cut_off_->done({"CLIENT", "KILL", "TYPE", "replica"});
}

/// Keys that are moved with a slot are not confirmed. The new master is not killed before they are.
void cluster::wait_for_replica()
{
    resp_client master = servers_.connect(next_);
    master.done({"SET", "marker:{" + key_ + '}', "1", "PX", "1"});
    if (master.integer({"WAIT", "1", "10000"}) < 1)
        throw std::runtime_error("a replica does not follow");
}

void cluster::notify_all(const std::vector<std::string>& command)
{
    for (std::size_t i = 0; i < servers_.size(); ++i)
        servers_.connect(i).command(command);
}

} // namespace leasehold::test::chaos
