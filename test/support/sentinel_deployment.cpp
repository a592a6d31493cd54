#include "support/sentinel_deployment.hpp"

#include "support/poll_servers.hpp"

#include <fstream>
#include <stdexcept>
#include <utility>

namespace leasehold::test {
namespace {

std::string field(const resp_value& pairs, std::string_view name)
{
    for (std::size_t i = 0; i + 1 < pairs.items.size(); i += 2)
        if (pairs.items[i].text == name)
            return pairs.items[i + 1].text;
    return {};
}

} // namespace

struct sentinel_deployment::sentinel
{
    explicit sentinel(std::uint16_t master_port)
    {
        std::ofstream(directory.file("sentinel.conf"))
            << "port " << port.number() << "\nbind 127.0.0.1\ndir " << directory.path().string()
            << "\nlogfile " << directory.file("log") << "\nsentinel monitor " << name()
            << " 127.0.0.1 " << master_port << " 2\nsentinel down-after-milliseconds " << name()
            << " 400\nsentinel failover-timeout " << name() << " 2000\nsentinel parallel-syncs "
            << name() << " 2\n";
        start();
    }

    /// A Sentinel keeps its state in its file.
    void start()
    {
        process = child(
            {.command = {"redis-server", directory.file("sentinel.conf"), "--sentinel"}});
    }

    resp_client connect() const
    {
        return resp_client(loopback_endpoint(port.number()), std::chrono::seconds(2));
    }

    std::string log() const { return text_of(directory.file("log")); }

    bool knows_all()
    {
        if (!process.running())
            throw std::runtime_error("a sentinel ended at start:\n" + log());
        resp_client client = connect();
        // Sentinels search for each other every two seconds, and for replicas every ten. Redis 7
        // allows shorter periods.
        client.command({"SENTINEL", "DEBUG", "publish-period", "100", "info-period", "500"});
        const resp_value state = client.command({"SENTINEL", "MASTER", name()});
        return field(state, "flags") == "master" &&
               field(state, "num-slaves") == std::to_string(server_count - 1) &&
               field(state, "num-other-sentinels") == std::to_string(sentinel_count - 1) &&
               !client.command({"SENTINEL", "CKQUORUM", name()}).is_error();
    }

