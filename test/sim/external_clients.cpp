#include "sim/external_clients.hpp"

#include <algorithm>

namespace leasehold::test::sim {

void external_clients::schedule()
{
    for (const external_client& each : trial_.scenario.external_clients) {
        visitor& one = all_.emplace_back(
            visitor{&each, &trial_.names[each.name % trial_.names.size()]});
        trial_.world.at(trial_.time(each.every), [this, &one] { ask(one); });
    }
}

void external_clients::ask(visitor& one)
{
    if (trial_.healed())
        return;
    if (one.value.empty()) {
        one.value = trial_.server.acquire_externally(one.name->text, one.plan->lease);
        if (!one.value.empty()) {
            checks_.acquired_externally(*one.name);
            trial_.world.after(one.plan->hold, [this, &one] { leave(one); });
        }
    }
    trial_.world.after(one.plan->every, [this, &one] { ask(one); });
}

void external_clients::leave(visitor& one)
{
    const auto expires = trial_.now() - one.plan->hold + one.plan->lease;
    if (!trial_.server.release_externally(one.name->text, one.value))
        one.name->external_until = std::max(one.name->external_until, expires);
    else if (!trial_.scenario.is_native())
        one.name->freed = trial_.now(); // the release is published on the release channel
    one.value.clear();
}

} // namespace leasehold::test::sim
