#ifndef LEASEHOLD_DETAIL_EXPORT_HPP
#define LEASEHOLD_DETAIL_EXPORT_HPP

// The library is compiled with hidden visibility; this marks what programs may link against.
#if defined(__GNUC__)
#define LEASEHOLD_EXPORT __attribute__((visibility("default")))
#else
#define LEASEHOLD_EXPORT
#endif

#endif
