#ifndef LEASEHOLD_HPP
#define LEASEHOLD_HPP

// Includes all public headers for users. For a connection of your own, include
// <leasehold/redis.hpp>.
#include <leasehold/client.hpp>
#include <leasehold/client_info.hpp>
#include <leasehold/clock.hpp>
#include <leasehold/config.hpp>
#include <leasehold/diagnostics.hpp>
#include <leasehold/error.hpp>
#include <leasehold/extras/metrics.hpp>
#include <leasehold/lease.hpp>
#include <leasehold/memory.hpp>
#include <leasehold/mutex.hpp>
#include <leasehold/observer.hpp>
#include <leasehold/observer_group.hpp>
#include <leasehold/options.hpp>
#include <leasehold/owner.hpp>
#include <leasehold/store.hpp>
#include <leasehold/with_lock.hpp>

#endif
