#include "deployment.hpp"

#include "../server/server_connection.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>

namespace leasehold::tool::doctor {
namespace {

void add(findings& to, level how_bad, std::string check, std::string server, std::string what,
         std::string why, std::string remedy)
{
    to.push_back({how_bad, std::move(check), std::move(server), std::move(what), std::move(why),
                  std::move(remedy)});
}

std::string text_of(const resp_value& map, std::string_view key)
{
    const resp_value* const found = map.find(key);
    return found == nullptr ? std::string() : found->text;
}

std::int64_t number_of(const resp_value& map, std::string_view key)
{
    const resp_value* const found = map.find(key);
    return found == nullptr ? 0 : found->to_number().value_or(0);
}

/// Checks a Sentinel's view of the master. Returns the master's address, or an empty text.
std::string inspect_sentinel(server_connection& sentinel, const std::string& master, findings& to)
{
    const std::string& name = sentinel.name();
    const resp_value view = sentinel.ask({"SENTINEL", "MASTER", master});
    if (view.is_error()) {
        add(to, level::problem, "sentinel", name,
            "it does not report '" + master + "': " + view.text,
            "Clients that query this Sentinel find no master.",
            "Use SENTINEL MONITOR, or grant the user SENTINEL MASTER.");
        return {};
    }
    const std::string flags = text_of(view, "flags");
    if (flags.find("down") != std::string::npos)
        add(to, level::problem, "sentinel", name, "it reports the master as down (" + flags + ')',
            "No lock can be acquired until a replica takes over.", "See the master's log.");
    const std::int64_t sentinels = number_of(view, "num-other-sentinels") + 1;
    const std::int64_t quorum = number_of(view, "quorum");
    if (sentinels < 3)
        add(to, level::warning, "sentinel", name,
            "it knows " + std::to_string(sentinels) + " Sentinel(s), including itself",
            "With fewer than three Sentinels, no majority is left if one fails: no failover.",
            "Run three or five Sentinels on separate machines.");
    if (quorum * 2 <= sentinels)
        add(to, level::warning, "sentinel", name,
            "its quorum is " + std::to_string(quorum) + " of " + std::to_string(sentinels),
            "A disconnected minority may consider the master down. A failover still needs a "
            "majority.",
            "SENTINEL SET " + master + " quorum " + std::to_string(sentinels / 2 + 1));
    const resp_value vote = sentinel.ask({"SENTINEL", "CKQUORUM", master});
    if (vote.is_error())
        add(to, level::problem, "sentinel", name, "there is no quorum now: " + vote.text,
            "If the master fails, no replica takes over.", "Restart the missing Sentinels.");
    const resp_value replicas = sentinel.ask({"SENTINEL", "REPLICAS", master});
    for (const resp_value& each : replicas.items) {
        const std::string state = text_of(each, "flags");
        if (state.find("down") != std::string::npos || state.find("disconnected") != state.npos)
            add(to, level::warning, "sentinel", name,
                "replica " + text_of(each, "name") + " is reported as down (" + state + ')',
                "It cannot take over.", "Restart it, or use SENTINEL RESET " + master + '.');
    }
    return text_of(view, "ip") + ':' + text_of(view, "port");
}

struct node
{
    std::string address;
    std::string flags;
    std::string master; ///< "-": the node is a master.
    bool is_connected = false;
    bool has_slots = false;
};

/// Reads the reply of CLUSTER NODES, by node id.
std::map<std::string, node> read_nodes(const std::string& text)
{
    std::map<std::string, node> all;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string id;
        std::string link;
        std::string skipped;
        node found;
        words >> id >> found.address >> found.flags >> found.master >> skipped >> skipped >>
            skipped >> link;
        found.is_connected = link == "connected";
        found.has_slots = static_cast<bool>(words >> skipped);
        found.address = found.address.substr(0, found.address.find('@'));
        if (!link.empty())
            all.emplace(id, std::move(found));
    }
    return all;
}

bool has_failed(const node& of)
{
    return of.flags.find("fail") != std::string::npos &&
           of.flags.find("nofailover") == of.flags.npos;
}

void judge_nodes(const std::map<std::string, node>& all, const std::string& reporter, findings& to)
{
    std::map<std::string, int> replicas;
    for (const auto& [id, each] : all) {
        if (each.master != "-" && !has_failed(each))
            ++replicas[each.master];
    }
    std::size_t masters = 0;
    for (const auto& [id, each] : all) {
        const bool serves = each.master == "-" && each.has_slots;
        masters += serves;
        if (has_failed(each))
            add(to, serves ? level::problem : level::warning, "cluster", each.address,
                "the node is down (" + each.flags + "), reports " + reporter,
                serves ? "The locks of its slots cannot be acquired or renewed."
                       : "It cannot take over.",
                "See the node's log. Use CLUSTER FORGET for a node that was removed.");
        else if (serves && replicas[id] == 0)
            add(to, level::warning, "cluster", each.address, "the master has no replica",
                "If it fails, the locks of its slots cannot be acquired until it is back.",
                "Add a replica: redis-cli --cluster add-node --cluster-slave.");
    }
    if (masters < 3)
        add(to, level::warning, "cluster", {},
            std::to_string(masters) + " master(s) serve slots, reports " + reporter,
            "A replica takes over only if a majority of the masters agrees.",
            "Use three masters or more.");
}

} // namespace

