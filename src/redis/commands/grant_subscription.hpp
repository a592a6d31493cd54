#ifndef LEASEHOLD_SRC_REDIS_COMMANDS_GRANT_SUBSCRIPTION_HPP
#define LEASEHOLD_SRC_REDIS_COMMANDS_GRANT_SUBSCRIPTION_HPP

#include "redis/protocol/slot.hpp"

namespace leasehold::redis_store {

/// The subscription of a client to its grants, as a layout sees it.
class grant_subscription
{
public:
    /// Whether this client is subscribed to its grants. `slot`: that of the name, in a cluster.
    [[nodiscard]] virtual bool is_subscribed(slot_number slot) const noexcept = 0;

    /// Subscribes, because this client has joined a queue.
    virtual void listen(slot_number slot) = 0;

protected:
    ~grant_subscription() = default;
};

} // namespace leasehold::redis_store

#endif
