#include "lock_admin.hpp"

#include "redis/redis_admin.hpp"
#include "url_option.hpp"

namespace leasehold::tool {

std::unique_ptr<lock_admin> make_admin(boost::asio::io_context& context, const std::string& url)
{
    return make_redis_admin(context, read_url(url));
}

} // namespace leasehold::tool
