#include "redis/connection/boost_redis_parts.hpp"

namespace leasehold::redis_store {

error_code make_error(boost::redis::error which)
{
    return which;
}

boost::redis::request make_ping(std::string_view text)
{
    boost::redis::request made;
    made.push("PING", text);
    return made;
}

} // namespace leasehold::redis_store
