#ifndef LEASEHOLD_SRC_CORE_TURN_PROBE_HPP
#define LEASEHOLD_SRC_CORE_TURN_PROBE_HPP

// Static probes for bpftrace and similar tools, docs/how_to/tracing.md. Each is one instruction
// without effect, and a note with its address and the places of its arguments. Times are in
// nanoseconds.
#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>
#define LEASEHOLD_PROBE2(name, a, b) DTRACE_PROBE2(leasehold, name, a, b)
#define LEASEHOLD_PROBE3(name, a, b, c) DTRACE_PROBE3(leasehold, name, a, b, c)
#define LEASEHOLD_PROBE4(name, a, b, c, d) DTRACE_PROBE4(leasehold, name, a, b, c, d)
#else
#define LEASEHOLD_PROBE2(name, a, b) static_cast<void>(sizeof(a) + sizeof(b))
#define LEASEHOLD_PROBE3(name, a, b, c) static_cast<void>(sizeof(a) + sizeof(b) + sizeof(c))
#define LEASEHOLD_PROBE4(name, a, b, c, d)                                                         \
    static_cast<void>(sizeof(a) + sizeof(b) + sizeof(c) + sizeof(d))
#endif

#endif
