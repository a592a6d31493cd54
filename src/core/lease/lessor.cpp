#include "core/lease/lessor.hpp"

#include "core/acquire/acquire_attempt.hpp"
#include "core/acquire/wait_queue.hpp"
#include "mutant.hpp"

#include <leasehold/detail/access.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace leasehold::detail {

ownership_ptr lessor::take(acquire_attempt& from, const acquire_reply& reply)
{
    ownership_ptr taken(
        new ownership(from.spec, from.owner, from.entry,
                      has(mutant::deadline_from_reply) ? base.turn_time() : from.sent()));
    taken->first_fence = reply.first_fence;
    taken->fences = reply.fences;
    if (base.turn_time() < taken->valid_until() || has(mutant::late_grant_accepted))
        return taken;
    back.leave(*taken, nullptr, {}, nullptr);
    return nullptr;
}

void lessor::give(completion<error_code, lease>& to, ownership& from, std::uint64_t fence,
                  clock::time_point since, bool handed_over)
{
    const auto now = base.turn_time();
    auto& counts = base.counts;
    try {
        lease_state_ptr given(new lease_state(ownership_ptr(&from), fence, now));
        from.current = given.get();
        ++counts.held;
        ++counts.acquired;
        if (handed_over)
            ++counts.handed_over;
        to(error_code(), access::make_lease(std::move(given)));
    }
    catch (...) {
        to.end(errc::shut_down); // it is in no list any more: nobody else tells it
        throw;
    }
    base.tell([&](observer& o) { o.acquired(from.spec->name, fence, now - since, handed_over); });
}

void lessor::release(lease_state& state, const outcome_op_ptr& waiting)
{
    ownership& from = *state.held;
    if (state.ended.load(std::memory_order_relaxed) == lease_state::active) {
        // Nothing is handed on that might be over.
        if (from.life.due(base.turn_time()) == fsm::keep_alive::action::end)
            keeper.end(from, from.life.reason());
    }
    const int ended = state.ended.load(std::memory_order_relaxed);
    if (ended != lease_state::active)
        return release_lost(state, waiting,
                            ended == lease_state::released ? errc::not_owner
                                                           : static_cast<errc>(ended));

    from.current = nullptr;
    finish(state, lease_state::released);
    ++base.counts.released;
    base.tell([&](observer& o) {
        o.released(from.spec->name, state.fence, base.turn_time() - state.since);
    });
    if (from.place != nullptr && from.place->hand_over(from)) {
        if (waiting)
            waiting->complete({});
        return;
    }
    if (!has(mutant::renewal_goes_on))
        from.stop.emit(asio::cancellation_type::terminal);
    if (from.place != nullptr)
        from.place->leaving();
    back.leave(from, waiting, {}, from.place);
}

void lessor::release_lost(lease_state& state, const outcome_op_ptr& waiting, error_code reason)
{
    // When the key may still be there the store is asked, so that it goes and the caller learns
    // whether another has it.
    const bool may_be_there = reason == errc::hold_limit ||
                              (reason == errc::expired && waiting && !state.held->shared());
    if (may_be_there && base.online())
        return back.leave(*state.held, waiting, reason, nullptr);
    if (waiting)
        waiting->complete(reason);
}

void lessor::wait_lost(lease_state& state, boost::intrusive_ptr<wait_op> op)
{
    const int ended = state.ended.load(std::memory_order_relaxed);
    if (ended == lease_state::active) {
        state.waits.push_back(*op);
        intrusive_ptr_add_ref(op.get());
    }
    else {
        op->done(ended == lease_state::released ? error_code(asio::error::operation_aborted)
                                                : error_code(static_cast<errc>(ended)));
    }
}

void lessor::stop_waiting(lease_state& state, wait_op& op)
{
    if (!op.is_linked())
        return;
    const boost::intrusive_ptr<wait_op> last(&op, false); // the list's
    state.waits.erase(state.waits.iterator_to(op));
    op.done(asio::error::operation_aborted);
}

