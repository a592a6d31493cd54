#ifndef LEASEHOLD_SRC_CORE_ACQUIRE_REENTRY_OP_HPP
#define LEASEHOLD_SRC_CORE_ACQUIRE_REENTRY_OP_HPP

#include "core/acquire/acquire_attempt.hpp"
#include "core/async/operation.hpp"
#include "core/lease/lost_owners.hpp"
#include "core/lease/watchdog.hpp"
#include "core/release/pending_release.hpp"
#include "core/turn/turn_context.hpp"
#include "fsm/contention/backoff.hpp"
#include "fsm/contention/failure_row.hpp"

#include <leasehold/lease.hpp>

#include <boost/intrusive/list.hpp>

#include <cstdint>
#include <string>

namespace leasehold::detail {

class reentries;

/// A reentrant acquisition of a lock, under the owner that holds it. It does not wait in a queue:
/// if the owner does not hold the lock, it fails.
class reentry_op final : public timer,
                         public boost::intrusive::list_base_hook<>,
                         public boost::intrusive_ref_counter<reentry_op>,
                         private acquire_window::entry,
                         private acquire_attempt::listener
{
public:
    using handler_type = completion<error_code, lease>::handler_type;
    using list = boost::intrusive::list<reentry_op, boost::intrusive::constant_time_size<false>>;

    /// Precondition: `lock->under`.
    reentry_op(handler_type&& handler, spec_ptr lock, clock::duration patience,
               clock::time_point now);

    /// Begins. The operation is in the list `running` of `client` until it has ended.
    void start(reentries& client);

    void cancel() { fail(asio::error::operation_aborted); }
    void fail(error_code why);
    void connected();
    void disconnected(error_code why);
    void drop(error_code error) noexcept;

    [[nodiscard]] const std::string& name() const noexcept { return spec_->name; }

    completion<error_code, lease> done;

private:
    void on_answer(acquire_attempt& attempt, error_code failed,
                   const acquire_reply& reply) override;
    void expired() override;
    void on_room(acquire_window& there) override;
    [[nodiscard]] const std::string& asked_name() const noexcept override { return name(); }

    [[nodiscard]] owner_id who_id() const { return owner_id(spec_->under->id()); }
    void send();
    void pause(error_code why, const details_ptr& details = {});
    void leave();
    [[nodiscard]] details_ptr explain(error_code error) const noexcept;
    void schedule(clock::time_point next);

    const spec_ptr spec_;
    const bool once_;
    clock::time_point since_;
    const clock::time_point limit_;
    reentries* client_ = nullptr; ///< Null before the start and after the end.
    fsm::backoff backoff_;
    acquire_attempt_ptr under_way_;
    error_code last_error_;
    details_ptr last_details_; ///< The store's details of that error.
    std::uint32_t sent_ = 0;   ///< The number of requests.
    fsm::failure_row failures_;
    bool pausing_ = false; ///< The store has failed again: a connection does not end the pause.
};

/// The reentrant acquisitions of a client: its running operations, and the home of the acquired
/// holds.
class reentries final : private ownership::listener
{
public:
    reentries(turn_context& r, pending_releases& pending, acquire_windows& all, watchdog& keeper,
              const lost_owners& gone) noexcept
        : context(r), releases(pending), windows(all), lost(gone), kept_by_(keeper)
    {}

    void keep_alive(ownership& taken)
    {
        taken.belong_to(*this);
        kept_by_.async_keep_alive(taken, taken.stop.slot());
    }

    /// Calls `f` for each operation in the partition; `f` may remove it.
    template <class F>
    void each_in(store_partition partition, F f)
    {
        for (auto i = running.begin(); i != running.end();) {
            reentry_op& each = *i++;
            if (context.is_in(partition, each.name()))
                f(each);
        }
    }

    turn_context& context;
    pending_releases& releases;
    acquire_windows& windows;
    const lost_owners& lost;
    reentry_op::list running;

private:
    void release(ownership& held, const outcome_op_ptr& op) override;
    void detach(ownership& held) override;
    void on_kept_alive(ownership& held, error_code why) override;

    watchdog& kept_by_;
};

} // namespace leasehold::detail

#endif
