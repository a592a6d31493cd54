#include "core/lease/lease_state.hpp"

#include <boost/asio/error.hpp>
#include <boost/assert.hpp>

#include <algorithm>
#include <exception>

namespace leasehold::detail {

void lease_state::abandon(lease_state_ptr left) noexcept
{
    lease_state& self = *left.detach();
    self.abandoned_.store(true);
    if (!self.active())
        self.take_back(); // it has ended meanwhile, and no later event would find this
}

// Releases the lease's reference to itself, after its end; the caller has another reference. The
// holder and the strand may both call this, and one of them takes the reference.
void lease_state::take_back() noexcept
{
    if (abandoned_.load() && abandoned_.exchange(false))
        const lease_state_ptr last(this, false);
}

error_code lease_state::loss() const noexcept
{
    const auto how = how_ended();
    return how > running ? error_code(static_cast<errc>(how)) : error_code();
}

error_code lease_state::outcome() const noexcept
{
    return released() ? error_code(asio::error::operation_aborted) : loss();
}

void lease_state::end(std::int16_t how, const details_ptr& details)
{
    BOOST_ASSERT(active() && how != running);
    const lease_state_ptr stays(this);
    ended_.store(how);
    take_back();
    std::exception_ptr failed;
    while (!waits_.empty()) {
        const wait_op_ptr op(&waits_.front(), false);
        waits_.pop_front();
        try {
            op->done(outcome(), details);
        }
        catch (...) {
            failed = std::current_exception(); // first complete the others: nothing else does
        }
    }
    if (failed)
        std::rethrow_exception(failed);
}

bool lease_state::explained() const noexcept
{
    return std::any_of(waits_.begin(), waits_.end(),
                       [](const wait_op& each) { return each.done.explained(); });
}

void lease_state::wait(const wait_op_ptr& op, details_ptr details)
{
    BOOST_ASSERT(!op->is_linked());
    if (!active())
        return op->done(outcome(), std::move(details));
    waits_.push_back(*op);
    intrusive_ptr_add_ref(op.get());
}

void lease_state::stop_waiting(wait_op& op)
{
    if (!op.is_linked())
        return;
    const wait_op_ptr last(&op, false); // the reference of the list
    waits_.erase(waits_.iterator_to(op));
    op.done(asio::error::operation_aborted);
}

void lease_state::complete_cancelled()
{
    for (auto i = waits_.begin(); i != waits_.end();) {
        wait_op& each = *i++;
        if (each.done.cancel_requested)
            stop_waiting(each);
    }
}

void lease_state::drop(error_code error) noexcept
{
    const lease_state_ptr stays(this);
    if (error)
        ended_.store(static_cast<std::int16_t>(error.value()));
    while (!waits_.empty()) {
        const wait_op_ptr op(&waits_.front(), false);
        waits_.pop_front();
        op->done.end(error);
    }
    take_back();
}

} // namespace leasehold::detail