void inspect_sentinels(boost::asio::io_context& context, const redis_config& where, findings& to)
{
    std::map<std::string, std::string> masters;
    for (const redis_config::address& at : where.addresses) {
        try {
            server_connection sentinel(context, sentinel_settings_of(where), at);
            const std::string master = inspect_sentinel(sentinel, where.master, to);
            if (!master.empty())
                masters.emplace(master, sentinel.name());
        }
        catch (const unreachable& failed) {
            add(to, level::warning, "sentinel", name_of(at), failed.what(),
                "One Sentinel fewer can report the master, and vote for a failover.",
                "Restart it, or remove it from the URL.");
        }
        catch (const refused& failed) {
            add(to, level::warning, "sentinel", name_of(at), failed.what(),
                "Clients cannot query this Sentinel.",
                "Check sentinel_user and sentinel_password in the URL.");
        }
    }
    if (masters.size() < 2)
        return;
    std::string all;
    for (const auto& [master, sentinel] : masters)
        all.append(all.empty() ? "" : ", ").append(sentinel).append(" reports ").append(master);
    add(to, level::problem, "sentinel", {}, "the Sentinels report different masters: " + all,
        "Clients use different servers, so two owners may hold one lock.",
        "If a failover is in progress, wait. Otherwise check the network of the Sentinels.");
}

void inspect_cluster(boost::asio::io_context& context, const redis_config& where, findings& to)
{
    bool is_reported = false;
    for (const redis_config::address& at : where.addresses) {
        try {
            server_connection server(context, settings_of(where), at);
            if (std::exchange(is_reported, true))
                continue;
            const auto is_answered = [&](const char* question, const resp_value& answer) {
                if (answer.is_error())
                    add(to, level::note, "unanswered", server.name(),
                        std::string(question) + " is rejected: " + answer.text,
                        "The state of the cluster was not checked.",
                        "Pass a user with this right in --admin.");
                return !answer.is_error();
            };
            const resp_value info = server.ask({"CLUSTER", "INFO"});
            if (is_answered("CLUSTER INFO", info) &&
                info.text.find("cluster_state:ok") == std::string::npos)
                add(to, level::problem, "cluster", server.name(), "the cluster's state is not ok",
                    "Some or all locks cannot be acquired or renewed.",
                    "Use redis-cli --cluster check to find slots that no node serves.");
            const resp_value nodes = server.ask({"CLUSTER", "NODES"});
            if (is_answered("CLUSTER NODES", nodes))
                judge_nodes(read_nodes(nodes.text), server.name(), to);
        }
        catch (const unreachable& failed) {
            add(to, level::warning, "cluster", name_of(at), failed.what(),
                "A client that starts with this node must query another one.",
                "Restart it, or remove it from the URL.");
        }
    }
}

void judge_quorum(const std::vector<server_facts>& all, const redis_config& where, findings& to)
{
    const std::size_t members = where.addresses.size();
    const std::size_t needed = where.quorum != 0 ? where.quorum : members / 2 + 1;
    if (all.size() < needed)
        add(to, level::problem, "quorum", {},
            std::to_string(all.size()) + " of " + std::to_string(members) +
                " members can be reached, but " + std::to_string(needed) + " are needed",
            "No lock can be acquired.", "Restart the members, one after the other.");
    else if (all.size() == needed && all.size() < members)
        add(to, level::warning, "quorum", {},
            "only as many members as needed can be reached: " + std::to_string(needed),
            "If one more fails, no lock can be acquired.", "Restart the other members.");
    std::map<std::string, std::string, std::less<>> by_run;
    for (const server_facts& each : all) {
        const std::string run(each.value("run_id"));
        if (run.empty())
            continue;
        const auto [known, is_new] = by_run.emplace(run, each.name);
        if (!is_new)
            add(to, level::problem, "quorum", {},
                known->second + " and " + each.name + " are the same server",
                "It has two votes, so two owners may hold one lock, and its failure counts twice.",
                "Use independent servers.");
    }
}

} // namespace leasehold::tool::doctor
