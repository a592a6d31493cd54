#include "zookeeper_doctor.hpp"

#include "../failures.hpp"
#include "trial.hpp"
#include "zookeeper_judge.hpp"

#include "base/connection_config.hpp"

#include <leasehold/zookeeper.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::tool::doctor {
namespace {

using std::chrono::milliseconds;

std::string advice_on_zookeeper(std::string_view why)
{
    const auto says = [&](auto... any) { return ((why.find(any) != why.npos) || ...); };
    if (says("certificate for another host", "certificate is for another host"))
        return "Use a host in the URL that the certificate names, or issue a certificate for this "
               "host.";
    if (says("certificate is not trusted"))
        return "Pass the file of the authority that issued it: ca=FILE in the URL.";
    if (says("rejects the client's certificate"))
        return "Pass a certificate that the server trusts: cert=FILE and key=FILE in the URL.";
    if (says("does not answer in TLS"))
        return "Check if this port is the secureClientPort.";
    if (says("password_file"))
        return "Make the file readable, and write the password into it.";
    if (says("AuthFailed", "requires a login"))
        return "Correct the user in the URL, or the authentication that the servers enforce. Only "
               "the scheme digest is supported.";
    if (says("NoAuth"))
        return "Grant the user all rights on the root node: setAcl -R in zkCli.";
    if (says("host not found"))
        return "Correct the host in the URL, or the name service.";
    return "Check if the server runs and has a leader, and if the network lets connections pass.";
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

void try_zookeeper_lock(zookeeper_config where, const std::string& key, findings& to)
{
    where.client_info = false; // leaves nothing on the server
    const std::size_t before = to.size();
    try_lock(make_zookeeper_store(where), key, to);
    if (to.size() > before && to.back().what.find("NoAuth") != std::string::npos)
        to.back().remedy = advice_on_zookeeper("NoAuth");
}

} // namespace

report examine_zookeeper(const zookeeper_config& where, const zookeeper_config& admin,
                         milliseconds slow, const std::string& key)
{
    report made;
    std::vector<zookeeper_facts> all;
    for (const zookeeper_config::address& each : admin.addresses) {
        const std::string name = detail::host_and_port(each.host, each.port);
        const auto cannot_be_asked = [&](const std::string& why) {
            made.found.push_back({level::warning, "reachable", name, why,
                                  "Clients cannot use this server.", advice_on_zookeeper(why)});
        };
        zookeeper_config one = admin;
        one.addresses = {each};
        try {
            all.push_back(ask_zookeeper(one, where));
        }
        catch (const unreachable& failed) {
            cannot_be_asked(failed.what());
        }
        catch (const refused& failed) {
            cannot_be_asked(failed.what());
        }
    }
    if (all.empty()) {
        for (finding& each : made.found)
            each.how_bad = level::problem;
        return made;
    }
    judge_zookeeper(all, where, slow, made.found);
    for (const zookeeper_facts& each : all)
        made.servers.push_back(shown(each));
    try_zookeeper_lock(where, key, made.found);
    return made;
}

} // namespace leasehold::tool::doctor
