#include "core/lease/lessor.hpp"

#include "core/acquire/acquire_attempt.hpp"
#include "core/acquire/wait_queue.hpp"
#include "mutant.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace leasehold::detail {

hold_ptr lessor::take(attempt& from, const acquire_reply& reply)
{
    hold_ptr taken(new hold(from.spec, from.owner, from.entry, has(mutant::deadline_from_reply) ? base.turn_time() : from.sent()));
    taken->first_fence = reply.first_fence;
    taken->fences = reply.fences;
    if (base.turn_time() < taken->valid_until() || has(mutant::late_grant_accepted))
        return taken;
    back.leave(*taken, nullptr, {}, nullptr);
    return nullptr;
}

void lessor::give(completion<error_code, lease>& to, hold& from, std::uint64_t fence,
                  clock::time_point since, bool handed_over)
{
    const auto now = base.turn_time();
    auto& counts = base.counts;
    try {
        grant_ptr given(new grant(hold_ptr(&from), fence, now));
        from.current = given.get();
        ++counts.held;
        ++counts.acquired;
        if (handed_over)
            ++counts.handed_over;
        to(error_code(), lease(std::move(given)));
    }
    catch (...) {
        to.end(errc::shut_down); // it is in no list any more: nobody else tells it
        throw;
    }
    base.tell([&](observer& o) { o.acquired(from.spec->name, fence, now - since, handed_over); });
}

void lessor::release(grant& which, const outcome_op_ptr& waiting)
{
    hold& from = *which.held;
    if (which.ended.load(std::memory_order_relaxed) == grant::active) {
        // Nothing is handed on that might be over.
        if (from.life.due(base.turn_time()) == fsm::keep_alive::action::end)
            keeper.end(from, from.life.reason());
    }
    const int ended = which.ended.load(std::memory_order_relaxed);
    if (ended != grant::active)
        return release_lost(which, waiting, ended == grant::released ? errc::not_owner : static_cast<errc>(ended));

    from.current = nullptr;
    finish(which, grant::released);
    ++base.counts.released;
    base.tell([&](observer& o) { o.released(from.spec->name, which.fence, base.turn_time() - which.since); });
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

void lessor::release_lost(grant& which, const outcome_op_ptr& waiting, error_code reason)
{
    // When the key may still be there the store is asked, so that it goes and the caller learns whether another has it.
    const bool may_be_there = reason == errc::hold_limit || (reason == errc::expired && waiting && !which.held->shared());
    if (may_be_there && base.online())
        return back.leave(*which.held, waiting, reason, nullptr);
    if (waiting)
        waiting->complete(reason);
}

void lessor::wait_lost(grant& which, boost::intrusive_ptr<wait_op> op)
{
    const int ended = which.ended.load(std::memory_order_relaxed);
    if (ended == grant::active) {
        which.waits.push_back(*op);
        intrusive_ptr_add_ref(op.get());
    }
    else {
        op->done(ended == grant::released ? error_code(asio::error::operation_aborted) : error_code(static_cast<errc>(ended)));
    }
}

void lessor::stop_waiting(grant& which, wait_op& op)
{
    if (!op.is_linked())
        return;
    const boost::intrusive_ptr<wait_op> last(&op, false); // the list's
    which.waits.erase(which.waits.iterator_to(op));
    op.done(asio::error::operation_aborted);
}

void lessor::hear()
{
    for (hold& each : keeper.watched()) {
        if (each.current == nullptr)
            continue;
        auto& waits = each.current->waits;
        for (auto i = waits.begin(); i != waits.end();) {
            wait_op& wait = *i++;
            if (wait.done.unheard)
                stop_waiting(*each.current, wait);
        }
    }
}

void lessor::shut_down()
{
    for (auto& all = keeper.watched(); !all.empty();) {
        hold& which = all.front();
        const hold_ptr stays(&which);
        if (which.current != nullptr) {
            grant& ending = *std::exchange(which.current, nullptr);
            const grant_ptr last(&ending);
            finish(ending, static_cast<int>(errc::shut_down));
        }
        which.stop.emit(asio::cancellation_type::terminal);
        if (!has(mutant::shutdown_keeps))
            back.leave(which, nullptr, {}, nullptr);
    }
}

bool lessor::is_lost(const std::string& owner)
{
    const auto found = lost_owners_.find(owner);
    return found != lost_owners_.end() && base.turn_time() < found->second;
}

void lessor::check(contender& which)
{
    if (which.note())
        to_check_.push_back(&which);
}

void lessor::drop(error_code told) noexcept
{
    for (auto& all = keeper.watched(); !all.empty();) {
        hold& each = all.front();
        const hold_ptr stays(&each);
        each.leave();
        static_cast<void>(each.life.end({})); // the answer to a renewal under way is not looked at
        if (each.current == nullptr)
            continue;
        grant& ending = *std::exchange(each.current, nullptr);
        const grant_ptr last(&ending);
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

void lessor::on_lost(hold& which, errc reason)
{
    contender* const place = std::exchange(which.place, nullptr);
    if (which.current != nullptr) {
        // First of all: whatever fails after this, the lease has ended.
        grant& ending = *std::exchange(which.current, nullptr);
        const grant_ptr last(&ending);
        finish(ending, static_cast<int>(reason));
        ++base.counts.lost;
        base.tell([&](observer& o) { o.lost(which.spec->name, ending.fence, reason); });
    }
    remember_lost(which);
    // Those who are in under the same owner prolong the time to live: what expired would stay in, and keep the lock when they have left.
    if (reason == errc::expired && which.shared())
        back.leave(which, nullptr, reason, nullptr);
    if (place != nullptr) {
        place->leaving();
        place->left(false);
    }
}

void lessor::on_forsaken(hold& which)
{
    const grant_ptr last(which.current);
    release(*which.current, nullptr);
}

void lessor::finish(grant& which, int how)
{
    const error_code told = how == grant::released ? error_code(asio::error::operation_aborted) : error_code(static_cast<errc>(how));
    which.ended.store(how);
    which.take_back();
    --base.counts.held;
    std::exception_ptr failed;
    while (!which.waits.empty()) {
        const boost::intrusive_ptr<wait_op> op(&which.waits.front(), false);
        which.waits.pop_front();
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

void lessor::remember_lost(const hold& which)
{
    const auto now = base.turn_time();
    if (lost_owners_.size() >= tidy_at_) {
        boost::unordered::erase_if(lost_owners_, [now](const auto& each) { return each.second <= now; });
        tidy_at_ = std::max<std::size_t>(64, 2 * lost_owners_.size());
    }
    // By then the store does not know it either.
    lost_owners_.insert_or_assign(which.owner, now + 2 * clock::duration(which.spec->options.lease_time));
}

} // namespace leasehold::detail
