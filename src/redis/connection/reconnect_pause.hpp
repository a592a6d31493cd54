#ifndef LEASEHOLD_SRC_REDIS_CONNECTION_RECONNECT_PAUSE_HPP
#define LEASEHOLD_SRC_REDIS_CONNECTION_RECONNECT_PAUSE_HPP

#include "fsm/contention/backoff.hpp"

#include <leasehold/clock.hpp>

#include <chrono>

namespace leasehold::redis_store {

/// The pause before a server is tried again: random, from half to one and a half of the configured
/// time. Otherwise clients that lose a server together reconnect together, after each failed
/// attempt.
inline clock::duration reconnect_pause(std::chrono::milliseconds configured,
                                       fsm::random_source& random)
{
    const clock::duration usual = configured;
    return fsm::pick(random, usual / 2, usual + usual / 2);
}

} // namespace leasehold::redis_store

#endif
