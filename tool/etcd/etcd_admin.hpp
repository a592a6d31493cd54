#ifndef LEASEHOLD_TOOL_ETCD_ETCD_ADMIN_HPP
#define LEASEHOLD_TOOL_ETCD_ETCD_ADMIN_HPP

#include "locks/lock_admin.hpp"

#include <leasehold/etcd_config.hpp>

namespace leasehold::tool {

/// The locks of an etcd cluster.
[[nodiscard]] std::unique_ptr<lock_admin> make_etcd_admin(boost::asio::io_context& context,
                                                          const etcd_config& where);

} // namespace leasehold::tool

#endif
