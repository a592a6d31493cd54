#ifndef LEASEHOLD_SRC_CORE_RELEASE_PENDING_RELEASES_HPP
#define LEASEHOLD_SRC_CORE_RELEASE_PENDING_RELEASES_HPP

#include "core/lock_spec.hpp"
#include "core/async/outcome_op.hpp"
#include "core/turn/turn_context.hpp"
#include "fsm/release_retry.hpp"

#include <boost/intrusive/list.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include <string>

namespace leasehold::detail {

class attempt;
class contender;
class hold;

/// What is to be given back to the store and is not known to be back: leases that were released, and orphans, which may or may not have been taken.
/// Each is repeated until the store has answered or its time to live has passed; where something else may have prolonged that, until the answer.
class returns
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

    returns(runtime& r, listener& told) noexcept : runtime_(r), listener_(told) {}

    /// Leaves what a hold holds.
    /// @param reason What `waiting` is told when the release succeeds.
    /// @param place  Is told once, when the store has answered or cannot; may be null.
    void leave(const hold& which, outcome_op_ptr waiting, error_code reason, contender* place);

    class item;
    using item_ptr = boost::intrusive_ptr<item>;

    /// Gives back what an attempt may have taken, or may still take.
    item_ptr orphan(const attempt& which);

    /// The store can be reached again.
    void connected();

    /// Completes what was cancelled unheard.
    void hear();

    [[nodiscard]] bool empty() const noexcept { return list_.empty(); }

    /// Gives up: completes what waits with `why`.
    void give_up(error_code why);

    /// Forgets everything. Who waits is told this error, or nothing when it is none.
    void drop(error_code told) noexcept;

    /// One owner, or one entry, on its way back.
    class item final : public timer, public boost::intrusive::list_base_hook<>, public boost::intrusive_ref_counter<item>
    {
    public:
        item(returns& list, spec_ptr what, std::string who, std::string entered, fsm::release steps)
            : spec(std::move(what)), owner(std::move(who)), entry(std::move(entered)), list_(list), steps_(steps)
        {}

        void start() { act(steps_.due(list_.runtime_.now(), list_.runtime_.online())); }
        void connected() { act(steps_.connected(list_.runtime_.now())); }

        /// The answer to the attempt of an orphan has come after all: it took the lock, or it did not and never will.
        void settle(bool taken);

        void give_up(error_code why);
        void drop(error_code told) noexcept;

        const spec_ptr spec;
        const std::string owner;
        const std::string entry;
        outcome_op_ptr waiting;
        error_code reason;          ///< Of a loss that came before the release.
        contender* place = nullptr; ///< To be told of the first answer.
        bool orphan = false;

    private:
        void act(fsm::release::action what);
        void send();
        void answered(unsigned request, error_code failed, const release_reply& reply);
        void expired() override;
        [[nodiscard]] error_code outcome() const;
        void tell_place(bool others);
        void tell();
        void complete(error_code why);

        returns& list_;
        fsm::release steps_;
        clock::time_point give_up_at_ = clock::time_point::max(); ///< The request under way.
        unsigned request_ = 0;
        bool listed_ = true;
    };

private:
    void add(item_ptr added);

    runtime& runtime_;
    listener& listener_;
    boost::intrusive::list<item, boost::intrusive::constant_time_size<false>> list_;
};

} // namespace leasehold::detail

#endif
