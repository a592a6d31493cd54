#include "core/client_state.hpp"

#include "base/mutant.hpp"
#include "core/async/operation.hpp"
#include "core/diagnostics/failure_details.hpp"

#include <boost/asio/cancellation_type.hpp>
#include <boost/assert.hpp>

#include <utility>

namespace leasehold::detail {
namespace {

// Maximum time of a shutdown without a reply of the store.
constexpr clock::duration shutdown_limit = std::chrono::seconds(5);
constexpr clock::duration cancel_limit = std::chrono::seconds(1);

} // namespace

std::shared_ptr<client_state> client_state::make(const asio::any_io_executor& executor,
                                                 std::shared_ptr<store> backend,
                                                 std::shared_ptr<observer> watching,
                                                 std::unique_ptr<time_source> time,
                                                 std::size_t acquires)
{
    auto made = std::make_shared<client_state>(executor, std::move(backend), std::move(watching),
                                               std::move(time), acquires);
    // After the creation of the strand: services are shut down in the reverse order of their
    // creation, and this one must report the end of the context first.
    asio::use_service<context_lifetime>(asio::query(executor, asio::execution::context))
        .add(std::shared_ptr<context_observer>(made, static_cast<context_observer*>(made.get())));
    return made;
}

client_state_ptr make_client_state(const asio::any_io_executor& executor,
                                   std::shared_ptr<store> backend,
                                   std::shared_ptr<observer> watching,
                                   std::unique_ptr<time_source> time, std::size_t acquires)
{
    return client_state::make(executor, std::move(backend), std::move(watching), std::move(time),
                              acquires == 0 ? acquire_window::usual_limit : acquires);
}

client_state::client_state(const asio::any_io_executor& executor, std::shared_ptr<store> backend,
                           std::shared_ptr<observer> watching, std::unique_ptr<time_source> time,
                           std::size_t acquires)
    : turn_context(executor, std::move(backend), std::move(watching), std::move(time)),
      windows_(*this, acquires),
      releases_(*this),
      watchdog_(*this, lost_owners_),
      queues_(*this, releases_, windows_, watchdog_),
      reentries_(*this, releases_, windows_, watchdog_, lost_owners_),
      stop_limit_(*this)
{
    set_turn_end(turn_end::client, *this);
}

client_state::~client_state()
{
    timers.clear();
}

error_code client_state::ready() const noexcept
{
    switch (phase_.load(std::memory_order_acquire)) {
    case phase::fresh: return errc::not_running;
    case phase::running: return {};
    case phase::stopping: break;
    }
    return errc::shut_down;
}

void client_state::run(completion<error_code>::handler_type&& handler)
{
    auto expected = phase::fresh;
    if (!phase_.compare_exchange_strong(expected, phase::running)) {
        const auto why = expected == phase::running ? errc::already_running : errc::shut_down;
        return completion<error_code>::immediate(std::move(handler), handler_executor(), why);
    }
    try {
        const outcome_op_ptr op(new outcome_op(std::move(handler)));
        if (auto& slot = op->done.slot(); slot.is_connected()) {
            slot.assign([weak = weak_from_this()](asio::cancellation_type type) {
                if (const auto self = weak.lock(); self && type != asio::cancellation_type::none)
                    static_cast<client_state&>(*self).cancel();
            });
        }
        on_strand([this, going = posted_op(op)]() mutable {
            going.arrive(*this, [this](const outcome_op_ptr& arrived) {
                run_ = arrived;
                opened_ = true;
                running_ = shared_from_this();
                start_time();
                store_->open(executor(), *this);
                if (stopped_)
                    stopped(stop_outcome_); // since the call of `run`
            });
        });
    }
    catch (...) {
        expected = phase::running;
        phase_.compare_exchange_strong(expected, phase::fresh); // it may be called again
        throw;
    }
}

void client_state::shutdown(completion<error_code>::handler_type&& handler)
{
    const outcome_op_ptr op(new outcome_op(std::move(handler)));
    cancel_by_slot(*this, op);
    no_more_locks();
    on_strand([this, going = posted_op(op)]() mutable {
        going.arrive(*this, [this](const outcome_op_ptr& arrived) {
            shutdowns_.push_back(arrived);
            stop(shutdown_limit);
        });
    });
}

void client_state::cancel() noexcept
{
    no_more_locks();
    try {
        on_strand([this] { cancel_now(); });
    }
    catch (...) {
        // Memory is exhausted: the end of the next turn cancels.
        cancel_at_turn_end_.store(true, std::memory_order_relaxed);
        cancel_requested.store(true, std::memory_order_release);
    }
}

void client_state::cancel_now()
{
    if (run_)
        run_outcome_ = asio::error::operation_aborted;
    patient_ = false;
    stop(cancel_limit);
}

void client_state::lock(lock_op& op)
{
    if (stopping_)
        return op.done(errc::shut_down, lease());
    queues_.at(op.spec->name).enqueue(op);
}

void client_state::reenter(reentry_op& op)
{
    if (stopping_)
        return op.done(errc::shut_down, lease());
    op.start(reentries_);
}

void client_state::release(lease_state& lease, const outcome_op_ptr& waiting)
{
    ownership& held = *lease.held;
    if (lease.active())
        watchdog_.check(held); // an expired lock must not be handed off
    if (!lease.active())
        return release_lost(lease, waiting);
    BOOST_ASSERT(held.current() == &lease);
    held.belongs_to().release(held, waiting);
}

void client_state::release_lost(const lease_state& lease, const outcome_op_ptr& waiting)
{
    const ownership& held = *lease.held;
    const error_code reason = lease.released() ? error_code(errc::not_owner) : lease.loss();
    details_ptr details = waiting && waiting->done.explained() ? held.loss_details(*this, reason)
                                                               : nullptr;
    // The key outlives the lease by the margin for clock drift. The release removes it, and reports
    // whether another owner holds the lock. A lock that may outlast its lease is released already.
    const bool releasing = held.may_outlast() || traits().session;
    if (reason == errc::expired && waiting && !releasing && online(held.spec->name))
        return releases_.leave(held, {.waiting = waiting, .reason = reason, .details = details});
    if (waiting)
        waiting->complete(reason, std::move(details));
}

template <class F>
void client_state::each_queue_in(store_partition partition, F f)
{
    for (wait_queue& each : queues_.all()) {
        if (is_in(partition, each.name()))
            f(each);
    }
}

void client_state::on_wakeup(std::string_view name)
{
    turn([&] {
        if (wait_queue* const found = queues_.find(name))
            found->wakeup();
    });
}

void client_state::on_grant(std::string_view name, std::string_view owner)
{
    turn([&] {
        if (!stopping_) // a stop releases all owners in queues
            queues_.at(name).notified(owner);
    });
}

void client_state::on_gone(std::string_view name, std::string_view owner)
{
    turn([&] {
        watchdog_.gone(name, owner);
        if (wait_queue* const waiting = queues_.find(name))
            waiting->gone(owner);
    });
}

void client_state::on_listening(store_partition partition)
{
    turn([this, partition] {
        each_queue_in(partition, [](wait_queue& each) { each.listening(); });
    });
}

void client_state::on_settled(store_partition partition)
{
    turn([this, partition] {
        releases_.settled(partition);
        each_queue_in(partition, [](wait_queue& each) { each.settled(); });
    });
}

void client_state::on_connected(store_partition partition)
{
    turn([this, partition] {
        reach_.connected(partition);
        ++counts.connects;
        report_problem([](observer& o) { o.connected(); });
        // Releases first: other owners may wait for these locks.
        releases_.connected(partition);
        watchdog_.connected(partition);
        each_queue_in(partition, [](wait_queue& each) { each.connected(); });
        reentries_.each_in(partition, [](reentry_op& each) { each.connected(); });
        windows_.follow_names();
    });
}

void client_state::on_disconnected(store_partition partition, error_code why)
{
    turn([this, partition, why = why ? why : error_code(errc::store_unavailable)] {
        if (reach_.disconnected(partition, why))
            ++counts.disconnects;
        report_problem([why](observer& o) { o.disconnected(why); });
        each_queue_in(partition, [why](wait_queue& each) { each.disconnected(why); });
        reentries_.each_in(partition, [why](reentry_op& each) { each.disconnected(why); });
    });
}

void client_state::on_error(store_partition partition, error_code code, const diagnostics& details)
{
    turn([&] {
        if (details.key.empty()) // of the partition; the reply of a request has its own details
            reach_.store_details(partition, code, copy_details(details));
        report_problem([&](observer& o) { o.store_error(code, details); });
    });
}

void client_state::no_more_locks() noexcept
{
    phase_.store(phase::stopping, std::memory_order_release);
}

void client_state::stop(clock::duration grace)
{
    if (stopped_)
        return stopped(stop_outcome_);
    const auto limit = turn_time() + grace;
    if (stopping_) {
        if (limit < stop_limit_.due())
            timers.schedule(stop_limit_, limit);
        return;
    }
    refuse_waiting();
    release_all();
    releases_.try_now(); // the next retry may be after the limit of the stop
    stopping_ = true;
    request(turn_end::client);
    timers.schedule(stop_limit_, limit);
    if (releases_.empty())
        drain();
}

void client_state::go_on_stopping()
{
    if (releases_.empty())
        return drain();
    const auto limit = releases_.last_answer() + shutdown_limit;
    if (patient_ && limit > stop_limit_.due())
        timers.schedule(stop_limit_, limit);
}

// All releases have completed. A store of several servers may still wait for some of them.
void client_state::drain()
{
    if (draining_)
        return;
    draining_ = opened_ && store_->async_drain([weak = weak_from_this()] {
        const auto stays = std::static_pointer_cast<client_state>(weak.lock());
        if (!stays || stays->stopped_)
            return;
        stays->turn([&client = *stays] {
            client.draining_ = false;
            if (client.releases_.empty())
                client.stopped({});
        });
    });
    if (!draining_)
        stopped({});
}

/// Ends all leases, and releases what they held.
void client_state::release_all()
{
    watchdog_.detach_marked();
    while (const ownership_ptr held = watchdog_.first()) {
        held->end_lost(*this, errc::shut_down);
        held->stop.emit(asio::cancellation_type::terminal);
        if (!has(mutant::shutdown_keeps))
            releases_.leave(*held, {});
    }
}

void client_state::refuse_waiting()
{
    for (wait_queue& each : queues_.all()) {
        if (!has(mutant::waiters_not_refused))
            each.fail_all(errc::shut_down);
        each.stop();
    }
    while (!reentries_.running.empty())
        reentries_.running.front().fail(errc::shut_down);
}

void client_state::stopped(error_code outcome)
{
    if (!std::exchange(stopped_, true)) {
        releases_.give_up(errc::shut_down);
        queues_.clear();
        counts.watched.clear();
        timers.clear();
    }
    // The program may still release a lease that has ended. That must not wait for a closed store.
    reach_.clear();
    if (std::exchange(opened_, false)) {
        stop_time();
        store_->close();
    }
    if (run_)
        std::exchange(run_, nullptr)->complete(run_outcome_);
    for (auto& each : std::exchange(shutdowns_, {}))
        each->complete(outcome);
    running_.reset();
}

// Completes operations whose cancellation is only marked.
void client_state::complete_cancelled()
{
    for (wait_queue& each : queues_.all())
        each.complete_cancelled();
    for (auto i = reentries_.running.begin(); i != reentries_.running.end();) {
        if (reentry_op& each = *i++; each.done.cancel_requested)
            each.cancel();
    }
    watchdog_.complete_cancelled();
    releases_.complete_cancelled();
    for (const outcome_op_ptr& each : shutdowns_)
        if (each->done.cancel_requested)
            each->cancel();
}

void client_state::at_turn_end()
{
    if (cancel_requested.exchange(false, std::memory_order_acquire)) {
        complete_cancelled();
        if (cancel_at_turn_end_.exchange(false))
            cancel_now();
    }
    if (stopping_ && !stopped_) {
        go_on_stopping();
        request(turn_end::client);
    }
}

// An exception has left the state of the client inconsistent, so nothing more is sent. The leases
// end now, and the locks in the store end with their TTL.
void client_state::on_turn_failed() noexcept
{
    no_more_locks();
    stopping_ = stopped_ = true;
    reach_.clear();
    run_outcome_ = errc::shut_down;
    stop_outcome_ = errc::store_unavailable;
    drop_all(errc::shut_down);
    for (counter* each : {&counts.held, &counts.waiting, &counts.orphans, &counts.watched})
        each->clear();
    if (std::exchange(opened_, false)) {
        stop_time();
        try {
            store_->close();
        }
        catch (...) {
            // The store is not used any more.
        }
    }
    running_.reset();
}

void client_state::drop_all(error_code error) noexcept
{
    for (wait_queue& each : queues_.all())
        each.drop(error);
    while (!reentries_.running.empty())
        reentries_.running.front().drop(error);
    watchdog_.drop(error);
    releases_.drop(error);
    timers.clear();
    queues_.clear();
    if (run_)
        std::exchange(run_, nullptr)->done.end(error);
    for (auto& each : std::exchange(shutdowns_, {}))
        each->done.end(error ? error_code(errc::store_unavailable) : error_code());
}

void client_state::on_context_end() noexcept
{
    // Nothing may be posted any more, so no handler can be called. The handlers are destroyed, as
    // the context does with its own.
    const auto stays = shared_from_this();
    running_.reset();
    dead_.store(true, std::memory_order_release);
    reach_.clear();
    drop_all({});
    stop_time();
    if (store_) {
        if (std::exchange(opened_, false))
            store_->close();
        store_.reset();
    }
    forget_strand();
}

} // namespace leasehold::detail
