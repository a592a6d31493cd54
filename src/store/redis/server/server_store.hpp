#ifndef LEASEHOLD_SRC_STORE_REDIS_SERVER_SERVER_STORE_HPP
#define LEASEHOLD_SRC_STORE_REDIS_SERVER_SERVER_STORE_HPP

#include "store/redis/transport/environment.hpp"
#include "store/redis/transport/transport.hpp"

#include <leasehold/config.hpp>
#include <leasehold/store.hpp>

#include <memory>
#include <optional>

namespace leasehold::redis_store {

/// The store on one server, or on whichever one of a Sentinel is the master.
/// @param blind   As for `native_layout`.
/// @param wakeups Where the connections lead that messages come over; nowhere: there are none.
[[nodiscard]] std::shared_ptr<store> make_server_store(std::shared_ptr<transport> way,
                                                       const config& limits, bool blind,
                                                       const std::optional<config>& wakeups,
                                                       const std::shared_ptr<environment>& from);

} // namespace leasehold::redis_store

#endif
