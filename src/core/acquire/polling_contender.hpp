#ifndef LEASEHOLD_SRC_CORE_ACQUIRE_POLLING_CONTENDER_HPP
#define LEASEHOLD_SRC_CORE_ACQUIRE_POLLING_CONTENDER_HPP

#include "core/acquire/acquire_attempt.hpp"
#include "core/acquire/acquire_window.hpp"
#include "core/lease/ownership.hpp"
#include "core/turn/timer_queue.hpp"
#include "core/turn/turn_context.hpp"
#include "fsm/contention/contention.hpp"
#include "fsm/lease/expiry_doubt.hpp"

#include <leasehold/store.hpp>

#include <chrono>
#include <string_view>

namespace leasehold::detail {

class wait_queue;

/// Contends for a name in a store without a queue: it sends an acquire, waits for a wake-up or for
/// a growing pause, and sends the next one under another owner.
class polling_contender final : private timer
{
    using machine = fsm::contention;

public:
    using state = machine::state;

    explicit polling_contender(wait_queue& queue) noexcept;
    ~polling_contender() { timer_queue::cancel(*this); }

    [[nodiscard]] bool idle() const noexcept;
    /// The lock is held, and nothing else has to be remembered until there are waiters.
    [[nodiscard]] bool dispensable() const noexcept;
    /// The store has failed again: a connection does not end the pause.
    [[nodiscard]] bool pausing() const noexcept;

    /// A waiter with these options is the first.
    void begin_wait(const lock_options& options);
    /// Continues from the events before its creation.
    void resume(state from, const acquire_attempt*) { machine_.resume(from); }
    void wanted();
    void unwanted();
    void wakeup();
    void notified(std::string_view) {}
    void gone(std::string_view) {}
    void listening() {}
    void settled() {}
    void connected() { perform(machine_.connected()); }
    void disconnected();

    /// The window has room for the request.
    void on_room(acquire_window& there);
    void granted(const acquire_attempt& attempt, ownership& taken, bool in_time);
    void held(const acquire_reply& reply);
    void late();
    void failed(const acquire_attempt&, request_effect);

    void leaving() noexcept { machine_.leaving(); }
    [[nodiscard]] const acquire_request* next() { return nullptr; }
    void left(const release_reply* reply, clock::time_point sent, std::chrono::milliseconds open);

    void stop();
    /// While idle: whether it can be destroyed. It stays subscribed for a while.
    bool rest();

private:
    void expired() override;
    void perform(machine::action next);
    void watch();
    [[nodiscard]] bool others_wait(const release_reply& reply) const noexcept;

    wait_queue& queue_;
    turn_context& context_;
    machine machine_;
    fsm::expiry_doubt doubt_;
    bool watching_ = false;
    bool lingering_ = false;
};

} // namespace leasehold::detail

#endif
