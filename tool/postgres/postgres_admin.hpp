#ifndef LEASEHOLD_TOOL_POSTGRES_POSTGRES_ADMIN_HPP
#define LEASEHOLD_TOOL_POSTGRES_POSTGRES_ADMIN_HPP

#include "locks/lock_admin.hpp"

#include <leasehold/postgres_config.hpp>

namespace leasehold::tool {

/// The locks of a PostgreSQL database.
[[nodiscard]] std::unique_ptr<lock_admin> make_postgres_admin(boost::asio::io_context& context,
                                                              const postgres_config& where);

} // namespace leasehold::tool

#endif
