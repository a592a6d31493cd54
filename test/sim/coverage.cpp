#include "sim/coverage.hpp"

namespace leasehold::test::sim {

const char* name_of(phase of) noexcept
{
    constexpr std::array<const char*, phases> names = {"idle",    "acq. sent", "acq. answ.",
                                                       "holding", "renewing",  "releasing",
                                                       "waiting", "closing"};
    return names[static_cast<std::size_t>(of)];
}

const char* impossible(fault_kind kind, phase in) noexcept
{
    switch (kind) {
    case fault_kind::false_wakeup:
        return in == phase::idle ? "no waiter could be notified" : nullptr;
    case fault_kind::failing_renewals:
        return in == phase::closing ? "no lease is renewed any more" : nullptr;
    case fault_kind::shutdown:
        return in == phase::closing ? "it is being shut down already" : nullptr;
    default: return nullptr;
    }
}

bool rare(fault_kind kind, phase in) noexcept
{
    // After the cancellation the client is idle, except for the moment between the two. Only a
    // client that is suspended at its shutdown has waiters after it.
    return (kind == fault_kind::cancel && in == phase::idle) ||
           (kind == fault_kind::false_wakeup && in == phase::closing);
}

} // namespace leasehold::test::sim