    temporary_directory directory;
    reserved_port port;
    child process;
};

sentinel_deployment::sentinel_deployment(std::vector<std::string> server_options)
{
    for (std::size_t i = 0; i < server_count; ++i) {
        std::vector<std::string> options{"--repl-diskless-sync-delay", "0",
                                         "--repl-ping-replica-period", "1"};
        if (i > 0)
            options.insert(options.end(),
                           {"--replicaof", "127.0.0.1", std::to_string(servers_.front()->port())});
        options.insert(options.end(), server_options.begin(), server_options.end());
        servers_.push_back(
            std::make_unique<redis_server>(std::move(options), redis_setup{.tcp = true}));
    }
    for (std::size_t i = 1; i < server_count; ++i)
        poll(
            [&] {
                return server(i).connect().info("replication").at("master_link_status") == "up";
            },
            "the first copy of a replica");
    for (std::size_t i = 0; i < sentinel_count; ++i)
        sentinels_.push_back(std::make_unique<sentinel>(server(0).port()));
    for (const auto& each : sentinels_)
        poll([&] { return each->knows_all(); }, "finding the others");
}

sentinel_deployment::~sentinel_deployment() = default;

std::string sentinel_deployment::url() const
{
    std::string hosts;
    for (const auto& each : sentinels_)
        hosts.append(hosts.empty() ? "127.0.0.1:" : ",127.0.0.1:")
            .append(std::to_string(each->port.number()));
    return "redis+sentinel://" + hosts + '/' + name();
}

resp_client sentinel_deployment::connect_to_sentinel(std::size_t index) const
{
    return sentinels_.at(index)->connect();
}

std::uint16_t sentinel_deployment::sentinel_port(std::size_t index) const
{
    return sentinels_.at(index)->port.number();
}

void sentinel_deployment::isolate_master()
{
    isolated_ = std::make_unique<resp_client>(master().endpoint());
    resp_client& client = *isolated_;
    // This rejects only new connections.
    client.done({"CONFIG", "SET", "maxclients", "1"});
    client.done({"CLIENT", "KILL", "TYPE", "replica"});
    const std::string all = client.string({"CLIENT", "LIST"});
    for (std::size_t at = 0; at < all.size();) {
        const std::size_t end = all.find('\n', at);
        const std::string line = all.substr(at, end - at);
        if (const std::size_t id = line.find("id=");
            id == 0 && line.find(" name=sentinel-") != std::string::npos)
            client.command({"CLIENT", "KILL", "ID", line.substr(3, line.find(' ') - 3)});
        at = end == std::string::npos ? all.size() : end + 1;
    }
}

void sentinel_deployment::end_isolation()
{
    isolated_->done({"CONFIG", "SET", "maxclients", "10000"});
    isolated_.reset();
}

void sentinel_deployment::switch_master()
{
    const auto switched = [&] {
        if (finds_new_master())
            return true;
        // Sentinel gives up a failover if no replica answers in time. The requester has to repeat
        // it.
        resp_client first = connect_to_sentinel(0);
        const resp_value state = first.command({"SENTINEL", "MASTER", name()});
        if (field(state, "port") == std::to_string(master().port()) &&
            field(state, "flags").find("failover_in_progress") == std::string::npos)
            first.command({"SENTINEL", "FAILOVER", name()});
        return false;
    };
    poll(switched, "the switch");
}

void sentinel_deployment::wait_for_new_master()
{
    poll([&] { return finds_new_master(); }, "the failover");
}

bool sentinel_deployment::finds_new_master()
{
    const std::string old = std::to_string(master().port());
    std::string agreed;
    for (const auto& each : sentinels_) {
        if (!each->process.running())
            continue;
        const std::string port =
            each->connect().strings({"SENTINEL", "GET-MASTER-ADDR-BY-NAME", name()}).at(1);
        if (port == old || (!agreed.empty() && agreed != port))
            return false;
        agreed = port;
    }
    for (std::size_t i = 0; i < server_count; ++i) {
        if (std::to_string(server(i).port()) == agreed &&
            server(i).connect().command({"ROLE"}).items.at(0).text == "master") {
            master_ = i;
            return true;
        }
    }
    return false;
}

// The servers publish none of these changes, so they are polled.
void sentinel_deployment::poll(const std::function<bool()>& reached,
                               const std::string& awaited) const
{
    poll_servers(reached, limit, [&] {
        std::string told = "sentinel_deployment: " + awaited + " took too long";
        for (const auto& each : sentinels_)
            told += "\n--- a Sentinel's log\n" + each->log();
        return told;
    });
}

void sentinel_deployment::kill_sentinel(std::size_t index)
{
    sentinels_.at(index)->process.kill();
}

void sentinel_deployment::pause_sentinel(std::size_t index)
{
    sentinels_.at(index)->process.pause();
}

void sentinel_deployment::resume_sentinel(std::size_t index)
{
    sentinels_.at(index)->process.resume();
}

void sentinel_deployment::start_sentinel(std::size_t index)
{
    sentinels_.at(index)->start();
}

void sentinel_deployment::wait_until_whole()
{
    poll([&] { return is_whole(); }, "the return of all servers");
}

bool sentinel_deployment::is_whole()
{
    std::string agreed;
    for (const auto& each : sentinels_) {
        if (!each->knows_all())
            return false;
        const std::string port =
            each->connect().strings({"SENTINEL", "GET-MASTER-ADDR-BY-NAME", name()}).at(1);
        if (!agreed.empty() && agreed != port)
            return false;
        agreed = port;
    }
    std::size_t found = server_count;
    for (std::size_t i = 0; i < server_count; ++i) {
        auto state = server(i).connect().info("replication");
        if (std::to_string(server(i).port()) == agreed) {
            if (state["role"] != "master")
                return false;
            for (std::size_t j = 0; j + 1 < server_count; ++j)
                if (state["slave" + std::to_string(j)].find("state=online") == std::string::npos)
                    return false;
            found = i;
        }
        else if (state["master_port"] != agreed || state["master_link_status"] != "up") {
            return false;
        }
    }
    if (found != server_count)
        master_ = found;
    return found != server_count;
}

} // namespace leasehold::test
