#ifndef LEASEHOLD_SRC_CORE_ACQUIRE_ACQUIRER_HPP
#define LEASEHOLD_SRC_CORE_ACQUIRE_ACQUIRER_HPP

#include "core/acquire/acquire_attempt.hpp"
#include "core/acquire/acquire_window.hpp"
#include "core/acquire/acquirer_pool.hpp"
#include "core/lease/lock_spec.hpp"
#include "core/lease/ownership.hpp"
#include "core/release/pending_release.hpp"
#include "core/turn/owner_id.hpp"
#include "core/turn/timer_queue.hpp"
#include "core/turn/turn_context.hpp"

#include <leasehold/store.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace leasehold::detail {

/// How the lock of one name comes to this client from the store, and goes back: one acquire at a
/// time, on behalf of all who wait for it here. How it contends with other clients is up to those
/// that derive from it, as the store allows.
class acquirer : protected timer, protected acquire_window::entry, private acquire_attempt::listener
{
public:
    /// Who waits here, and is told how it goes.
    class waiting : public pending_release::listener
    {
    public:
        [[nodiscard]] virtual const std::string& name() const noexcept = 0;

        /// Somebody waits.
        [[nodiscard]] virtual bool wanted() const noexcept = 0;
        /// Somebody waits for longer than one try.
        [[nodiscard]] virtual bool patient() const noexcept = 0;
        /// Who holds the lock is to be found out.
        [[nodiscard]] virtual bool asks_holder() const noexcept = 0;
        /// What the first who waits has asked for.
        [[nodiscard]] virtual const spec_ptr& first() noexcept = 0;

        /// This owner is what it holds here.
        [[nodiscard]] virtual bool holds(std::string_view owner) const noexcept = 0;

        /// The store has granted it, in time or not.
        virtual void on_granted() = 0;
        /// It is held, and serves the first who waits.
        virtual void on_taken(ownership& taken) = 0;
        virtual void on_held(const acquire_reply& reply) = 0;
        virtual void on_refused(error_code why, const details_ptr& details) = 0;
        /// Trying again does not help.
        virtual void on_hopeless(error_code why, const details_ptr& details) = 0;
        /// The store granted it, but fewer replicas than this have confirmed that.
        virtual void on_unconfirmed(std::uint32_t asked, const details_ptr& details) = 0;
        /// It may be unused.
        virtual void on_rest() = 0;

    protected:
        ~waiting() = default;
    };

    /// What all of a client work with.
    struct client_parts
    {
        turn_context& context;
        pending_releases& releases;
        acquire_windows& windows;
        acquirer_pool& pool;
    };

    struct give_back
    {
        void operator()(acquirer* one) const noexcept;
    };
    using pointer = std::unique_ptr<acquirer, give_back>;

    /// As the store allows.
    [[nodiscard]] static pointer make(const client_parts& client, waiting& behalf);

    virtual ~acquirer() { timer_queue::cancel(*this); }
    acquirer(const acquirer&) = delete;
    acquirer& operator=(const acquirer&) = delete;

    [[nodiscard]] virtual bool idle() const noexcept = 0;
    [[nodiscard]] virtual bool holding() const noexcept = 0;

    /// The lock is held, or is being left, without an acquirer; this one goes on from there.
    virtual void resume(bool leaves) = 0;
    /// The lock is held, and nothing else is to be remembered: while nobody waits it can do without
    /// an acquirer.
    [[nodiscard]] virtual bool dispensable() const noexcept = 0;

    /// The store has failed again, and no connection shortens the pause.
    [[nodiscard]] virtual bool pausing() const noexcept = 0;

    /// Somebody waits now.
    virtual void wanted() = 0;
    /// Nobody waits any more.
    virtual void unwanted() = 0;

    /// The store says that the name may be free.
    virtual void hint() {}
    /// The store says that this owner may have its turn.
    virtual void turn(std::string_view owner) { static_cast<void>(owner); }

    /// Turns may have been missed.
    virtual void listening() {}

    /// Requests of before that were not answered have run, or never will.
    virtual void settled() noexcept {}
    virtual void connected() = 0;
    virtual void disconnected() = 0;

    /// What is held is being given back, or was lost.
    virtual void leaving() noexcept = 0;
    /// What the release of it carries; null: nothing.
    [[nodiscard]] virtual const acquire_request* next() { return nullptr; }
    /// As `pending_release::listener::on_left`.
    virtual void left(const release_reply* reply, clock::time_point sent,
                      std::chrono::milliseconds open) = 0;

    /// For good; what may be held, or may be in line, is given back.
    virtual void stop() = 0;
    /// For good; nothing is given back.
    void drop() noexcept;

    /// It is idle, and may go: true, or false when it lingers.
    virtual bool rest() { return true; }

    /// Requests so far.
    [[nodiscard]] std::uint32_t requests() const noexcept { return requests_; }
    /// One of them is under way.
    [[nodiscard]] bool asks() const noexcept { return under_way_ != nullptr; }
    [[nodiscard]] bool waits_for_room() const noexcept { return waits_for_window(); }

protected:
    acquirer(const client_parts& client, waiting& behalf) noexcept
        : client_(client), behalf_(behalf)
    {}

    /// Calls `on_room`, now or when an acquire may be sent.
    void ask_for_room()
    {
        timer_queue::cancel(*this);
        client_.windows.enter(*this);
    }

    /// Sends an acquire. There is room in the window.
    void send(acquire_window& through, spec_ptr lock, const owner_id& owner,
              const acquire_attempt::terms& asked);

    [[nodiscard]] turn_context& context() const noexcept { return client_.context; }
    [[nodiscard]] const std::string& name() const noexcept { return behalf_.name(); }
    [[nodiscard]] bool online() const noexcept { return context().online(name()); }

    /// What is under way is not waited for any more.
    [[nodiscard]] acquire_attempt_ptr forget_attempt() noexcept
    {
        return std::exchange(under_way_, nullptr);
    }

    /// How many fences are asked for: one for each lease of a local chain.
    [[nodiscard]] static std::uint32_t fences(const lock_options& options) noexcept;

    /// The store has answered.
    virtual void on_reply(acquire_attempt& attempt, const acquire_reply& reply) = 0;
    /// What a request that failed may have done all the same.
    enum class effect : std::uint8_t
    {
        none,
        may_run, ///< It may have run, or may still run.
        has_run,
    };
    /// It has not, or has refused. Who waits has been told.
    virtual void on_failed(acquire_attempt& attempt, effect had) = 0;

    const client_parts& client_;
    waiting& behalf_;

private:
    void on_answer(acquire_attempt& attempt, error_code failed, const acquire_reply& reply) final;
    void on_failure(acquire_attempt& attempt, error_code failed, const acquire_reply& reply);
    [[nodiscard]] const std::string& asked_name() const noexcept final { return name(); }

    acquire_attempt_ptr under_way_;
    std::uint32_t requests_ = 0;
};

} // namespace leasehold::detail

#endif
