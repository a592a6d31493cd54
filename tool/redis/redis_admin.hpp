#ifndef LEASEHOLD_TOOL_REDIS_REDIS_ADMIN_HPP
#define LEASEHOLD_TOOL_REDIS_REDIS_ADMIN_HPP

#include "locks/lock_admin.hpp"

#include <leasehold/redis_config.hpp>

namespace leasehold::tool {

/// The locks of Redis servers, in all layouts.
[[nodiscard]] std::unique_ptr<lock_admin> make_redis_admin(boost::asio::io_context& context,
                                                           const redis_config& where);

} // namespace leasehold::tool

#endif
