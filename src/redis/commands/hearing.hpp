#ifndef LEASEHOLD_SRC_REDIS_COMMANDS_HEARING_HPP
#define LEASEHOLD_SRC_REDIS_COMMANDS_HEARING_HPP

#include "redis/protocol/slot.hpp"

namespace leasehold::redis_store {

/// How a client hears that it is its turn, as far as a layout has to know.
class hearing
{
public:
    /// The server tells this client of its turns. `slot`: where the name is, in a cluster.
    [[nodiscard]] virtual bool hears(slot_number slot) const noexcept = 0;

    /// It waits in a line, and wants to hear.
    virtual void listen(slot_number slot) = 0;

protected:
    ~hearing() = default;
};

} // namespace leasehold::redis_store

#endif
