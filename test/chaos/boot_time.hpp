#ifndef LEASEHOLD_TEST_CHAOS_BOOT_TIME_HPP
#define LEASEHOLD_TEST_CHAOS_BOOT_TIME_HPP

#include "chaos/history.hpp"

#include <leasehold/clock.hpp>

namespace leasehold::test::chaos {

/// Now, by the clock of the histories.
[[nodiscard]] inline stamp boot_time() noexcept
{
    return clock::now().time_since_epoch();
}

} // namespace leasehold::test::chaos

#endif
