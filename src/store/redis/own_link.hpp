#ifndef LEASEHOLD_STORE_REDIS_OWN_LINK_HPP
#define LEASEHOLD_STORE_REDIS_OWN_LINK_HPP

#include "store/redis/link.hpp"

#include <leasehold/config.hpp>

#include <memory>

namespace leasehold::redis_store {

/// A link over a connection of the library's own, on the strand itself.
std::shared_ptr<link> make_own_link(const config& where);

} // namespace leasehold::redis_store

#endif
