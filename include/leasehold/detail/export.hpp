#ifndef LEASEHOLD_DETAIL_EXPORT_HPP
#define LEASEHOLD_DETAIL_EXPORT_HPP

// Symbol visibility. LEASEHOLD_EXPORT marks the symbols of the core, and LEASEHOLD_REDIS_EXPORT,
// LEASEHOLD_POSTGRES_EXPORT, LEASEHOLD_MYSQL_EXPORT, LEASEHOLD_ZOOKEEPER_EXPORT,
// LEASEHOLD_ETCD_EXPORT and LEASEHOLD_TESTING_EXPORT those of the other libraries. The CMake
// targets define LEASEHOLD_SHARED for shared libraries, and LEASEHOLD_BUILDS_... while they compile
// one. LEASEHOLD_HIDDEN marks internal members of an exported class. The tests call them:
// LEASEHOLD_EXPORTS_INTERNALS exports everything for them.
#if !defined(_WIN32)
// The libraries are compiled with hidden visibility.
#if defined(__GNUC__)
#define LEASEHOLD_EXPORT __attribute__((visibility("default")))
#else
#define LEASEHOLD_EXPORT
#endif
#if defined(__GNUC__) && !defined(LEASEHOLD_EXPORTS_INTERNALS)
#define LEASEHOLD_HIDDEN __attribute__((visibility("hidden")))
#endif
#define LEASEHOLD_REDIS_EXPORT LEASEHOLD_EXPORT
#define LEASEHOLD_POSTGRES_EXPORT LEASEHOLD_EXPORT
#define LEASEHOLD_MYSQL_EXPORT LEASEHOLD_EXPORT
#define LEASEHOLD_ZOOKEEPER_EXPORT LEASEHOLD_EXPORT
#define LEASEHOLD_ETCD_EXPORT LEASEHOLD_EXPORT
#define LEASEHOLD_TESTING_EXPORT LEASEHOLD_EXPORT
#elif !defined(LEASEHOLD_SHARED)
#define LEASEHOLD_EXPORT
#define LEASEHOLD_REDIS_EXPORT
#define LEASEHOLD_POSTGRES_EXPORT
#define LEASEHOLD_MYSQL_EXPORT
#define LEASEHOLD_ZOOKEEPER_EXPORT
#define LEASEHOLD_ETCD_EXPORT
#define LEASEHOLD_TESTING_EXPORT
#else
// A DLL exports its own symbols and imports those of others.
#if defined(LEASEHOLD_BUILDS_CORE)
#define LEASEHOLD_EXPORT __declspec(dllexport)
#else
#define LEASEHOLD_EXPORT __declspec(dllimport)
#endif
#if defined(LEASEHOLD_BUILDS_REDIS)
#define LEASEHOLD_REDIS_EXPORT __declspec(dllexport)
#else
#define LEASEHOLD_REDIS_EXPORT __declspec(dllimport)
#endif
#if defined(LEASEHOLD_BUILDS_POSTGRES)
#define LEASEHOLD_POSTGRES_EXPORT __declspec(dllexport)
#else
#define LEASEHOLD_POSTGRES_EXPORT __declspec(dllimport)
#endif
#if defined(LEASEHOLD_BUILDS_MYSQL)
#define LEASEHOLD_MYSQL_EXPORT __declspec(dllexport)
#else
#define LEASEHOLD_MYSQL_EXPORT __declspec(dllimport)
#endif
#if defined(LEASEHOLD_BUILDS_ZOOKEEPER)
#define LEASEHOLD_ZOOKEEPER_EXPORT __declspec(dllexport)
#else
#define LEASEHOLD_ZOOKEEPER_EXPORT __declspec(dllimport)
#endif
#if defined(LEASEHOLD_BUILDS_ETCD)
#define LEASEHOLD_ETCD_EXPORT __declspec(dllexport)
#else
#define LEASEHOLD_ETCD_EXPORT __declspec(dllimport)
#endif
#if defined(LEASEHOLD_BUILDS_TESTING)
#define LEASEHOLD_TESTING_EXPORT __declspec(dllexport)
#else
#define LEASEHOLD_TESTING_EXPORT __declspec(dllimport)
#endif
#endif
#if !defined(LEASEHOLD_HIDDEN)
#define LEASEHOLD_HIDDEN
#endif

#endif
