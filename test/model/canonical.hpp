#ifndef LEASEHOLD_TEST_MODEL_CANONICAL_HPP
#define LEASEHOLD_TEST_MODEL_CANONICAL_HPP

#include "model/setting.hpp"
#include "model/state.hpp"

namespace leasehold::test::model {

/// Brings states that differ in nothing that matters to the same form: what is not looked at any
/// more is zero, fences are numbered by their order, messages are sorted, clients are renamed.
void make_canonical(state& s, const setting& g);

} // namespace leasehold::test::model

#endif
