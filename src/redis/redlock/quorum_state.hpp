#ifndef LEASEHOLD_SRC_REDIS_REDLOCK_QUORUM_STATE_HPP
#define LEASEHOLD_SRC_REDIS_REDLOCK_QUORUM_STATE_HPP

#include "core/async/context_lifetime.hpp"
#include "core/async/context_poster.hpp"
#include "core/turn/time_source.hpp"
#include "core/turn/timer_queue.hpp"
#include "fsm/contention/backoff.hpp"
#include "fsm/quorum/quorum_size.hpp"
#include "fsm/quorum/rejoin.hpp"
#include "redis/redlock/departures.hpp"
#include "redis/redlock/member.hpp"
#include "redis/redlock/partial_locks.hpp"
#include "redis/redlock/watched_names.hpp"

#include <leasehold/store.hpp>

#include <boost/intrusive/list.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leasehold::quorum {

class quorum_state;

/// A request to members. Lives until all of them have answered.
class operation : public detail::timer, public std::enable_shared_from_this<operation>
{
public:
    using hook = boost::intrusive::list_member_hook<
        boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

    virtual ~operation() = default;

    /// The owner, or its entry, is released: no further request may be sent for it.
    virtual void on_leave(const release_request& leaving) { static_cast<void>(leaving); }

    hook listed;
};

