#ifndef LEASEHOLD_TEST_MODEL_STANDING_HPP
#define LEASEHOLD_TEST_MODEL_STANDING_HPP

#include "model/state.hpp"

namespace leasehold::test::model {

/// Conditions of an owner.

inline bool alive(const state& s, owner o) noexcept
{
    return ours(o) && !s.of(o).has(client::dead);
}

/// The outstanding release lets the owner join.
inline bool is_next(const state& s, owner o) noexcept
{
    const client& c = s.of(o);
    return c.contention.joins() && number_of(o) == c.number + 1;
}

/// The end of the owner was not reported: it waits or holds, or is about to, as the owner of the
/// client or of a reentrant acquisition.
inline bool current(const state& s, owner o) noexcept
{
    using phase = fsm::queued_contention::state;
    if (!alive(s, o))
        return false;
    const client& c = s.of(o);
    if (c.entry != client::inner::none && number_of(o) == c.entry_number)
        return true;
    return (number_of(o) == c.number && c.phase() != phase::idle) || is_next(s, o);
}

/// The owner waits in the queue, or is about to.
inline bool waiting(const state& s, owner o) noexcept
{
    using phase = fsm::queued_contention::state;
    if (!alive(s, o))
        return false;
    const client& c = s.of(o);
    if (c.phase() == phase::releasing)
        return is_next(s, o) && c.under_way != client::task::redraw;
    return number_of(o) == c.number && !c.has(client::cancelled | client::once) &&
           (c.contention.waits() || c.under_way == client::task::slow_path);
}

/// A message about the owner is on its way.
inline bool pending(const state& s, owner o) noexcept
{
    for (int i = 0; i < s.messages; ++i) {
        const message& m = s.on_the_way[byte(i)];
        if (m.who == o || (m.has(message::joins) && m.who + 1 == o))
            return true;
    }
    return false;
}

} // namespace leasehold::test::model

#endif
