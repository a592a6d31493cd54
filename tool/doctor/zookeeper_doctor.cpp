#include "zookeeper_doctor.hpp"

#include "ensemble.hpp"
#include "zookeeper_judge.hpp"

#include <leasehold/zookeeper.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace leasehold::tool::doctor {
namespace {

using std::chrono::milliseconds;

std::string advice_on_zookeeper(std::string_view why)
{
    const auto says = [&](auto... any) { return ((why.find(any) != why.npos) || ...); };
    if (says("AuthFailed", "requires a login"))
        return "Correct the user in the URL, or the authentication that the servers enforce. Only "
               "the scheme digest is supported.";
    if (says("NoAuth"))
        return "Grant the user all rights on the root node: setAcl -R in zkCli.";
    return advice_on_connection(why, "Check if this port is the secureClientPort.");
}

server_summary shown(const zookeeper_facts& one)
{
    server_summary made;
    made.name = one.name;
    made.product = "ZooKeeper";
    made.version = one.version;
    made.role = one.role;
    made.more = {"session of " + std::to_string(one.granted.count()) + " ms"};
    made.pings = one.pings;
    return made;
}

} // namespace

report examine_zookeeper(const zookeeper_config& where, const zookeeper_config& admin,
                         milliseconds slow, const std::string& key)
{
    report made;
    const auto all = ask_each<zookeeper_facts>(
        admin, [&](const zookeeper_config& one) { return ask_zookeeper(one, where); },
        &advice_on_zookeeper, made.found);
    if (all.empty())
        return made;
    judge_zookeeper(all, where, slow, made.found);
    for (const zookeeper_facts& each : all)
        made.servers.push_back(shown(each));
    zookeeper_config trial = where;
    trial.client_info = false; // leaves nothing on the server
    try_lock_in(make_zookeeper_store(trial), key, "NoAuth", &advice_on_zookeeper, made.found);
    return made;
}

} // namespace leasehold::tool::doctor
