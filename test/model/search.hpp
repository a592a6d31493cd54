#ifndef LEASEHOLD_TEST_MODEL_SEARCH_HPP
#define LEASEHOLD_TEST_MODEL_SEARCH_HPP

#include "model/setting.hpp"
#include "model/steps.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace leasehold::test::model {

struct outcome
{
    enum class end : std::uint8_t
    {
        complete, ///< Every state that can be reached was checked, and none violates a property.
        found,
        cut_off, ///< There are more states than allowed.
    } how = end::complete;
    std::string what; ///< With `found`: the violated property.
    std::uint64_t states = 0;
    std::uint64_t transitions = 0;
    std::size_t memory = 0; ///< In bytes, at the end.
    /// A shortest path from the first state to the violation.
    std::vector<successor> path{};
};

struct progress
{
    std::uint64_t states;   ///< Known states.
    std::uint64_t explored; ///< States whose successors are all known.
    std::uint64_t transitions;
    std::size_t memory;
};

/// Visits every state, breadth first, and checks the properties of each, and whether from each the
/// end can be reached by steps without faults.
outcome search(const setting& g, std::uint64_t most_states,
               const std::function<void(const progress&)>& notify);

} // namespace leasehold::test::model

#endif
