#include "redis/make_store.hpp"

#include "redis/cluster/cluster_store.hpp"
#include "redis/pipeline/owned_transport.hpp"
#include "redis/pipeline/shared_transport.hpp"
#include "redis/prefixed_store.hpp"
#include "redis/redlock/quorum_store.hpp"
#include "redis/redlock/redis_member.hpp"
#include "redis/server/server_store.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace leasehold::redis_store {
namespace {

std::shared_ptr<store> make_quorum(const redis_config& settings,
                                   const std::shared_ptr<environment>& from)
{
    std::vector<std::unique_ptr<quorum::member>> members;
    for (const redis_config::address& each : settings.addresses) {
        redis_config alone = settings;
        alone.kind = redis_config::deployment::server;
        alone.addresses = {each};
        members.push_back(quorum::make_redis_member(alone, from));
    }
    const auto n = static_cast<unsigned>(members.size());
    return quorum::make_store(
        std::move(members), settings.quorum != 0 ? settings.quorum : n / 2 + 1, from->make_time());
}

/// Makes a store whose names are keys.
std::shared_ptr<store> make_key_store(const redis_config& settings,
                                      std::shared_ptr<environment> from)
{
    if (settings.kind == redis_config::deployment::quorum)
        return make_quorum(settings, from);
    if (settings.kind == redis_config::deployment::cluster)
        return cluster::make_cluster_store(settings, std::move(from));
    return make_server_store(make_owned_transport(settings, from), settings, false, settings, from);
}

} // namespace

std::shared_ptr<store> make_store(const redis_config& settings, std::shared_ptr<environment> from)
{
    return with_prefix(settings.prefix, make_key_store(settings, std::move(from)));
}

std::shared_ptr<store> make_store(std::shared_ptr<request_channel> connection,
                                  const asio::any_io_executor& executor, const redis_config& limits,
                                  bool wakeups, std::shared_ptr<environment> from)
{
    auto way = make_shared_transport(std::move(connection), executor, limits, from->make_time());
    return with_prefix(limits.prefix,
                       make_server_store(std::move(way), limits, true,
                                         wakeups ? std::optional(limits) : std::nullopt, from));
}

} // namespace leasehold::redis_store
