#ifndef LEASEHOLD_TEST_SIM_RUN_HPP
#define LEASEHOLD_TEST_SIM_RUN_HPP

#include "sim/coverage.hpp"
#include "sim/plan.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace leasehold::test::sim {

struct verdict
{
    std::string wrong; ///< Empty: no broken promise.
    std::uint64_t hash = 0;

    /// The kind of error: the part before the colon.
    [[nodiscard]] std::string_view kind() const noexcept
    {
        return std::string_view(wrong).substr(0, wrong.find(':'));
    }
};

/// Runs a plan and checks, in true time, whether every promise was kept.
verdict run(const plan& scenario, coverage& counted,
            const std::function<void(std::string_view)>& trace = {});

} // namespace leasehold::test::sim

#endif
