#ifndef LEASEHOLD_SRC_CORE_ASYNC_CANCEL_BY_SLOT_HPP
#define LEASEHOLD_SRC_CORE_ASYNC_CANCEL_BY_SLOT_HPP

#include "core/turn/turn_context.hpp"

#include <boost/asio/cancellation_type.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>

#include <memory>
#include <utility>

namespace leasehold::detail {

/// From now on an emission of the caller's slot, of any type and from any thread, calls
/// `cancel(op)` in a turn of the client. To be called in the initiating call, before the operation
/// goes to the strand.
template <class Op, class Cancel>
void cancel_by_slot(turn_context& client, const boost::intrusive_ptr<Op>& op, Cancel cancel)
{
    auto& slot = op->done.slot();
    if (!slot.is_connected())
        return;
    slot.assign([weak = client.weak_from_this(), op,
                 cancel = std::move(cancel)](asio::cancellation_type type) {
        const auto self = weak.lock();
        if (!self || type == asio::cancellation_type::none)
            return;
        try {
            self->on_strand([op, cancel] { cancel(*op); });
        }
        catch (...) {
            if (self->failed())
                throw; // it got there, and the client ended over it
            op->done.cancel_requested.store(true, std::memory_order_relaxed);
            self->cancel_requested.store(
                true, std::memory_order_release); // looked for at the end of the next turn
        }
    });
}

template <class Op>
void cancel_by_slot(turn_context& client, const boost::intrusive_ptr<Op>& op)
{
    cancel_by_slot(client, op, [](Op& cancelled) { cancelled.cancel(); });
}

} // namespace leasehold::detail

#endif
