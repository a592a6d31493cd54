#include <leasehold/lease.hpp>

#include "base/mutant.hpp"
#include "core/async/operation.hpp"
#include "core/client_state.hpp"

#include <boost/asio/system_executor.hpp>

#include <utility>

namespace leasehold {
namespace detail {

void intrusive_ptr_add_ref(const lease_state* p) noexcept
{
    boost::sp_adl_block::intrusive_ptr_add_ref(
        static_cast<const boost::intrusive_ref_counter<lease_state>*>(p));
}

void intrusive_ptr_release(const lease_state* p) noexcept
{
    boost::sp_adl_block::intrusive_ptr_release(
        static_cast<const boost::intrusive_ref_counter<lease_state>*>(p));
}

namespace {

client_state& client_of(const lease_state& held) noexcept
{
    return *held.held->spec->client;
}

/// Completes an operation on an empty lease.
void complete_without_lease(void_handler&& handler)
{
    completion<error_code>(std::move(handler))(errc::not_owner);
}

} // namespace

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

void detach_in_background(lease_state_ptr given) noexcept
{
    client_state& client = client_of(*given);
    given->use();
    given->detach(); // first: a shutdown that is faster than the strand must not release it
    if (given->released() || client.gone())
        return;
    try {
        client.carry([given, &client] { client.detach(*given); });
    }
    catch (...) {
        lease_state::abandon(std::move(given));
    }
}

const asio::any_io_executor& executor_of(const lease_state_ptr& of) noexcept
{
    static const asio::any_io_executor no_client = asio::system_executor();
    return of ? client_of(*of).handler_executor() : no_client;
}

lease make_lease(lease_state_ptr state) noexcept
{
    return lease(std::move(state));
}

void start_release(void_handler&& handler, lease of)
{
    lease_state_ptr given = std::move(of.state_);
    if (!given)
        return complete_without_lease(std::move(handler));
    given->use();
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

void start_wait_lost(void_handler&& handler, lease_state_ptr given)
{
    if (!given)
        return complete_without_lease(std::move(handler));
    given->use();
    client_state& client = client_of(*given);
    if (client.gone())
        return;
    wait_op_ptr op(new wait_op(std::move(handler)));
    cancel_by_slot(client, op, [given](wait_op& cancelled) { given->stop_waiting(cancelled); });
    client.carry([given = std::move(given), going = posted_op(std::move(op)), &client]() mutable {
        going.arrive(client, [&](const wait_op_ptr& arrived) {
            const error_code reason = given->loss();
            const bool explained = reason && arrived->done.explained();
            given->wait(arrived, explained ? given->held->loss_details(client, reason) : nullptr);
        });
    });
}

} // namespace detail

bool lease::valid() const noexcept
{
    if (!state_)
        return false;
    state_->use();
    if (!state_->active())
        return false;
    const detail::client_state& client = detail::client_of(*state_);
    return !client.gone() &&
           (client.now() < state_->held->valid_until() || has(mutant::validity_without_clock));
}

clock::time_point lease::deadline() const noexcept
{
    if (!state_)
        return {};
    state_->use();
    return state_->held->valid_until();
}

std::uint64_t lease::fence() const noexcept
{
    if (!state_)
        return 0;
    state_->use();
    return state_->fence;
}

owner lease::share_owner() const
{
    if (!state_)
        return {};
    state_->use();
    state_->held->share();
    return {std::string(state_->held->owner), state_->fence};
}

std::string lease::name() const
{
    if (!state_)
        return {};
    state_->use();
    return state_->held->spec->name;
}

asio::any_io_executor lease::get_executor() const noexcept
{
    if (state_)
        state_->use();
    return detail::executor_of(state_);
}

} // namespace leasehold
