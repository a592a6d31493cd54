#include "zookeeper_judge.hpp"

#include "../percentile.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

namespace leasehold::tool::doctor {
namespace {

using std::chrono::milliseconds;

constexpr char no_majority_left[] =
    "If a server fails, no lock can be acquired or renewed, and the held locks are lost.";

std::string in_ms(milliseconds time)
{
    return std::to_string(time.count()) + " ms";
}

class zookeeper_judge
{
public:
    zookeeper_judge(const zookeeper_config& where, findings& to) : where_(where), to_(to) {}

    void ensemble(const std::vector<zookeeper_facts>& all)
    {
        alone(all);
        const auto known = std::find_if(all.begin(), all.end(),
                                        [](const auto& each) { return each.voters.has_value(); });
        if (known == all.end())
            return by_the_url();
        by_its_configuration(*known->voters);
        for (const zookeeper_facts::quota& each : known->quotas)
            quota(each);
    }

    void server(const zookeeper_facts& one, milliseconds slow)
    {
        server_ = one.name;
        session(one.granted);
        tick(one);
        if (const auto median = percentile(one.pings, 50); median > slow)
            add(level::warning, "latency",
                "the median of " + std::to_string(one.pings.size()) + " round trips is " +
                    std::to_string(median.count() / 1'000) + " ms",
                "Each acquire and each renewal takes round trips to the leader.",
                "Move the programs closer to the servers, or find what slows them down.");
        if (one.version.empty())
            add(level::note, "details", "the server does not answer srvr, or the URL has tls=on",
                "Its version and its role are not known.", "Send srvr to the port without TLS.");
    }

private:
    void add(level how_bad, const char* check, std::string what, std::string why,
             std::string remedy)
    {
        to_.push_back(
            {how_bad, check, server_, std::move(what), std::move(why), std::move(remedy)});
    }

    /// Servers that are no ensemble.
    void alone(const std::vector<zookeeper_facts>& all)
    {
        std::string names;
        std::size_t count = 0;
        for (const zookeeper_facts& each : all) {
            const bool none = each.role == "standalone" || (each.voters && each.voters->empty());
            if (!none)
                continue;
            ++count;
            names.append(names.empty() ? "" : ", ").append(each.name);
        }
        if (count > 0 && all.size() > 1)
            add(level::problem, "ensemble", "no part of an ensemble: " + names,
                "Each of these servers keeps locks of its own. Two owners may hold one lock.",
                "Use a URL with the servers of one ensemble.");
    }

    void by_the_url()
    {
        add(level::note, "ensemble", "the user may not read /zookeeper/config, or a node of quotas",
            "The members of the ensemble and its quotas are not known.",
            "Pass --admin with a user that may read these nodes.");
        if (where_.addresses.size() == 1)
            add(level::warning, "servers", "the URL names one server",
                "If it fails, no lock can be acquired or renewed.",
                "Name all servers of the ensemble in the URL.");
    }

    void by_its_configuration(const std::vector<std::string>& voters)
    {
        const std::size_t count = std::max<std::size_t>(1, voters.size());
        if (count < 3)
            add(level::warning, "servers",
                count == 1 ? "the server is no part of an ensemble" : "two servers vote",
                no_majority_left, "Use three servers.");
        if (const std::size_t named = where_.addresses.size(); named < voters.size()) {
            std::string names;
            for (const std::string& each : voters)
                names.append(names.empty() ? "" : ", ").append(each);
            add(level::warning, "url",
                "the URL names " + std::to_string(named) + " of " + std::to_string(count) +
                    " servers; all are: " + names,
                "A client that loses the named servers does not find the others.",
                "Name all servers of the ensemble in the URL.");
        }
    }

    void quota(const zookeeper_facts::quota& of)
    {
        const bool near = of.used * 10 >= of.most * 9;
        add(near ? level::warning : level::note, "quota",
            of.node + " has a quota of " + std::to_string(of.most) + ' ' + of.unit + ", and " +
                std::to_string(of.used) + " are in use",
            "Each lock needs a node, and each owner and each waiter another one. Above the quota "
            "no lock can be acquired if the servers enforce quotas.",
            near ? "Increase the quota: setquota in zkCli." : "None, while this is enough.");
    }

    void session(milliseconds granted)
    {
        const std::string what = "the server grants a session timeout of " + in_ms(granted) +
                                 "; the URL requests " + in_ms(where_.session);
        const std::string in_url = "Use session=" + std::to_string(granted.count()) +
                                   " in the URL, or ";
        if (granted < 4 * where_.tick)
            add(level::problem, "session", what,
                "A session of fewer than four ticks leaves no time for a lease.",
                "Increase maxSessionTimeout of the servers, or reduce their tickTime.");
        else if (granted < where_.session)
            add(level::warning, "session", what, "Leases end after a shorter outage.",
                in_url + "increase maxSessionTimeout of the servers.");
        else if (granted > where_.session)
            add(level::warning, "session", what,
                "The locks of a killed process stay held for this time.",
                in_url + "reduce minSessionTimeout of the servers.");
    }

    void tick(const zookeeper_facts& one)
    {
        constexpr char why[] = "If tick is shorter than the tickTime of the servers, two owners "
                               "may hold one lock.";
        if (one.tick) {
            if (*one.tick > where_.tick)
                add(level::problem, "tick",
                    "tickTime is " + in_ms(*one.tick) + "; the URL has " + in_ms(where_.tick), why,
                    "Use tick=" + std::to_string(one.tick->count()) + " in the URL.");
        }
        else if (one.shortest && *one.shortest > 2 * where_.tick &&
                 *one.shortest > milliseconds(100)) {
            const milliseconds usual = *one.shortest / 2;
            add(level::warning, "tick",
                "the shortest session is " + in_ms(*one.shortest) +
                    ", by default two ticks; the URL has a tick of " + in_ms(where_.tick),
                why,
                "Use tick=" + std::to_string(usual.count()) +
                    " in the URL, unless minSessionTimeout of the servers is set.");
        }
    }

    const zookeeper_config& where_;
    findings& to_;
    std::string server_; ///< Empty: all servers together.
};

} // namespace

void judge_zookeeper(const std::vector<zookeeper_facts>& all, const zookeeper_config& where,
                     milliseconds slow, findings& to)
{
    zookeeper_judge(where, to).ensemble(all);
    for (const zookeeper_facts& each : all)
        zookeeper_judge(where, to).server(each, slow);
}

} // namespace leasehold::tool::doctor
