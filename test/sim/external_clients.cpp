#include "sim/external_clients.hpp"

#include <algorithm>

namespace leasehold::test::sim {

void external_clients::schedule()
{
    for (const external_client& each : trial_.scenario.external_clients) {
        visitor& who = all_.emplace_back(
            visitor{&each, &trial_.names[each.name % trial_.names.size()]});
        trial_.world.at(trial_.time(each.every), [this, &who] { ask(who); });
    }
}

void external_clients::ask(visitor& who)
{
    if (trial_.healed())
        return;
    if (who.value.empty()) {
        who.value = trial_.server.take_as_stranger(who.name->text, who.plan->lease);
        if (!who.value.empty()) {
            checks_.taken_by_stranger(*who.name);
            trial_.world.after(who.plan->hold, [this, &who] { leave(who); });
        }
    }
    trial_.world.after(who.plan->every, [this, &who] { ask(who); });
}

void external_clients::leave(visitor& who)
{
    const auto expires = trial_.now() - who.plan->hold + who.plan->lease;
    if (!trial_.server.leave_as_stranger(who.name->text, who.value))
        who.name->external_until = std::max(who.name->external_until, expires);
    else if (!trial_.scenario.is_native())
        who.name->freed = trial_.now(); // the release is published on the release channel
    who.value.clear();
}

} // namespace leasehold::test::sim
