#ifndef LEASEHOLD_SRC_CORE_ACQUIRE_LINE_ACQUIRER_HPP
#define LEASEHOLD_SRC_CORE_ACQUIRE_LINE_ACQUIRER_HPP

#include "core/acquire/acquirer.hpp"
#include "core/turn/owner_id.hpp"
#include "fsm/contention/backoff.hpp"
#include "fsm/contention/failure_row.hpp"
#include "fsm/contention/queued_contention.hpp"
#include "fsm/lease/expiry_doubt.hpp"

#include <leasehold/store.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace leasehold::detail {

/// Gets a lock from a store that keeps a line: joins it once for all who wait here, and takes the
/// lock when it is told of its turn. One owner does all that, from its first request until the
/// store has said that it has gone.
class line_acquirer final : public acquirer
{
public:
    line_acquirer(const client_parts& client, waiting& behalf) noexcept : acquirer(client, behalf)
    {}

    [[nodiscard]] bool idle() const noexcept override;
    [[nodiscard]] bool holding() const noexcept override;
    void resume(bool leaves) override;
    [[nodiscard]] bool dispensable() const noexcept override;
    [[nodiscard]] bool pausing() const noexcept override;
    void wanted() override;
    void unwanted() override;
    void hint() override;
    void turn(std::string_view owner) override;
    void listening() override;
    void settled() noexcept override;
    void connected() override;
    void disconnected() override;
    void leaving() noexcept override;
    [[nodiscard]] const acquire_request* next() override;
    void left(const release_reply* reply, clock::time_point sent,
              std::chrono::milliseconds open) override;
    void stop() override;

private:
    using machine = fsm::queued_contention;

    /// One owner, while it is there or on its way. Names at rest have none.
    struct errand
    {
        explicit errand(const owner_id& id) : owner(id) {}

        const owner_id owner;
        spec_ptr spec; ///< Of its last request; null: none was sent.
        /// Requests without an answer may run until then, or have run. Default: there are none.
        clock::time_point runs_until{};
        /// The shortest silence that one of these allows; zero: none promises to be alive.
        std::chrono::milliseconds silence{};

        /// One more request may; those before it are not forgotten over it.
        void may_run_until(clock::time_point limit, std::chrono::milliseconds grace) noexcept
        {
            runs_until = std::max(runs_until, limit);
            if (grace.count() > 0 && (silence.count() == 0 || grace < silence))
                silence = grace;
        }

        /// What is asked for then may be followed, at the store, by a request that lets others
        /// supersede the holder sooner than it knows. Zero: it knows of none.
        [[nodiscard]] bool binds(std::chrono::milliseconds grace,
                                 clock::time_point sent) const noexcept
        {
            return silence.count() > 0 && sent < runs_until &&
                   (grace.count() == 0 || silence < grace);
        }
    };

    /// The next one, while the release of the one before it carries its request.
    struct successor
    {
        errand who;
        acquire_request asked{};
    };

    void expired() override;
    void on_room(acquire_window& there) override;
    void on_reply(acquire_attempt& attempt, const acquire_reply& reply) override;
    void on_failed(acquire_attempt& attempt, effect had) override;

    void begin_wait();
    void watch(bool on);
    void perform(machine::action next);
    void held_by_other(const acquire_reply& reply);
    void sleep();
    void enter(ownership& taken, machine::action next);
    void leave();
    void end_errand();
    [[nodiscard]] bool serves_first(const spec_ptr& spec) noexcept;
    [[nodiscard]] bool bound(std::chrono::milliseconds grace,
                             clock::time_point sent) const noexcept;
    [[nodiscard]] spec_ptr spec_of_name() const;
    [[nodiscard]] bool keeps_out() const noexcept;
    errand& current();

    machine machine_;
    bool again_ = false; ///< Of the request that is to be sent.
    bool stopped_ = false;
    bool watching_ = false; ///< The holder announces its release, and tells nobody in line.
    bool restless_ = false; ///< It is the first, and the lock may end without a word, or sooner
                            ///< than the store says.
    fsm::failure_row failures_;
    std::uint32_t place_ = 0; ///< As the last answer said, and so is this.
    std::chrono::milliseconds remaining_{};
    fsm::expiry_doubt doubt_;
    std::optional<errand> errand_; // in place: each lock that is taken needs one for a while
    std::unique_ptr<successor> next_;
    fsm::backoff backoff_;
    clock::time_point open_until_{}; ///< It is left free for those who know no line.
};

} // namespace leasehold::detail

#endif
