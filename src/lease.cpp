#include <leasehold/lease.hpp>

#include "base/mutant.hpp"
#include "core/async/calling_executor.hpp"
#include "core/async/cancel_by_slot.hpp"
#include "core/async/posted_op.hpp"
#include "core/client_state.hpp"
#include "core/diagnostics/loss_details.hpp"

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/system_executor.hpp>

#include <memory>
#include <new>
#include <utility>

namespace leasehold {
namespace detail {

void intrusive_ptr_add_ref(const lease_state* p) noexcept
{
    boost::sp_adl_block::intrusive_ptr_add_ref(
        static_cast<const boost::intrusive_ref_counter<lease_term>*>(p));
}

void intrusive_ptr_release(const lease_state* p) noexcept
{
    boost::sp_adl_block::intrusive_ptr_release(
        static_cast<const boost::intrusive_ref_counter<lease_term>*>(p));
}

static_assert(alignof(lease_state) > 1, "a link marks what it remembers by an odd address");

namespace {

client_state& client_of(const lease_state& held) noexcept
{
    return *held.held->spec->owner;
}

const asio::any_io_executor no_client = asio::system_executor();

/// What a handler without an executor is given here; calls on the spot.
class inline_executor
{
public:
    template <class F>
    void execute(F&& f) const
    {
        std::forward<F>(f)();
    }

    bool operator==(const inline_executor&) const noexcept = default;
};

void release_in_background(lease_state_ptr given) noexcept
{
    client_state& client = client_of(*given);
    if (given->released() || client.gone())
        return;
    try {
        client.carry([given, &client] { client.release(*given, nullptr); });
    }
    catch (...) {
        lease_state::abandon(std::move(given));
    }
}

/// Without a client there is no executor but the handler's own.
void complete_without_client(void_handler&& handler)
{
    // Those of a timer around the handler, which may have been made for it.
    struct calls_here
    {
        ~calls_here()
        {
            if (queue)
                queue->close();
        }

        const std::shared_ptr<call_queue> queue = calling_executor::take_calls();
    } const calls;
    const asio::any_completion_executor own = asio::get_associated_executor(
        handler.handler, asio::any_completion_executor(inline_executor()));
    const bool here = own.target<inline_executor>() != nullptr;
    if (here)
        std::move(handler.handler)(errc::not_owner, nullptr);
    else
        completion<error_code>(std::move(handler))(errc::not_owner);
    if (calls.queue && (here || own.target<calling_executor>() != nullptr))
        calls.queue->run();
}

/// Completes an operation on no lease.
/// @param before The lease that was there before; null: there never was one.
void start_nothing(void_handler&& handler, const lease_state* before)
{
    if (before == nullptr)
        return complete_without_client(std::move(handler));
    const client_state& client = client_of(*before);
    if (!client.gone())
        completion<error_code>::immediate(std::move(handler), client.handler_executor(),
                                          errc::not_owner);
}

} // namespace

void lease_link::leave() noexcept
{
    const bool held = holds();
    lease_state_ptr state = take();
    if (held)
        release_in_background(std::move(state));
}

const asio::any_io_executor& executor_of_lease(const lease_state* of) noexcept
{
    return of != nullptr ? client_of(*of).handler_executor() : no_client;
}

asio::any_io_executor timer_executor_of_lease(const lease_state* of) noexcept
{
    if (of == nullptr) {
        try {
            return calling_executor::of_next_call();
        }
        catch (const std::bad_alloc&) {
        }
    }
    return executor_of_lease(of);
}

void start_release(void_handler&& handler, lease_link of)
{
    if (!of.holds())
        return start_nothing(std::move(handler), of.state());
    lease_state_ptr given = of.take();
    client_state& client = client_of(*given);
    if (client.gone())
        return;
    try {
        outcome_op_ptr op(new outcome_op(std::move(handler)));
        cancel_by_slot(client, op);
        client.carry([given, going = posted_op(std::move(op)), &client]() mutable {
            going.arrive(client,
                         [&](const outcome_op_ptr& arrived) { client.release(*given, arrived); });
        });
    }
    catch (...) {
        release_in_background(std::move(given));
        throw;
    }
}

void start_wait_lost(void_handler&& handler, lease_target of)
{
    if (!of.held)
        return start_nothing(std::move(handler), of.state.get());
    lease_state_ptr given = std::move(of.state);
    client_state& client = client_of(*given);
    if (client.gone())
        return;
    wait_op_ptr op(new wait_op(std::move(handler)));
    cancel_by_slot(client, op, [given](wait_op& cancelled) { given->stop_waiting(cancelled); });
    client.carry([given = std::move(given), going = posted_op(std::move(op)), &client]() mutable {
        going.arrive(client, [&](const wait_op_ptr& arrived) {
            const error_code reason = given->loss();
            const bool explained = reason && arrived->done.explained();
            given->wait(arrived, explained ? loss_details(client, *given->held, reason) : nullptr);
        });
    });
}

} // namespace detail

lease& lease::operator=(lease&& other) noexcept
{
    lease taken(std::move(other));
    std::swap(link_, taken.link_);
    return *this;
}

bool lease::valid() const noexcept
{
    const detail::lease_state* const state = held();
    if (state == nullptr || !state->active())
        return false;
    const detail::client_state& client = detail::client_of(*state);
    return !client.gone() &&
           (client.now() < state->held->valid_until() || has(mutant::validity_without_clock));
}

clock::time_point lease::deadline() const noexcept
{
    const detail::lease_state* const state = held();
    return state != nullptr ? state->held->valid_until() : clock::time_point();
}

std::uint64_t lease::fence() const noexcept
{
    const detail::lease_state* const state = held();
    return state != nullptr ? state->fence : 0;
}

owner lease::owner() const
{
    const detail::lease_state* const state = held();
    if (state == nullptr)
        return {};
    state->held->share();
    return {std::string(state->held->owner), state->fence};
}

std::string lease::name() const
{
    const detail::lease_state* const state = held();
    return state != nullptr ? state->held->spec->name : std::string();
}

asio::any_io_executor lease::get_executor() const noexcept
{
    return detail::executor_of_lease(link_.state());
}

} // namespace leasehold