void lessor::complete_cancelled()
{
    for (ownership& each : keeper.watched()) {
        if (each.current == nullptr)
            continue;
        auto& waits = each.current->waits;
        for (auto i = waits.begin(); i != waits.end();) {
            wait_op& wait = *i++;
            if (wait.done.cancel_requested)
                stop_waiting(*each.current, wait);
        }
    }
}

void lessor::shut_down()
{
    for (auto& all = keeper.watched(); !all.empty();) {
        ownership& held = all.front();
        const ownership_ptr stays(&held);
        if (held.current != nullptr) {
            lease_state& ending = *std::exchange(held.current, nullptr);
            const lease_state_ptr last(&ending);
            finish(ending, static_cast<int>(errc::shut_down));
        }
        held.stop.emit(asio::cancellation_type::terminal);
        if (!has(mutant::shutdown_keeps))
            back.leave(held, nullptr, {}, nullptr);
    }
}

bool lessor::is_lost(const std::string& owner)
{
    const auto found = lost_owners_.find(owner);
    return found != lost_owners_.end() && base.turn_time() < found->second;
}

void lessor::check(wait_queue& queue)
{
    if (queue.note())
        to_check_.push_back(&queue);
}

void lessor::drop(error_code told) noexcept
{
    for (auto& all = keeper.watched(); !all.empty();) {
        ownership& each = all.front();
        const ownership_ptr stays(&each);
        each.leave();
        static_cast<void>(each.life.end({})); // the answer to a renewal under way is not looked at
        if (each.current == nullptr)
            continue;
        lease_state& ending = *std::exchange(each.current, nullptr);
        const lease_state_ptr last(&ending);
        if (told)
            ending.ended.store(told.value());
        while (!ending.waits.empty()) {
            const boost::intrusive_ptr<wait_op> op(&ending.waits.front(), false);
            ending.waits.pop_front();
            op->done.end(told);
        }
        ending.take_back();
    }
    keeper.clear();
    to_check_.clear();
}

void lessor::on_lost(ownership& held, errc reason)
{
    wait_queue* const place = std::exchange(held.place, nullptr);
    if (held.current != nullptr) {
        // First of all: whatever fails after this, the lease has ended.
        lease_state& ending = *std::exchange(held.current, nullptr);
        const lease_state_ptr last(&ending);
        finish(ending, static_cast<int>(reason));
        ++base.counts.lost;
        base.tell([&](observer& o) { o.lost(held.spec->name, ending.fence, reason); });
    }
    remember_lost(held);
    // Those who are in under the same owner prolong the time to live: what expired would stay in,
    // and keep the lock when they have left.
    if (reason == errc::expired && held.shared())
        back.leave(held, nullptr, reason, nullptr);
    if (place != nullptr) {
        place->leaving();
        place->left(false);
    }
}

void lessor::on_abandoned(ownership& held)
{
    const lease_state_ptr last(held.current);
    release(*held.current, nullptr);
}

void lessor::finish(lease_state& state, int how)
{
    const error_code told = how == lease_state::released
                                ? error_code(asio::error::operation_aborted)
                                : error_code(static_cast<errc>(how));
    state.ended.store(how);
    state.take_back();
    --base.counts.held;
    std::exception_ptr failed;
    while (!state.waits.empty()) {
        const boost::intrusive_ptr<wait_op> op(&state.waits.front(), false);
        state.waits.pop_front();
        try {
            op->done(told);
        }
        catch (...) {
            failed = std::current_exception(); // the others first: nobody else tells them
        }
    }
    if (failed)
        std::rethrow_exception(failed);
}

void lessor::remember_lost(const ownership& held)
{
    const auto now = base.turn_time();
    if (lost_owners_.size() >= tidy_at_) {
        boost::unordered::erase_if(lost_owners_,
                                   [now](const auto& each) { return each.second <= now; });
        tidy_at_ = std::max<std::size_t>(64, 2 * lost_owners_.size());
    }
    // By then the store does not know it either.
    lost_owners_.insert_or_assign(held.owner,
                                  now + 2 * clock::duration(held.spec->options.lease_time));
}

} // namespace leasehold::detail
