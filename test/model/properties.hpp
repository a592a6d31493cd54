#ifndef LEASEHOLD_TEST_MODEL_PROPERTIES_HPP
#define LEASEHOLD_TEST_MODEL_PROPERTIES_HPP

#include "model/setting.hpp"
#include "model/state.hpp"

namespace leasehold::test::model {

/// A property does not hold.
struct violation
{
    const char* what;
};

// The order of the waiters, with full knowledge.
void joined(state& s, owner o);
void forgotten(state& s, owner o) noexcept;
/// The server grants the lock to the owner. No waiter without a fault may be before it.
void given(state& s, const setting& g, owner o, bool by_fast_path);

/// A client begins to believe that it holds the lock.
void believed(const state& s, int client);
/// An external client begins to believe that it holds the lock.
void believed_by_external_client(const state& s);
/// The client uses a fence: larger than every one in use before. `handed_on`: by a local handoff.
void fence_used(state& s, const setting& g, int client, bool handed_on);

/// The property that the state violates, or null.
const char* wrong_in(const state& s, const setting& g) noexcept;

/// Whether every waiter has got the lock and no data is left.
bool finished(const state& s, const setting& g) noexcept;

} // namespace leasehold::test::model

#endif
