#include "chaos/redlock.hpp"

#include "support/poll_servers.hpp"

#include <chrono>

namespace leasehold::test::chaos {

client_way redlock::way()
{
    client_way made;
    for (std::size_t i = 0; i < members; ++i)
        made.url += (made.url.empty() ? "redlock://127.0.0.1:" : ",127.0.0.1:") +
                    std::to_string(made.add(loopback_endpoint(servers_[i].port())));
    return made;
}

std::vector<fault_kind> redlock::faults()
{
    return {fault_kind::kill_member, fault_kind::stop_member, fault_kind::empty_member,
            fault_kind::kill_connections, fault_kind::flush_scripts};
}

void redlock::begin(const planned_fault& what, fault& noted)
{
    struck_ = what.detail % members;
    noted.whom = "server " + std::to_string(struck_);
    switch (what.kind) {
    case fault_kind::kill_member: return servers_[struck_].kill();
    case fault_kind::stop_member: return servers_[struck_].pause();
    case fault_kind::empty_member:
        servers_[struck_].connect().done({"FLUSHALL"});
        return wait_until_all_are_members();
    case fault_kind::kill_connections:
        return servers_.command({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
    case fault_kind::flush_scripts: return servers_.command({"SCRIPT", "FLUSH"});
    default: return;
    }
}

// A quorum of three loses data if two members lose their data at once, or if one does while another
// cannot be reached.
void redlock::end(const planned_fault& what, fault&)
{
    switch (what.kind) {
    case fault_kind::kill_member: servers_[struck_].start(); break;
    case fault_kind::stop_member: servers_[struck_].resume(); break;
    default: break;
    }
    wait_until_all_are_members();
}

std::vector<std::string> redlock::left_over()
{
    std::vector<std::string> all;
    for (std::size_t i = 0; i < members; ++i) {
        resp_client look = servers_[i].connect();
        for (const std::string& key : look.strings({"KEYS", "*"}))
            if (key != "leasehold:quorum" && !key.starts_with("leasehold:quorum:fence:") &&
                // Expires by itself, minutes after the last request of its client.
                !(key.starts_with("leasehold:client:") && look.integer({"PTTL", key}) > 0))
                all.push_back("key " + key);
        for (const std::string& channel : look.channels())
            all.push_back("subscription to " + channel);
    }
    return all;
}

// Clients make a server a member as soon as some of them reach the other members.
void redlock::wait_until_all_are_members()
{
    const auto all = [&] {
        for (std::size_t i = 0; i < members; ++i)
            if (!servers_.is_member(i))
                return false;
        return true;
    };
    poll_servers(all, std::chrono::seconds(60),
                 [] { return std::string("a server did not become a member again"); });
}

} // namespace leasehold::test::chaos
