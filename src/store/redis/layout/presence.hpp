#ifndef LEASEHOLD_SRC_STORE_REDIS_LAYOUT_PRESENCE_HPP
#define LEASEHOLD_SRC_STORE_REDIS_LAYOUT_PRESENCE_HPP

#include "store/redis/protocol/reply.hpp"

#include <leasehold/config.hpp>
#include <leasehold/store.hpp>

#include <boost/redis/request.hpp>

namespace leasehold::redis_store {

/// Asks, with one command that changes nothing, whether the owner, or its entry, has the lock.
void ask_for(config::key_layout keys, const renewal& held, boost::redis::request& to);

/// What the answer to it says.
[[nodiscard]] bool is_there(config::key_layout keys, const renewal& held, const reply& answer);

} // namespace leasehold::redis_store

#endif
