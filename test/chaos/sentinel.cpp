#include "chaos/sentinel.hpp"

namespace leasehold::test::chaos {

client_way sentinel::way()
{
    using servers = sentinel_deployment;
    client_way made;
    std::vector<fault_proxy::translation> known;
    const auto add = [&](const stream_endpoint& server, std::uint16_t port) {
        known.push_back({port, made.add(server)});
        return std::to_string(known.back().to);
    };
    for (std::size_t i = 0; i < servers::server_count; ++i)
        add(servers_.server(i).endpoint(), servers_.server(i).port());
    for (std::size_t i = 0; i < servers::sentinel_count; ++i)
        made.url += (i == 0 ? "redis+sentinel://127.0.0.1:" : ",127.0.0.1:") +
                    add(loopback_endpoint(servers_.sentinel_port(i)), servers_.sentinel_port(i));
    made.url += '/' + servers::name();
    for (std::size_t i = servers::server_count; i < made.proxies.size(); ++i)
        made.proxies[i]->translate(known);
    return made;
}

std::vector<fault_kind> sentinel::faults()
{
    return {fault_kind::kill_master,   fault_kind::stop_master,      fault_kind::cut_master,
            fault_kind::switch_master, fault_kind::kill_replica,     fault_kind::stop_replica,
            fault_kind::kill_sentinel, fault_kind::kill_connections, fault_kind::flush_scripts};
}

std::size_t sentinel::replica(std::uint64_t detail) const
{
    constexpr auto count = sentinel_deployment::server_count;
    return (servers_.master_index() + 1 + detail % (count - 1)) % count;
}

void sentinel::begin(const planned_fault& what, fault& noted)
{
    struck_ = servers_.master_index();
    switch (what.kind) {
    case fault_kind::kill_master: servers_.kill_master(); break;
    case fault_kind::stop_master: servers_.pause_master(); break;
    case fault_kind::cut_master: servers_.isolate_master(); break;
    case fault_kind::switch_master:
        servers_.switch_master();
        servers_.wait_until_whole();
        break;
    case fault_kind::kill_replica:
        struck_ = replica(what.detail);
        servers_.server(struck_).kill();
        break;
    case fault_kind::stop_replica:
        struck_ = replica(what.detail);
        servers_.server(struck_).pause();
        break;
    case fault_kind::kill_sentinel:
        struck_ = what.detail % sentinel_deployment::sentinel_count;
        servers_.kill_sentinel(struck_);
        noted.whom = "Sentinel " + std::to_string(struck_);
        return;
    case fault_kind::kill_connections:
        servers_.master().connect().done({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
        break;
    case fault_kind::flush_scripts: servers_.master().connect().done({"SCRIPT", "FLUSH"}); break;
    default: break;
    }
    noted.whom = "server " + std::to_string(struck_);
}

// A master that returns before another has taken over is empty, and its replicas would lose their
// data too.
void sentinel::end(const planned_fault& what, fault&)
{
    redis_server& server = servers_.server(struck_);
    switch (what.kind) {
    case fault_kind::kill_master:
        servers_.wait_for_new_master();
        server.start();
        break;
    case fault_kind::stop_master:
        if (what.detail % 2 == 0)
            servers_.wait_for_new_master();
        server.resume();
        break;
    case fault_kind::cut_master:
        servers_.wait_for_new_master();
        servers_.end_isolation();
        break;
    case fault_kind::kill_replica: server.start(); break;
    case fault_kind::stop_replica: server.resume(); break;
    case fault_kind::kill_sentinel: servers_.start_sentinel(struck_); break;
    default: return;
    }
    servers_.wait_until_whole();
}

std::vector<std::string> sentinel::left_over()
{
    std::vector<std::string> all;
    resp_client look = servers_.master().connect();
    add_left_over(look, all);
    return all;
}

} // namespace leasehold::test::chaos
