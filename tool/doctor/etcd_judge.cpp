#include "etcd_judge.hpp"

#include "../percentile.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <string>
#include <utility>

namespace leasehold::tool::doctor {
namespace {

using std::chrono::milliseconds;

/// Of a version: 3, 4, 31.
using numbers = std::array<int, 3>;

numbers numbers_of(const std::string& text)
{
    numbers read{};
    const char* at = text.data();
    const char* const end = at + text.size();
    for (int& each : read) {
        const auto [next, failed] = std::from_chars(at, end, each);
        if (failed != std::errc() || next == end)
            break;
        at = next + 1;
    }
    return read;
}

class etcd_judge
{
public:
    etcd_judge(const etcd_config& where, findings& to) : where_(where), to_(to) {}

    void cluster(const std::vector<etcd_facts>& all)
    {
        const bool one = std::all_of(all.begin(), all.end(), [&](const etcd_facts& each) {
            return each.cluster == all.front().cluster;
        });
        if (!one) {
            add(level::problem, "cluster", "the servers are of different clusters",
                "Each cluster keeps locks of its own. Two owners may hold one lock.",
                "Use a URL with the members of one cluster.");
            return;
        }
        const auto& members = all.front().members;
        if (members.size() < 3)
            add(level::warning, "servers",
                members.size() == 1 ? "the cluster has one member" : "the cluster has two members",
                "If a server fails, no lock can be acquired or renewed, and the held locks are "
                "lost.",
                "Use three servers.");
        if (where_.addresses.size() < members.size()) {
            std::string names;
            for (const std::string& each : members)
                names.append(names.empty() ? "" : ", ").append(each);
            add(level::warning, "url",
                "the URL names " + std::to_string(where_.addresses.size()) + " of " +
                    std::to_string(members.size()) + " members; all are: " + names,
                "A client that loses the named servers does not find the others.",
                "Name all members of the cluster in the URL.");
        }
        alarms(all.front());
    }

    void server(const etcd_facts& one, milliseconds slow)
    {
        server_ = one.name;
        const numbers is = numbers_of(one.version);
        const bool revokes_late = is < numbers{3, 4, 31} ||
                                  (is >= numbers{3, 5, 0} && is < numbers{3, 5, 13});
        if (revokes_late)
            add(level::warning, "version", "etcd " + one.version + " has the issue 15247",
                "A leader that was stuck may revoke leases that were renewed at the new leader. "
                "Then two owners may hold one lock, until the next renewal of the first one.",
                "Use etcd 3.4.31, 3.5.13 or newer, and send the fencing token with each write.");
        if (one.granted > std::chrono::ceil<std::chrono::seconds>(where_.session))
            add(level::warning, "session",
                "the server grants a TTL of " + std::to_string(one.granted.count()) +
                    " s; the URL requests " + std::to_string(where_.session.count()) + " ms",
                "The locks of a killed process stay held for this time.",
                "Reduce the election timeout of the servers, or increase session= in the URL.");
        if (const auto median = percentile(one.pings, 50); median > slow)
            add(level::warning, "latency",
                "the median of " + std::to_string(one.pings.size()) + " round trips is " +
                    std::to_string(median.count() / 1'000) + " ms",
                "Each acquire and each renewal takes round trips to a majority.",
                "Move the programs closer to the servers, or find what slows them down.");
    }

private:
    void add(level how_bad, const char* check, std::string what, std::string why,
             std::string remedy)
    {
        to_.push_back(
            {how_bad, check, server_, std::move(what), std::move(why), std::move(remedy)});
    }

    void alarms(const etcd_facts& one)
    {
        if (!one.alarms)
            add(level::note, "alarms", "the user may not read the alarms of the cluster",
                "A full database is not noticed here.", "Pass --admin with the user root.");
        else if (!one.alarms->empty())
            add(level::problem, "alarms", "the cluster has the alarm " + one.alarms->front(),
                "The servers reject every write, so no lock can be acquired.",
                "Compact and defragment the database, then use etcdctl alarm disarm.");
    }

    const etcd_config& where_;
    findings& to_;
    std::string server_; ///< Empty: all servers together.
};

} // namespace

void judge_etcd(const std::vector<etcd_facts>& all, const etcd_config& where, milliseconds slow,
                findings& to)
{
    etcd_judge(where, to).cluster(all);
    for (const etcd_facts& each : all)
        etcd_judge(where, to).server(each, slow);
}

} // namespace leasehold::tool::doctor
