#ifndef LEASEHOLD_HPP
#define LEASEHOLD_HPP

// Includes all public headers for users with locks in Redis or in the process: the target
// leasehold::leasehold. A program with another store alone includes what it uses.
#include <leasehold/client.hpp>
#include <leasehold/client_info.hpp>
#include <leasehold/clock.hpp>
#include <leasehold/diagnostics.hpp>
#include <leasehold/error.hpp>
#include <leasehold/extras/metrics.hpp>
#include <leasehold/lease.hpp>
#include <leasehold/make_store.hpp>
#include <leasehold/memory.hpp>
#include <leasehold/mutex.hpp>
#include <leasehold/observer.hpp>
#include <leasehold/observer_group.hpp>
#include <leasehold/options.hpp>
#include <leasehold/owner.hpp>
#include <leasehold/redis.hpp>
#include <leasehold/store.hpp>
#include <leasehold/with_lock.hpp>

#endif
