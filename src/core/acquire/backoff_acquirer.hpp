#ifndef LEASEHOLD_SRC_CORE_ACQUIRE_BACKOFF_ACQUIRER_HPP
#define LEASEHOLD_SRC_CORE_ACQUIRE_BACKOFF_ACQUIRER_HPP

#include "core/acquire/acquirer.hpp"
#include "fsm/contention/contention.hpp"
#include "fsm/lease/expiry_doubt.hpp"

#include <chrono>

namespace leasehold::detail {

/// Gets a lock from a store without a line: asks, waits for a hint of its release or a pause that
/// grows, and asks again, each time under another owner.
class backoff_acquirer final : public acquirer
{
public:
    backoff_acquirer(const client_parts& client, waiting& behalf) noexcept
        : acquirer(client, behalf)
    {}

    [[nodiscard]] bool idle() const noexcept override;
    [[nodiscard]] bool holding() const noexcept override;
    void resume(bool leaves) override;
    [[nodiscard]] bool dispensable() const noexcept override;
    [[nodiscard]] bool pausing() const noexcept override;
    void wanted() override;
    void unwanted() override;
    void hint() override;
    void connected() override;
    void disconnected() override;
    void leaving() noexcept override { contention_.leaving(); }
    void left(const release_reply* reply, clock::time_point sent,
              std::chrono::milliseconds open) override;
    void stop() override;
    bool rest() override;

private:
    void expired() override;
    void on_room(acquire_window& there) override;
    void on_reply(acquire_attempt& attempt, const acquire_reply& reply) override;
    void on_failed(acquire_attempt& attempt, effect had) override;

    void begin_wait();
    void perform(fsm::contention::action next);
    void granted(acquire_attempt& attempt, const acquire_reply& reply);
    void held_by_other(const acquire_reply& reply);
    void watch();
    [[nodiscard]] bool others_wait(const release_reply& reply) const noexcept;

    fsm::contention contention_;
    fsm::expiry_doubt doubt_;
    bool watching_ = false;
    bool lingering_ = false;
};

} // namespace leasehold::detail

#endif
