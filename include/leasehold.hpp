#ifndef LEASEHOLD_HPP
#define LEASEHOLD_HPP

// Includes all public headers for users. The CMake targets and pkg-config modules of the stores
// define LEASEHOLD_HAS_..., so that a program includes the headers of those that it links.
#include <leasehold/client.hpp>
#include <leasehold/client_info.hpp>
#include <leasehold/clock.hpp>
#include <leasehold/diagnostics.hpp>
#include <leasehold/error.hpp>
#include <leasehold/extras/metrics.hpp>
#include <leasehold/lease.hpp>
#include <leasehold/log_observer.hpp>
#include <leasehold/make_store.hpp>
#include <leasehold/memory.hpp>
#include <leasehold/mutex.hpp>
#include <leasehold/observer.hpp>
#include <leasehold/observer_group.hpp>
#include <leasehold/options.hpp>
#include <leasehold/owner.hpp>
#include <leasehold/store.hpp>
#include <leasehold/with_lock.hpp>

#if defined(LEASEHOLD_HAS_ETCD)
#include <leasehold/etcd.hpp>
#endif
#if defined(LEASEHOLD_HAS_MYSQL)
#include <leasehold/mysql.hpp>
#endif
#if defined(LEASEHOLD_HAS_POSTGRES)
#include <leasehold/postgres.hpp>
#endif
#if defined(LEASEHOLD_HAS_REDIS)
#include <leasehold/redis.hpp>
#endif
#if defined(LEASEHOLD_HAS_ZOOKEEPER)
#include <leasehold/zookeeper.hpp>
#endif

#endif
