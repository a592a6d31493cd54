#include "sim/strangers.hpp"

#include <algorithm>

namespace leasehold::test::sim {

void strangers::schedule()
{
    for (const stranger& each : trial_.scenario.strangers) {
        visitor& who = all_.emplace_back(
            visitor{&each, &trial_.names[each.name % trial_.names.size()]});
        trial_.world.at(trial_.time(each.every), [this, &who] { ask(who); });
    }
}

void strangers::ask(visitor& who)
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

void strangers::leave(visitor& who)
{
    const auto expires = trial_.now() - who.plan->hold + who.plan->lease;
    if (!trial_.server.leave_as_stranger(who.name->text, who.value))
        who.name->stranger_until = std::max(who.name->stranger_until, expires);
    else if (!trial_.scenario.is_native())
        who.name->freed = trial_.now(); // it publishes that on the release channel
    who.value.clear();
}

} // namespace leasehold::test::sim
