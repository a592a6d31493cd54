#ifndef LEASEHOLD_TEST_MODEL_TIMELINE_HPP
#define LEASEHOLD_TEST_MODEL_TIMELINE_HPP

#include "model/search.hpp"

#include <string>

namespace leasehold::test::model {

/// The path to a violation, for readers: one line for each step, and its result.
std::string timeline(const setting& g, const outcome& found);

} // namespace leasehold::test::model

#endif
