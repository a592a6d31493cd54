#include "judge.hpp"

#include "../percentile.hpp"
#include "../values.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

namespace leasehold::tool::doctor {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

std::string in_milliseconds(microseconds time)
{
    const std::string digits = std::to_string(std::abs(time.count()) % 1'000);
    std::string text = std::to_string(std::abs(time.count()) / 1'000) + '.' +
                       std::string(3 - digits.size(), '0') + digits;
    text.resize(text.size() - 2);
    return text + " ms";
}

/// Makes the findings of one server.
class judge
{
public:
    judge(const server_facts& facts, const redis_config& where, milliseconds slow, findings& to)
        : facts_(facts), where_(where), slow_(slow), to_(to)
    {}

    void all()
    {
        version();
        if (is_sentinel())
            return; // the other facts have no meaning for a Sentinel
        unanswered();
        role();
        eviction();
        memory();
        persistence();
        replication();
        connections();
        clock();
        latency();
        rights();
    }

private:
    void add(level how_bad, std::string check, std::string what, std::string why,
             std::string remedy)
    {
        to_.push_back({how_bad, std::move(check), facts_.name, std::move(what), std::move(why),
                       std::move(remedy)});
    }

    bool is_sentinel() const { return facts_.mode() == "sentinel"; }

    bool is_one_of_a_quorum() const { return where_.kind == redis_config::deployment::quorum; }

    std::string remedy_of_rights() const
    {
        return "ACL SETUSER " + facts_.user +
               ", with the rights that the documentation lists for this kind of URL (\"Rights\").";
    }

    void unanswered();
    void version();
    void role();
    void eviction();
    void memory();
    void persistence();
    void replication();
    void connections();
    void clock();
    void latency();
    void rights();

    const server_facts& facts_;
    const redis_config& where_;
    milliseconds slow_;
    findings& to_;
};

void judge::unanswered()
{
    for (const auto& [command, words] : facts_.refused) {
        const bool unknown = words.find("unknown") != std::string::npos;
        if (command == "ACL DRYRUN" && unknown)
            add(level::note, "rights", "the server cannot report a user's rights (ACL DRYRUN)",
                "Only the trial lock has tested the rights.", "Use Redis 7.0 or newer, or Valkey.");
        else if (command == "INFO")
            add(level::warning, "unanswered", command + " is rejected: " + words,
                "Eviction, persistence, replicas and the version were not checked.",
                "Pass a user with this right in --admin.");
        else
            add(level::note, "unanswered", command + " is rejected: " + words,
                "The facts that this command returns were not checked.",
                "Pass a user with this right in --admin.");
    }
}

void judge::version()
{
    if (facts_.info.empty())
        return;
    const std::string name = (facts_.is_valkey() ? "Valkey " : "Redis ") +
                             std::string(facts_.version());
    if (!facts_.is_valkey() && !facts_.is_at_least(6, 2))
        add(level::problem, "version", "the server is " + name,
            "It lacks commands that locks need.", "Use Redis 6.2 or newer, or Valkey.");
    else if (where_.kind == redis_config::deployment::cluster && !facts_.is_valkey() &&
             !facts_.is_at_least(7, 0))
        add(level::warning, "version", "the server is " + name,
            "It has no sharded channels: a release does not notify the waiters, and they poll.",
            "Use Redis 7.0 or newer, or Valkey, in a cluster.");
    if (facts_.mode() == "cluster" && where_.kind != redis_config::deployment::cluster)
        add(level::problem, "version", "the server is part of a cluster",
            "The library rejects it for this URL, because other nodes have most keys.",
            "Begin the URL with redis+cluster://.");
    if (is_sentinel())
        add(level::problem, "version", "the server is a Sentinel", "It keeps no keys.",
            "Begin the URL with redis+sentinel://, and append the name of the master.");
}

void judge::role()
{
    if (facts_.info.empty() || facts_.is_master())
        return;
    add(level::problem, "role",
        "the server is a replica of " + std::string(facts_.value("master_host")) + ':' +
            std::string(facts_.value("master_port")),
        "It is read-only: no lock can be acquired.",
        "Use the URL of the master, or of the Sentinels or the cluster if the master may change.");
}

void judge::eviction()
{
    const std::string policy(facts_.value("maxmemory_policy"));
    if (policy.empty() || policy == "noeviction")
        return;
    const bool is_limited = facts_.number("maxmemory").value_or(0) != 0;
    add(is_limited ? level::problem : level::warning, "eviction",
        "maxmemory-policy is " + policy + (is_limited ? "" : ", and there is no limit yet"),
        std::string("The server may evict the key of a held lock, because the key has a TTL. Then "
                    "two owners hold it.") +
            (is_one_of_a_quorum() ? " The quorum does not notice such a loss." : ""),
        "Use CONFIG SET maxmemory-policy noeviction, and the same in the configuration file. Use "
        "a separate server for a cache.");
}

void judge::memory()
{
    const std::int64_t most = facts_.number("maxmemory").value_or(0);
    const std::int64_t used = facts_.number("used_memory").value_or(0);
    if (most != 0 && used * 10 >= most * 9)
        add(level::warning, "memory",
            "the server uses " + std::to_string(used * 100 / most) + " % of its maxmemory",
            "If it is full, it rejects new locks. Held locks are still renewed.",
            "Raise maxmemory, or move other data to another server.");
    if (facts_.value("loading") == "1")
        add(level::problem, "memory", "the server is loading its data", "It rejects most commands.",
            "Wait.");
}

void judge::persistence()
{
    if (facts_.info.empty())
        return;
    const bool refuses_writes = facts_.setting("stop-writes-on-bgsave-error") != "no";
    if (facts_.value("rdb_last_bgsave_status") == "err" && facts_.has_snapshots())
        add(refuses_writes ? level::problem : level::warning, "persistence",
            "the last snapshot failed",
            refuses_writes ? "The server rejects writes: no lock can be acquired or renewed."
                           : "A restart loses all changes after the last good one.",
            "See the server's log. Often the disk is full, or memory cannot be overcommitted.");
    if (facts_.value("aof_last_write_status") == "err")
        add(level::problem, "persistence", "the append-only file could not be written",
            "The server rejects writes: no lock can be acquired or renewed.",
            "See the server's log. Often the disk is full.");
    if (facts_.has_append_only_file()) {
        const std::string_view sync = facts_.setting("appendfsync");
        if (sync == "no" || sync == "everysec")
            add(level::note, "persistence", "appendfsync is " + std::string(sync),
                sync == "no" ? "If the machine fails, the last half minute is lost: two owners may "
                               "hold a lock of that time until the first one's next renewal."
                             : "If the machine fails, the last second is lost: two owners may hold "
                               "a lock of that time until the first one's next renewal.",
                "If this must not happen, use appendfsync always, or redlock:// with independent "
                "servers.");
        return;
    }
    // The quorum notices a member that has lost its data, and the member grants nothing for a
    // while.
    if (is_one_of_a_quorum()) {
        add(level::note, "persistence", "the server keeps no append-only file",
            "After a restart it grants no lock for the longest lease time ever requested.",
            "With appendonly yes, it grants locks sooner.");
        return;
    }
    // A master that restarts before it is replaced also empties its replicas.
    add(level::warning, "persistence",
        facts_.has_snapshots() ? "the server keeps snapshots only"
                               : "the server keeps nothing on disk",
        "A restart loses the held locks: two owners may hold each one until the next renewal "
        "of its first holder.",
        "Use appendonly yes. With appendfsync always, nothing is lost.");
}

void judge::replication()
{
    if (!facts_.is_master())
        return;
    const auto replicas = facts_.replicas();
    if (is_one_of_a_quorum()) {
        if (!replicas.empty())
            add(level::warning, "replication",
                "the member has " + std::to_string(replicas.size()) + " replica(s)",
                "A replica that takes over lacks the last grants, which the quorum does not "
                "notice: two owners may hold a lock.",
                "Use independent masters without failover as members.");
        return;
    }
    std::int64_t online = 0;
    for (const replica_facts& each : replicas) {
        online += each.online;
        if (!each.online)
            add(level::warning, "replication", "replica " + each.address + " does not follow",
                "If it takes over now, it has none of the present locks.",
                "See the replica's log.");
        else if (each.bytes_behind > 1'000'000)
            add(level::warning, "replication",
                "replica " + each.address + " is " + std::to_string(each.bytes_behind) +
                    " bytes behind",
                "If it takes over now, it lacks the last locks: two owners may hold each one "
                "until the first one's next renewal.",
                "Check the network between the two, and the load of the replica.");
    }
    const std::int64_t wanted = facts_.setting_number("min-replicas-to-write");
    if (wanted > online)
        add(level::problem, "replication",
            "min-replicas-to-write is " + std::to_string(wanted) + ", and " +
                std::to_string(online) + " follow(s)",
            "The server rejects writes: no lock can be acquired or renewed.",
            "Restart replicas, or lower the setting.");
    const bool fails_over = where_.kind == redis_config::deployment::sentinel ||
                            where_.kind == redis_config::deployment::cluster;
    if (fails_over && online == 0)
        add(level::warning, "replication", "the master has no replica",
            "If it fails, no server takes over.", "Add one replica, or better two.");
    else if (fails_over)
        add(level::note, "replication",
            std::to_string(online) + " replica(s) follow, asynchronously",
            "A failover may lose the last locks, unless replicas confirm each one.",
            "If this must not happen, set lock_options::replica_acks to " + std::to_string(online) +
                ".");
}

void judge::connections()
{
    const auto most = facts_.number("maxclients").value_or(0);
    const auto there = facts_.number("connected_clients").value_or(0);
    if (most != 0 && there * 10 >= most * 9)
        add(level::warning, "connections",
            std::to_string(there) + " of " + std::to_string(most) + " connections are in use",
            "A client that lost its connection may get no new one, and then loses its leases.",
            "Raise maxclients, and find the clients with many connections (CLIENT LIST).");
    // A client checks a connection without data after `health_check`, and closes it after the same
    // time without a reply.
    const milliseconds idle = std::chrono::seconds(facts_.setting_number("timeout"));
    if (idle.count() > 0 && idle <= 2 * where_.health_check)
        add(level::warning, "connections",
            "timeout is " + std::to_string(idle.count() / 1000) +
                ": the server closes connections that are idle for this number of seconds",
            "An idle client sends a PING only every " + in_milliseconds(where_.health_check) +
                ". It loses its connection, and its next acquire takes longer.",
            "Use CONFIG SET timeout 0, or set health_check to less than half of it in the URL.");
}

void judge::clock()
{
    for (std::size_t i = 1; i < facts_.clock.size(); ++i) {
        const clock_reading& before = facts_.clock[i - 1];
        const clock_reading& after = facts_.clock[i];
        // The server read its clock between two known moments, both times.
        const microseconds there = after.there - before.there;
        const microseconds least = after.sent - before.answered;
        const microseconds most = after.answered - before.sent;
        const milliseconds tolerated = std::max(milliseconds(5),
                                                duration_cast<milliseconds>(most / 100));
        const microseconds step = there < least - tolerated  ? there - least
                                  : there > most + tolerated ? there - most
                                                             : microseconds(0);
        if (step.count() == 0)
            continue;
        add(level::problem, "clock",
            "the server's clock stepped " + std::string(step.count() < 0 ? "back" : "ahead") +
                " by " + in_milliseconds(step) + " between two readings",
            step.count() < 0
                ? "Locks expire later than their lease time. If data is lost at the "
                  "same time, a fencing token may be too small."
                : "Locks expire before the holder's deadline: two owners may hold one.",
            "Slew the clock instead of stepping it (chrony: makestep only at the start), and find "
            "the program that sets it.");
    }
}

void judge::latency()
{
    if (facts_.pings.empty())
        return;
    const microseconds way = percentile(facts_.pings, 50);
    const microseconds slowest = std::max(percentile(facts_.pings, 100),
                                          percentile(facts_.scripts, 100));
    if (way > slow_)
        add(level::warning, "latency", "a round trip takes " + in_milliseconds(way),
            "Each acquire, each release and each handoff takes one round trip.",
            "Run the server near its clients.");
    const microseconds script = percentile(facts_.scripts, 50);
    if (!facts_.scripts.empty() && script > way + slow_ / 10)
        add(level::warning, "latency",
            "a script that does nothing takes " + in_milliseconds(script) + ", a PING " +
                in_milliseconds(way),
            "Scripts acquire contended locks.",
            "Find the other load of the server: SLOWLOG GET, INFO commandstats.");
    if (slowest > slow_ * 10)
        add(level::warning, "latency",
            "one of " + std::to_string(facts_.pings.size() + facts_.scripts.size()) +
                " requests took " + in_milliseconds(slowest),
            "If the server stalls for as long as a lease, the lease is lost.",
            "See LATENCY DOCTOR and SLOWLOG GET. Leases must be longer than such pauses.");
}

void judge::rights()
{
    if (!facts_.rights)
        return;
    std::string commands;
    std::string others; // keys and channels, each with the server's reply
    for (const right& each : *facts_.rights) {
        if (each.refusal.empty())
            continue;
        const bool is_of_command = each.refusal.find("to run") != std::string::npos;
        const std::string words = is_of_command ? '+' + each.command
                                                : each.command + " (" + each.refusal + ')';
        if (!each.is_needed)
            add(level::warning, "rights", "the user '" + facts_.user + "' lacks " + words,
                "Without this right, " + each.without + ".", remedy_of_rights());
        else if (is_of_command)
            commands.append(" ").append(words);
        else
            others.append(others.empty() ? " " : ", ").append(words);
    }
    if (!commands.empty())
        add(level::problem, "rights", "the user '" + facts_.user + "' lacks" + commands,
            "Locks need these commands.", remedy_of_rights());
    if (!others.empty())
        add(level::problem, "rights", "the user '" + facts_.user + "' may not use" + others,
            "The lock needs this key or channel.", remedy_of_rights());
}

} // namespace

void judge_url(const redis_config& where, findings& to)
{
    const auto add = [&to](level how_bad, std::string what, std::string why, std::string remedy) {
        to.push_back({how_bad, "url", {}, std::move(what), std::move(why), std::move(remedy)});
    };
    if (where.tls && !where.tls_verify)
        add(level::warning, "the server's certificate is not verified (verify=none)",
            "An attacker on the network can act as the server and grant any lock.",
            "Pass the certificate of the authority that signed it: ?ca=FILE.");
    const auto is_here = [](const redis_config::address& at) {
        return at.host == "localhost" || at.host == "::1" || at.host.starts_with("127.");
    };
    const bool is_local = !where.unix_socket.empty() ||
                          std::all_of(where.addresses.begin(), where.addresses.end(), is_here);
    if (!where.tls && !is_local)
        add(level::note, "the connection is not encrypted",
            "An attacker on the network can read the password and act as the server.",
            "Use a scheme with TLS, such as rediss://, or a private network.");
}

void judge_server(const server_facts& facts, const redis_config& where, milliseconds slow,
                  findings& to)
{
    judge(facts, where, slow, to).all();
}

void judge_clocks(const std::vector<server_facts>& all, findings& to)
{
    // The difference to the clock of this machine, at least and at most.
    const server_facts* behind = nullptr;
    const server_facts* ahead = nullptr;
    const auto least = [](const server_facts& of) {
        return of.clock.front().there - of.clock.front().after;
    };
    const auto most = [](const server_facts& of) {
        return of.clock.front().there - of.clock.front().before;
    };
    for (const server_facts& each : all) {
        if (each.clock.empty())
            continue;
        if (behind == nullptr || most(each) < most(*behind))
            behind = &each;
        if (ahead == nullptr || least(each) > least(*ahead))
            ahead = &each;
    }
    if (behind == nullptr || least(*ahead) - most(*behind) < milliseconds(500))
        return;
    to.push_back({level::warning,
                  "clock",
                  {},
                  "the clock of " + ahead->name + " is " +
                      in_milliseconds(least(*ahead) - most(*behind)) + " ahead of that of " +
                      behind->name,
                  "Fencing tokens start at a server's clock. After a failover to a server that is "
                  "behind, a token may be smaller than a lost one.",
                  "Use the same time servers for all of them (chronyc tracking)."});
}

} // namespace leasehold::tool::doctor
