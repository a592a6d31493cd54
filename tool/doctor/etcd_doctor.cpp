#include "etcd_doctor.hpp"

#include "../failures.hpp"
#include "etcd_judge.hpp"
#include "trial.hpp"

#include "base/connection_config.hpp"

#include <leasehold/etcd.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::tool::doctor {
namespace {

using std::chrono::milliseconds;

std::string advice_on_etcd(std::string_view why)
{
    const auto says = [&](auto... any) { return ((why.find(any) != why.npos) || ...); };
    if (says("certificate is for another host"))
        return "Use a host in the URL that the certificate names, or issue a certificate for this "
               "host.";
    if (says("certificate is not trusted"))
        return "Pass the file of the authority that issued it: ca=FILE in the URL.";
    if (says("does not answer in TLS"))
        return "Check if this port expects TLS. Without tls=on it is not used.";
    if (says("password_file"))
        return "Make the file readable, and write the password into it.";
    if (says("authentication is not enabled"))
        return "Remove the user from the URL, or enable the users of the cluster.";
    if (says("authentication failed", "user name is empty"))
        return "Correct the user and the password in the URL.";
    if (says("permission denied"))
        return "Grant the role of the user the right to read and write the keys below the root of "
               "the URL: etcdctl role grant-permission ROLE readwrite ROOT/ --prefix.";
    if (says("host not found"))
        return "Correct the host in the URL, or the name service.";
    return "Check if the server runs and has a leader, and if the network lets connections pass.";
}

server_summary shown_etcd(const etcd_facts& one)
{
    server_summary made;
    made.name = one.name;
    made.product = "etcd";
    made.version = one.version;
    made.role = one.leads ? "leader" : "follower";
    made.more = {"database of " + std::to_string(one.database / 1024) + " KiB"};
    made.pings = one.pings;
    return made;
}

void try_etcd_lock(etcd_config where, const std::string& key, findings& to)
{
    where.client_info = false; // leaves nothing on the server
    const std::size_t before = to.size();
    try_lock(make_etcd_store(where), key, to);
    if (to.size() > before && to.back().what.find("permission denied") != std::string::npos)
        to.back().remedy = advice_on_etcd("permission denied");
}

} // namespace

report examine_etcd(const etcd_config& where, const etcd_config& admin, milliseconds slow,
                    const std::string& key)
{
    report made;
    std::vector<etcd_facts> all;
    for (const etcd_config::address& each : admin.addresses) {
        const std::string name = detail::host_and_port(each.host, each.port);
        const auto cannot_be_asked = [&](const std::string& why) {
            made.found.push_back({level::warning, "reachable", name, why,
                                  "Clients cannot use this server.", advice_on_etcd(why)});
        };
        etcd_config one = admin;
        one.addresses = {each};
        try {
            all.push_back(ask_etcd(one));
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
    judge_etcd(all, where, slow, made.found);
    for (const etcd_facts& each : all)
        made.servers.push_back(shown_etcd(each));
    try_etcd_lock(where, key, made.found);
    return made;
}

} // namespace leasehold::tool::doctor
