#include "etcd_doctor.hpp"

#include "ensemble.hpp"
#include "etcd_judge.hpp"

#include <leasehold/etcd.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace leasehold::tool::doctor {
namespace {

using std::chrono::milliseconds;

std::string advice_on_etcd(std::string_view why)
{
    const auto says = [&](auto... any) { return ((why.find(any) != why.npos) || ...); };
    if (says("authentication is not enabled"))
        return "Remove the user from the URL, or enable the users of the cluster.";
    if (says("authentication failed", "user name is empty"))
        return "Correct the user and the password in the URL.";
    if (says("permission denied"))
        return "Grant the role of the user the right to read and write the keys below the root of "
               "the URL: etcdctl role grant-permission ROLE readwrite ROOT/ --prefix.";
    return advice_on_connection(why,
                                "Check if this port expects TLS. Without tls=on it is not used.");
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

} // namespace

report examine_etcd(const etcd_config& where, const etcd_config& admin, milliseconds slow,
                    const std::string& key)
{
    report made;
    const auto all = ask_each<etcd_facts>(admin, ask_etcd, &advice_on_etcd, made.found);
    if (all.empty())
        return made;
    judge_etcd(all, where, slow, made.found);
    for (const etcd_facts& each : all)
        made.servers.push_back(shown_etcd(each));
    etcd_config trial = where;
    trial.client_info = false; // leaves nothing on the server
    try_lock_in(make_etcd_store(trial), key, "permission denied", &advice_on_etcd, made.found);
    return made;
}

} // namespace leasehold::tool::doctor
