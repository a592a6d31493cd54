#include "lock_admin.hpp"

#ifdef LEASEHOLD_HAS_ETCD
#include "etcd/etcd_admin.hpp"
#endif
#include "redis/redis_admin.hpp"
#include "sql/database_url.hpp"
#include "sql/sql_admin.hpp"
#include "url_option.hpp"
#ifdef LEASEHOLD_HAS_ZOOKEEPER
#include "zookeeper/zookeeper_admin.hpp"
#endif

namespace leasehold::tool {

std::unique_ptr<lock_admin> make_admin(boost::asio::io_context& context, const std::string& url)
{
    if (const auto place = database_of(url))
        return make_sql_admin(context, place->kind, place->how);
#ifdef LEASEHOLD_HAS_ZOOKEEPER
    if (is_zookeeper(url))
        return make_zookeeper_admin(context, zookeeper_config(url));
#endif
#ifdef LEASEHOLD_HAS_ETCD
    if (is_etcd(url))
        return make_etcd_admin(context, etcd_config(url));
#endif
    return make_redis_admin(context, read_url(url));
}

} // namespace leasehold::tool