/// The state of a quorum store; all on its strand.
class quorum_state final : public member_listener,
                           public detail::context_observer,
                           public std::enable_shared_from_this<quorum_state>
{
public:
    quorum_state(std::vector<std::unique_ptr<member>> members, unsigned grants,
                 std::unique_ptr<detail::time_source> time);

    void open(const asio::any_io_executor& strand, store_listener& listener);
    void close() noexcept;
    /// As in a `store`.
    bool drain(store::drain_handler done);

    void watch(std::string_view name);
    void unwatch(std::string_view name);

    /// The record of a holder at any member that can be reached.
    void describe(std::string_view holder, store::describe_handler done);
    /// The same at each member.
    [[nodiscard]] client_info own_info() const { return members_.front().way->own_info(); }

    [[nodiscard]] std::string servers() const;

    // For operations.

    [[nodiscard]] member& at(unsigned number) noexcept { return *members_[number].way; }
    [[nodiscard]] clock::time_point now() const noexcept { return time_->now(); }
    [[nodiscard]] bool is_open() const noexcept { return listener_ != nullptr; }
    [[nodiscard]] mask reachable() const noexcept;
    [[nodiscard]] mask granting() const noexcept; ///< The members that can grant a lock.
    [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }
    /// The fence that is probably larger than all before.
    [[nodiscard]] std::uint64_t next_fence() const noexcept;
    void saw(std::uint64_t fence) noexcept { largest_ = std::max(largest_, fence); }
    void saw_epoch(std::uint64_t epoch) noexcept { epoch_ = std::max(epoch_, epoch); }
    void saw_lease(std::chrono::milliseconds lease) noexcept { lease_ = std::max(lease_, lease); }
    [[nodiscard]] clock::duration patience() const noexcept { return patience(lease_); }
    /// The maximum wait for the reply of one member that would decide.
    [[nodiscard]] static clock::duration patience(std::chrono::milliseconds lease) noexcept;

    /// A member reports that it grants nothing.
    void on_blank_member(unsigned number);
    void on_silent(unsigned number, std::chrono::milliseconds left);

    /// Releases at a member that can be reached.
    template <class Done>
    void release_at(unsigned number, const release_request& leaving, bool quiet, Done done)
    {
        at(number).async_release(leaving, quiet,
                                 [self = shared_from_this(), done = std::move(done)](
                                     error_code failed, const release_answer& answer) mutable {
                                     --self->releases_;
                                     done(failed, answer);
                                     self->end_drain();
                                 });
        ++releases_;
    }
    /// Releases there, now or when it can be reached, until it has answered.
    void leave_at(unsigned number, const departure& leaving);
    /// The release was not answered.
    void leave_later(unsigned number, departure leaving);
    /// The release of `sent` was answered. It is repeated if a request that ended without a reply
    /// may still be executed after it.
    void left(unsigned number, const release_request& leaving, clock::time_point sent);
    /// A request that may take the lock there has ended without a reply. It may be executed until
    /// `limit`, also after requests over the next connection.
    void may_run(unsigned number, std::string_view owner, std::string_view entry,
                 clock::time_point limit);

    [[nodiscard]] partial_locks& partials() noexcept { return partials_; }
    /// Creates the lock at a member that lacks it, while a majority has it. Calls `done(created)`,
    /// unless the result is false: then nothing was sent.
    bool create_at(unsigned number, const partial_locks::pointer& lock,
                   std::function<void(bool)> done);

    void add(operation& made);
    void on_leave(const release_request& leaving);
    void schedule(operation& made, clock::time_point when);
    /// Wraps a function that is called later, on the strand.
    template <class Function>
    void post(Function function)
    {
        if (poster_)
            poster_->post(std::move(function));
    }
    void set_timer();

    /// Why members do not grant: "10.0.0.1:6379: the lock server cannot be reached".
    [[nodiscard]] std::string trouble_of(unsigned number, error_code failed) const;
    [[nodiscard]] std::string server_of(unsigned number) const
    {
        return members_[number].way->server();
    }
    [[nodiscard]] bool is_granting(unsigned number) const noexcept
    {
        return contains(granting(), number);
    }
    [[nodiscard]] bool is_reachable(unsigned number) const noexcept
    {
        return members_[number].reachable;
    }

    const fsm::quorum_size size;

private:
    struct known
    {
        std::unique_ptr<member> way;
        bool reachable = false;
        bool inspected = false;           ///< It has reported its state.
        clock::time_point inspected_at{}; ///< The time of the last report.
        bool is_member = false;
        unsigned connection = 0; ///< Counts them.
        clock::time_point silent_until{};
        fsm::member_view view{};
        error_code why{};
        details_ptr details{};
        departures leaving{};
    };

    /// Makes blank servers members.
    class assembly;

    void leave_again(unsigned number);
    /// Whether all members that can be reached have answered their releases.
    [[nodiscard]] bool drained() const noexcept;
    void end_drain();
    void complete_at(unsigned number);

    void on_reachable(unsigned number) override;
    void on_unreachable(unsigned number, error_code why, const details_ptr& details) override;
    void on_member_error(unsigned number, error_code code, const diagnostics& details) override;
    void on_watching(unsigned number, std::string_view name) override;
    void on_unsubscribed(unsigned number) override;
    void on_released(unsigned number, std::string_view name, std::string_view sign,
                     std::uint64_t largest) override;
    void on_context_end() noexcept override;

    void inspect(unsigned number);
    void inspected(unsigned number, unsigned connection, error_code failed,
                   const inspect_answer& answer);
    void take_inspection(unsigned number, const inspect_answer& answer);
    void joined(unsigned number, const seed_answer& answer, std::uint64_t epoch);
    void assemble();
    // The pause before a request that a member rejected, or that failed, is retried.
    static constexpr clock::duration again_floor = std::chrono::milliseconds(200);
    static constexpr clock::duration again_ceiling = std::chrono::milliseconds(600);
    void assemble_later(clock::duration pause);
    void inspect_again();
    void wake(std::string_view name, bool at_once);
    void on_time();
    void report_releases(clock::time_point at);
    void review();
    void report_trouble();
    [[nodiscard]] error_code trouble() const noexcept;
    std::uint64_t draw();

    std::vector<known> members_;
    const std::unique_ptr<detail::time_source> time_;
    fsm::random_source random_;
    std::shared_ptr<detail::context_poster> poster_;
    store_listener* listener_ = nullptr;
    std::uint64_t epoch_ = 0;
    std::uint64_t largest_ = 0;
    std::chrono::milliseconds lease_{}; ///< The longest requested lease.
    watched_names watches_;
    boost::intrusive::list<
        operation, boost::intrusive::member_hook<operation, operation::hook, &operation::listed>,
        boost::intrusive::constant_time_size<false>>
        operations_;
    partial_locks partials_;
    detail::timer_queue timers_;
    clock::time_point assemble_at_ = clock::time_point::max();
    /// The time of the next repetition of releases at members that can be reached.
    clock::time_point leave_at_ = clock::time_point::max();
    unsigned releases_ = 0;         ///< Outstanding releases.
    store::drain_handler draining_; ///< Null: no shutdown waits for them.
    clock::time_point drain_until_ = clock::time_point::max();
    std::weak_ptr<assembly> assembling_;
    clock::time_point wakes_at_ = clock::time_point::max();
    bool stuck_ = false; ///< Blank servers could not be made members.
    unsigned tries_ = 0; ///< Attempts to make them members, in a row.
    bool online_ = false;
    bool was_online_ = false;
    std::string reported_trouble_; ///< The last trouble reported to the listener.
};

} // namespace leasehold::quorum

#endif
