#ifndef LEASEHOLD_TEST_CHAOS_BOOT_TIME_HPP
#define LEASEHOLD_TEST_CHAOS_BOOT_TIME_HPP

#include "chaos/history.hpp"

#include <leasehold/clock.hpp>

namespace leasehold::test::chaos {

/// The present time of the clock that the histories use.
[[nodiscard]] inline stamp boot_time() noexcept
{
    return clock::now().time_since_epoch();
}

} // namespace leasehold::test::chaos

#endif
