#ifndef LEASEHOLD_SRC_CORE_RELEASE_PENDING_RELEASES_HPP
#define LEASEHOLD_SRC_CORE_RELEASE_PENDING_RELEASES_HPP

#include "core/async/outcome_op.hpp"
#include "core/lock_spec.hpp"
#include "core/turn/turn_context.hpp"
#include "fsm/release_retry.hpp"

#include <boost/intrusive/list.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include <string>

namespace leasehold::detail {

class acquire_attempt;
class wait_queue;
class ownership;

/// What is to be given back to the store and is not known to be back: leases that were released,
/// and orphans, which may or may not have been taken. Each is repeated until the store has answered
/// or its time to live has passed; where something else may have prolonged that, until the answer.
class pending_releases
{
public:
    class listener
    {
    public:
        virtual void on_answer() = 0;       ///< The store serves what is given back.
        virtual void on_all_returned() = 0; ///< Nothing is left to be given back.

    protected:
        ~listener() = default;
    };

    pending_releases(turn_context& r, listener& told) noexcept : context_(r), listener_(told) {}

    /// Leaves what a hold holds.
    /// @param reason What `waiting` is told when the release succeeds.
    /// @param place  Is told once, when the store has answered or cannot; may be null.
    void leave(const ownership& held, outcome_op_ptr waiting, error_code reason, wait_queue* place);

    class pending_release;
    using pending_release_ptr = boost::intrusive_ptr<pending_release>;

    /// Gives back what an attempt may have taken, or may still take.
    pending_release_ptr orphan(const acquire_attempt& attempt);

    /// The store can be reached again.
    void connected();

    /// Completes what was cancelled unheard.
    void complete_cancelled();

    [[nodiscard]] bool empty() const noexcept { return list_.empty(); }

    /// Gives up: completes what waits with `why`.
    void give_up(error_code why);

    /// Forgets everything. Who waits is told this error, or nothing when it is none.
    void drop(error_code told) noexcept;

    /// One owner, or one entry, on its way back.
    class pending_release final : public timer,
                                  public boost::intrusive::list_base_hook<>,
                                  public boost::intrusive_ref_counter<pending_release>
    {
    public:
        pending_release(pending_releases& list, spec_ptr lock, std::string owner_id,
                        std::string entered, fsm::release steps)
            : spec(std::move(lock)),
              owner(std::move(owner_id)),
              entry(std::move(entered)),
              list_(list),
              steps_(steps)
        {}

        void start() { act(steps_.due(list_.context_.now(), list_.context_.online())); }
        void connected() { act(steps_.connected(list_.context_.now())); }

        /// The answer to the attempt of an orphan has come after all: it took the lock, or it did
        /// not and never will.
        void settle(bool taken);

        void give_up(error_code why);
        void drop(error_code told) noexcept;

        const spec_ptr spec;
        const std::string owner;
        const std::string entry;
        outcome_op_ptr waiting;
        error_code reason;           ///< Of a loss that came before the release.
        wait_queue* place = nullptr; ///< To be told of the first answer.
        bool orphan = false;

    private:
        void act(fsm::release::action next);
        void send();
        void answered(unsigned request, error_code failed, const release_reply& reply);
        void expired() override;
        [[nodiscard]] error_code outcome() const;
        void tell_place(bool others);
        void tell();
        void complete(error_code why);

        pending_releases& list_;
        fsm::release steps_;
        clock::time_point give_up_at_ = clock::time_point::max(); ///< The request under way.
        unsigned request_ = 0;
        bool listed_ = true;
    };

private:
    void add(pending_release_ptr added);

    turn_context& context_;
    listener& listener_;
    boost::intrusive::list<pending_release, boost::intrusive::constant_time_size<false>> list_;
};

} // namespace leasehold::detail

#endif
