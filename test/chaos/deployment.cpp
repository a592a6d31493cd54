#include "chaos/deployment.hpp"

#include "chaos/cluster.hpp"
#include "chaos/one_server.hpp"
#include "chaos/redlock.hpp"
#include "chaos/sentinel.hpp"

#ifdef LEASEHOLD_HAS_ETCD
#include "chaos/etcd.hpp"
#endif
#ifdef LEASEHOLD_HAS_MYSQL
#include "chaos/mysql.hpp"
#endif
#ifdef LEASEHOLD_HAS_POSTGRES
#include "chaos/postgres.hpp"
#endif
#ifdef LEASEHOLD_HAS_ZOOKEEPER
#include "chaos/zookeeper.hpp"
#endif

namespace leasehold::test::chaos {
namespace {

using namespace std::chrono_literals;
using names_t = std::vector<std::string>;

template <persistence How>
std::unique_ptr<deployment> start_server(const names_t& names)
{
    return std::make_unique<one_server>(How, names);
}

std::unique_ptr<deployment> start_sentinel(const names_t&)
{
    return std::make_unique<sentinel>();
}

std::unique_ptr<deployment> start_cluster(const names_t& names)
{
    return std::make_unique<cluster>(names);
}

std::unique_ptr<deployment> start_redlock(const names_t&)
{
    return std::make_unique<redlock>();
}

} // namespace

// With servers that replace each other, a lease lasts longer than a failover.
const std::vector<deployment_kind>& deployment_kinds()
{
    static const std::vector<deployment_kind> all = {
        {"server", "none", "no persistence", 500ms, 30s, 0, start_server<persistence::none>},
        {"server", "always", "AOF always", 500ms, 30s, 0, start_server<persistence::always>},
        {"server", "everysec", "AOF everysec", 500ms, 30s, 0, start_server<persistence::everysec>},
        {"sentinel", "all", "2 of 2 confirm", 4s, 60s, 2, start_sentinel},
        {"cluster", "all", "1 of 1 confirms", 4s, 60s, 1, start_cluster},
        {"redlock", "five", "3 of 5 grant", 1s, 30s, 0, start_redlock},
#ifdef LEASEHOLD_HAS_POSTGRES
        {"postgres", "one", "PostgreSQL", 1s, 30s, 0, start_postgres},
        {"postgres", "pair", "with a standby", 4s, 60s, 0, start_postgres_pair},
#endif
#ifdef LEASEHOLD_HAS_MYSQL
        {"mysql", "one", "MySQL or MariaDB", 1s, 30s, 0, start_mysql},
#endif
#ifdef LEASEHOLD_HAS_ZOOKEEPER
        {"zookeeper", "three", "ZooKeeper", 2s, 60s, 0, start_zookeeper},
#endif
#ifdef LEASEHOLD_HAS_ETCD
        {"etcd", "three", "etcd", 3s, 60s, 0, start_etcd},
#endif
    };
    return all;
}

std::vector<deployment_kind> deployments_of(std::string_view topology)
{
    std::vector<deployment_kind> found;
    for (const deployment_kind& each : deployment_kinds())
        if (each.topology == topology)
            found.push_back(each);
    return found;
}

void add_left_over(resp_client& server, std::vector<std::string>& to)
{
    for (const std::string& key : server.strings({"KEYS", "*"}))
        if (!key.starts_with("redisson_lock_token:") && !key.starts_with("leasehold:fence") &&
            !key.starts_with("leasehold:client:") &&
            // Expires by itself, minutes after the end of its client.
            !key.starts_with("leasehold:alive:") &&
            !((key.starts_with("leasehold:line:") || key.starts_with("leasehold:waiters:")) &&
              server.integer({"PTTL", key}) > 0))
            to.push_back("key " + key);
    for (const std::string& channel : server.channels())
        if (channel != "__sentinel__:hello")
            to.push_back("subscription to " + channel);
}

} // namespace leasehold::test::chaos
