#include "sim/coverage.hpp"

namespace leasehold::test::sim {

const char* name_of(phase of) noexcept
{
    constexpr std::array<const char*, phases> names = {"idle",    "acq. sent", "acq. answ.",
                                                       "holding", "renewing",  "releasing",
                                                       "waiting", "closing"};
    return names[static_cast<std::size_t>(of)];
}

} // namespace leasehold::test::sim
