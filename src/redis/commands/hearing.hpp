#ifndef LEASEHOLD_SRC_REDIS_COMMANDS_HEARING_HPP
#define LEASEHOLD_SRC_REDIS_COMMANDS_HEARING_HPP

#include "redis/protocol/slot.hpp"

namespace leasehold::redis_store {

/// The subscription of a client to its grants, as a layout sees it.
class hearing
{
public:
    /// Whether this client is subscribed to its grants. `slot`: that of the name, in a cluster.
    [[nodiscard]] virtual bool hears(slot_number slot) const noexcept = 0;

    /// Subscribes, because this client has joined a queue.
    virtual void listen(slot_number slot) = 0;

protected:
    ~hearing() = default;
};

} // namespace leasehold::redis_store

#endif
