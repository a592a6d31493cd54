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

/// Findings of one server.
class judge
{
public:
    judge(const server_facts& facts, const config& where, milliseconds slow, findings& to)
        : facts_(facts), where_(where), slow_(slow), to_(to)
    {}

    void all()
    {
        version();
        if (is_sentinel())
            return; // what servers are asked for means nothing there
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

    bool is_one_of_a_quorum() const { return where_.store == config::kind::redlock; }

    std::string remedy_of_rights() const
    {
        return "ACL SETUSER " + facts_.user +
               ", with what the documentation lists for this kind of URL (\"Rights\").";
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
    const config& where_;
    milliseconds slow_;
    findings& to_;
};

void judge::unanswered()
{
    for (const auto& [command, words] : facts_.refused) {
        const bool unknown = words.find("unknown") != std::string::npos;
        if (command == "ACL DRYRUN" && unknown)
            add(level::note, "rights", "the server cannot say what a user may do (ACL DRYRUN)",
                "Only the trial lock has tested the rights.", "Redis 7.0 and Valkey can.");
        else if (command == "INFO")
            add(level::warning, "unanswered", command + " is refused: " + words,
                "Neither eviction, persistence, replicas nor the version have been looked at.",
                "Name a user that may, with --admin.");
        else
            add(level::note, "unanswered", command + " is refused: " + words,
                "What it would tell has not been looked at.",
                "Name a user that may, with --admin.");
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
            "Commands that locks need are missing.", "Use Redis 6.2 or newer, or Valkey.");
    else if (where_.store == config::kind::cluster && !facts_.is_valkey() &&
             !facts_.is_at_least(7, 0))
        add(level::warning, "version", "the server is " + name,
            "It has no sharded channels: those who wait are told of no release, and look by "
            "themselves.",
            "Use Redis 7.0 or newer, or Valkey, in a cluster.");
    if (facts_.mode() == "cluster" && where_.store != config::kind::cluster)
        add(level::problem, "version", "the server is part of a cluster",
            "The library refuses it behind this URL: most keys are elsewhere.",
            "Begin the URL with redis+cluster://.");
    if (is_sentinel())
        add(level::problem, "version", "the server is a Sentinel", "It keeps no keys.",
            "Begin the URL with redis+sentinel://, and name the master behind the address.");
}

void judge::role()
{
    if (facts_.info.empty() || facts_.is_master())
        return;
    add(level::problem, "role",
        "the server is a replica of " + std::string(facts_.value("master_host")) + ':' +
            std::string(facts_.value("master_port")),
        "It can be read only: no lock can be taken.",
        "Name the master; where the master may change, name the Sentinels or the cluster.");
}

void judge::eviction()
{
    const std::string policy(facts_.value("maxmemory_policy"));
    if (policy.empty() || policy == "noeviction")
        return;
    const bool is_limited = facts_.number("maxmemory").value_or(0) != 0;
    add(is_limited ? level::problem : level::warning, "eviction",
        "maxmemory-policy is " + policy + (is_limited ? "" : ", and there is no limit yet"),
        std::string("A lock's key, which has a time to live, may be removed while the lock is "
                    "held: then two hold it.") +
            (is_one_of_a_quorum() ? " A member that forgets so is not noticed." : ""),
        "CONFIG SET maxmemory-policy noeviction, and the same in the configuration file; keep a "
        "cache in a server of its own.");
}

void judge::memory()
{
    const std::int64_t most = facts_.number("maxmemory").value_or(0);
    const std::int64_t used = facts_.number("used_memory").value_or(0);
    if (most != 0 && used * 10 >= most * 9)
        add(level::warning, "memory",
            "the server uses " + std::to_string(used * 100 / most) + " % of its maxmemory",
            "When it is full it refuses to take locks; those that are held go on.",
            "Raise maxmemory, or move data that is no lock elsewhere.");
    if (facts_.value("loading") == "1")
        add(level::problem, "memory", "the server is loading its data", "It answers nothing else.",
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
            refuses_writes ? "The server refuses to write: no lock can be taken or renewed."
                           : "A restart forgets what came after the last good one.",
            "See the server's log: mostly the disk is full, or memory cannot be overcommitted.");
    if (facts_.value("aof_last_write_status") == "err")
        add(level::problem, "persistence", "the append-only file could not be written",
            "The server refuses to write: no lock can be taken or renewed.",
            "See the server's log: mostly the disk is full.");
    if (facts_.has_append_only_file()) {
        const std::string_view sync = facts_.setting("appendfsync");
        if (sync == "no" || sync == "everysec")
            add(level::note, "persistence", "appendfsync is " + std::string(sync),
                sync == "no" ? "When the machine fails, the last half minute is forgotten: a lock "
                               "of that time may be held by two until the first notices."
                             : "When the machine fails, the last second is forgotten: a lock of "
                               "that time may be held by two until the first notices.",
                "Where that must not be: appendfsync always, or redlock:// of independent "
                "servers.");
        return;
    }
    // Members of a quorum that forget are noticed, and grant nothing for a while.
    if (is_one_of_a_quorum()) {
        add(level::note, "persistence", "the server keeps no append-only file",
            "After a restart it grants nothing for the longest lease time that was ever asked for.",
            "With appendonly yes it is back sooner.");
        return;
    }
    // A master that is back before it is replaced empties its replicas, too.
    add(level::warning, "persistence",
        facts_.has_snapshots() ? "the server keeps snapshots only"
                               : "the server keeps nothing on disk",
        "A restart forgets the locks that are held: each may be held by two until its first "
        "holder notices, at its next renewal.",
        "appendonly yes; with appendfsync always nothing is forgotten.");
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
                "One that takes over has forgotten the last grants, and nothing notices: two may "
                "then hold a lock.",
                "Let members be independent masters, without failover.");
        return;
    }
    std::int64_t online = 0;
    for (const replica_facts& each : replicas) {
        online += each.online;
        if (!each.online)
            add(level::warning, "replication", "replica " + each.address + " does not follow",
                "One that takes over now has none of the present locks.", "See the replica's log.");
        else if (each.bytes_behind > 1'000'000)
            add(level::warning, "replication",
                "replica " + each.address + " is " + std::to_string(each.bytes_behind) +
                    " bytes behind",
                "One that takes over now does not know the last locks: each may be held by two "
                "until the first notices.",
                "Look at the network between the two, and at the replica's load.");
    }
    const auto wanted = facts_.setting("min-replicas-to-write");
    if (!wanted.empty() && wanted != "0" && std::to_string(online) != wanted &&
        std::atoll(std::string(wanted).c_str()) > online)
        add(level::problem, "replication",
            "min-replicas-to-write is " + std::string(wanted) + ", and " + std::to_string(online) +
                " follow(s)",
            "The server refuses to write: no lock can be taken or renewed.",
            "Bring replicas back, or lower it.");
    const bool fails_over = where_.store == config::kind::sentinel ||
                            where_.store == config::kind::cluster;
    if (fails_over && online == 0)
        add(level::warning, "replication", "the master has no replica",
            "Nothing takes over when it fails.", "Give it one, better two.");
    else if (fails_over)
        add(level::note, "replication",
            std::to_string(online) + " replica(s) follow, asynchronously",
            "A failover may forget the last locks, unless replicas confirm each.",
            "Where that must not be, set lock_options::replica_acks to " + std::to_string(online) +
                ".");
}

