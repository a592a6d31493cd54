#ifndef LEASEHOLD_DETAIL_EXPORT_HPP
#define LEASEHOLD_DETAIL_EXPORT_HPP

// What programs may link against. There are three libraries: LEASEHOLD_EXPORT marks what is in
// core, LEASEHOLD_REDIS_EXPORT and LEASEHOLD_TESTING_EXPORT what is in the others. The CMake
// targets define LEASEHOLD_SHARED when the libraries are shared, and LEASEHOLD_BUILDS_... while one
// is compiled. LEASEHOLD_HIDDEN marks what is within an exported class, but no business of
// programs; the tests call it, and for them LEASEHOLD_EXPORTS_INTERNALS exports everything.
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
#define LEASEHOLD_TESTING_EXPORT LEASEHOLD_EXPORT
#elif !defined(LEASEHOLD_SHARED)
#define LEASEHOLD_EXPORT
#define LEASEHOLD_REDIS_EXPORT
#define LEASEHOLD_TESTING_EXPORT
#else
// A DLL exports what is its own and imports what is another's.
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
