#include "lock_admin.hpp"

#ifdef LEASEHOLD_HAS_POSTGRES
#include "postgres/postgres_admin.hpp"
#endif
#include "redis/redis_admin.hpp"
#include "url_option.hpp"

namespace leasehold::tool {

std::unique_ptr<lock_admin> make_admin(boost::asio::io_context& context, const std::string& url)
{
#ifdef LEASEHOLD_HAS_POSTGRES
    if (is_postgres(url))
        return make_postgres_admin(context, postgres_config(url));
#endif
    return make_redis_admin(context, read_url(url));
}

} // namespace leasehold::tool