void judge::connections()
{
    const auto most = facts_.number("maxclients").value_or(0);
    const auto there = facts_.number("connected_clients").value_or(0);
    if (most != 0 && there * 10 >= most * 9)
        add(level::warning, "connections",
            std::to_string(there) + " of " + std::to_string(most) + " connections are in use",
            "A client that lost its connection may not get a new one, and loses its leases.",
            "Raise maxclients, and look who opens so many (CLIENT LIST).");
}

void judge::clock()
{
    for (std::size_t i = 1; i < facts_.clock.size(); ++i) {
        const clock_look& before = facts_.clock[i - 1];
        const clock_look& after = facts_.clock[i];
        // Asked somewhere between two moments, both times.
        const microseconds there = after.there - before.there;
        const microseconds least = after.asked - before.answered;
        const microseconds most = after.answered - before.asked;
        const milliseconds tolerated = std::max(milliseconds(5),
                                                duration_cast<milliseconds>(most / 100));
        const microseconds step = there < least - tolerated  ? there - least
                                  : there > most + tolerated ? there - most
                                                             : microseconds(0);
        if (step.count() == 0)
            continue;
        add(level::problem, "clock",
            "the server's clock stepped " + std::string(step.count() < 0 ? "back" : "ahead") +
                " by " + in_milliseconds(step) + " while it was looked at",
            step.count() < 0 ? "Locks live longer than their lease time; with lost data at the "
                               "same time a fence may be given out that is too small."
                             : "Locks expire before their holder's deadline: two may hold one.",
            "Let the clock be slewed, not stepped (chrony: makestep only at the start), and see "
            "who sets it.");
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
            "Each acquire and each release takes one, and so does each handover.",
            "Keep the server near those who lock.");
    const microseconds script = percentile(facts_.scripts, 50);
    if (!facts_.scripts.empty() && script > way + slow_ / 10)
        add(level::warning, "latency",
            "a script that does nothing takes " + in_milliseconds(script) + ", a PING " +
                in_milliseconds(way),
            "Contended locks are taken by scripts.",
            "See what else the server does: SLOWLOG GET, INFO commandstats.");
    if (slowest > slow_ * 10)
        add(level::warning, "latency",
            "one of " + std::to_string(facts_.pings.size() + facts_.scripts.size()) +
                " requests took " + in_milliseconds(slowest),
            "A server that stalls for as long as a lease loses it.",
            "See LATENCY DOCTOR and SLOWLOG GET; leases must be longer than such pauses.");
}

