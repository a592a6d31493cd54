#ifndef LEASEHOLD_TOOL_ZOOKEEPER_ZOOKEEPER_ADMIN_HPP
#define LEASEHOLD_TOOL_ZOOKEEPER_ZOOKEEPER_ADMIN_HPP

#include "locks/lock_admin.hpp"

#include <leasehold/zookeeper_config.hpp>

namespace leasehold::tool {

/// The locks of a ZooKeeper ensemble.
[[nodiscard]] std::unique_ptr<lock_admin> make_zookeeper_admin(boost::asio::io_context& context,
                                                               const zookeeper_config& where);

} // namespace leasehold::tool

#endif
