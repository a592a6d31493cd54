#ifndef LEASEHOLD_TEST_MODEL_CANONICAL_HPP
#define LEASEHOLD_TEST_MODEL_CANONICAL_HPP

#include "model/setting.hpp"
#include "model/state.hpp"

namespace leasehold::test::model {

/// Brings states without a relevant difference to the same form: values that are not read any more
/// are zero, fences are numbered by their order, messages are sorted, clients are renamed.
void make_canonical(state& s, const setting& g);

} // namespace leasehold::test::model

#endif