void judge::rights()
{
    if (!facts_.rights)
        return;
    std::string commands;
    std::string others; // keys and channels: each in the server's words
    for (const right& each : *facts_.rights) {
        if (each.refusal.empty())
            continue;
        const bool is_of_command = each.refusal.find("to run") != std::string::npos;
        const std::string words = is_of_command ? '+' + each.command
                                                : each.command + " (" + each.refusal + ')';
        if (!each.is_needed)
            add(level::warning, "rights", "the user '" + facts_.user + "' lacks " + words,
                "Without it " + each.without + ".", remedy_of_rights());
        else if (is_of_command)
            commands.append(" ").append(words);
        else
            others.append(others.empty() ? " " : ", ").append(words);
    }
    if (!commands.empty())
        add(level::problem, "rights", "the user '" + facts_.user + "' lacks" + commands,
            "Locks do not work without these commands.", remedy_of_rights());
    if (!others.empty())
        add(level::problem, "rights", "the user '" + facts_.user + "' may not do" + others,
            "The lock cannot be used without that key.", remedy_of_rights());
}

} // namespace

void judge_url(const config& where, findings& to)
{
    const auto add = [&to](level how_bad, std::string what, std::string why, std::string remedy) {
        to.push_back({how_bad, "url", {}, std::move(what), std::move(why), std::move(remedy)});
    };
    if (where.tls && !where.tls_verify)
        add(level::warning, "the server's certificate is not looked at (verify=none)",
            "Whoever is between can be the server, and grant any lock to anybody.",
            "Name the certificate of who signed it: ?ca=FILE.");
    const auto is_here = [](const config::address& at) {
        return at.host == "localhost" || at.host == "::1" || at.host.starts_with("127.");
    };
    const bool is_local = !where.unix_socket.empty() ||
                          std::all_of(where.addresses.begin(), where.addresses.end(), is_here);
    if (!where.tls && !is_local && where.store != config::kind::sentinel &&
        where.store != config::kind::redlock)
        add(level::note, "the connection is not encrypted",
            "Whoever is between reads the password, and can be the server.",
            "rediss:// or rediss+cluster://, or a network that nobody else is in.");
}

void judge_server(const server_facts& facts, const config& where, milliseconds slow, findings& to)
{
    judge(facts, where, slow, to).all();
}

void judge_clocks(const std::vector<server_facts>& all, findings& to)
{
    // How far each is from this machine's, at least and at most.
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
                  "Fences begin at a server's clock. After a failover to one that is behind, a "
                  "fence may be smaller than one that was lost.",
                  "Let all of them follow the same time servers (chronyc tracking)."});
}

} // namespace leasehold::tool::doctor
