#ifndef LEASEHOLD_SRC_CORE_TURN_TURN_CONTEXT_HPP
#define LEASEHOLD_SRC_CORE_TURN_TURN_CONTEXT_HPP

#include "core/turn/known_holders.hpp"
#include "core/turn/owner_id.hpp"
#include "core/turn/reachability.hpp"
#include "core/turn/time_source.hpp"
#include "core/turn/timer_queue.hpp"
#include "fsm/contention/backoff.hpp"

#include <leasehold/client.hpp>
#include <leasehold/observer.hpp>
#include <leasehold/store.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/assert.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace leasehold::detail {

namespace asio = boost::asio;

/// A number that changes in the child when the process forks. An object with another number belongs
/// to the parent.
[[nodiscard]] std::uint64_t fork_generation() noexcept;

/// Counted on the strand, read anywhere. With one writer at a time, counting needs no locked
/// instruction: a handoff counts six times.
class counter
{
public:
    counter& operator++() noexcept { return set(value() + 1); }
    counter& operator--() noexcept { return set(value() - 1); }
    void clear() noexcept { set(0); }

    [[nodiscard]] std::uint64_t value() const noexcept
    {
        return value_.load(std::memory_order_relaxed);
    }

private:
    counter& set(std::uint64_t value) noexcept
    {
        value_.store(value, std::memory_order_relaxed);
        return *this;
    }

    std::atomic<std::uint64_t> value_ = 0;
};

/// A strand over an erased executor. The type of an `io_context` behind it is restored: a strand
/// copies its executor each time it starts work, and copies of an erased one took a tenth of a
/// handoff.
class strand
{
public:
    explicit strand(const asio::any_io_executor& inner) : strand_(over(inner)) {}

    [[nodiscard]] asio::any_io_executor executor() const
    {
        return std::visit([](const auto& s) -> asio::any_io_executor { return s; }, strand_);
    }

    /// Whether the caller runs on it.
    [[nodiscard]] bool running_in_this_thread() const noexcept
    {
        return std::visit([](const auto& s) { return s.running_in_this_thread(); }, strand_);
    }

    /// Runs `f` now if the caller is on the strand, otherwise soon.
    template <class F>
    void dispatch(F&& f) const
    {
        std::visit([&f](const auto& s) { s.execute(std::forward<F>(f)); }, strand_);
    }

    /// Runs `f` later, never inside the call.
    template <class F>
    void post(F&& f) const
    {
        std::visit([&f](const auto& s) { asio::post(s, std::forward<F>(f)); }, strand_);
    }

private:
    using io_context_executor = asio::io_context::executor_type;
    using known_strand = asio::strand<io_context_executor>;
    using erased_strand = asio::strand<asio::any_io_executor>;
    using either = std::variant<known_strand, erased_strand>;

    static either over(const asio::any_io_executor& inner)
    {
        if (const auto* known = inner.target<io_context_executor>())
            return either(std::in_place_type<known_strand>, *known);
        return either(std::in_place_type<erased_strand>, inner);
    }

    either strand_;
};

/// Work for the end of a turn.
class turn_end_work
{
public:
    virtual void at_turn_end() = 0;

protected:
    ~turn_end_work() = default;
};

/// The shared state of a client's parts: the strand, the time, the store, the counters. It is
/// independent of locks.
///
/// All except `on_strand`, `now`, `stats`, `gone` and the counters belongs to the strand, and
/// happens in a *turn*: at its end, the resulting requests are sent and the one timer is set.
class turn_context : public std::enable_shared_from_this<turn_context>
{
public:
    struct counters
    {
        counter held, waiting, acquired, handed_off, released, lost, renewed, renewals_failed,
            acquires_sent, releases_sent, orphans, watched, connects, disconnects;
    };

    /// The maximum time of a single request.
    static constexpr clock::duration request_limit = std::chrono::seconds(5);

    turn_context(const asio::any_io_executor& executor, std::shared_ptr<store> backend,
                 std::shared_ptr<observer> watching, std::unique_ptr<time_source> time);
    turn_context(const turn_context&) = delete;
    turn_context& operator=(const turn_context&) = delete;

    [[nodiscard]] clock::time_point now() const noexcept { return time_->now(); }

    /// From any thread.
    [[nodiscard]] client_stats stats() const noexcept;

    /// The time at which this turn began, or a little later: read once, so that all events of one
    /// turn have one time. On the strand.
    [[nodiscard]] clock::time_point turn_time() noexcept
    {
        BOOST_ASSERT(in_turn());
        if (turn_time_ == clock::time_point())
            turn_time_ = time_->now();
        return turn_time_;
    }

    /// Whether the context has ended, or this is the copy of a client in a forked process: nothing
    /// may be sent or posted any more.
    [[nodiscard]] bool gone() const noexcept;

    /// Whether the caller is on the strand, in a turn.
    [[nodiscard]] bool in_turn() const noexcept { return on_the_strand() && in_turn_; }

    /// Whether an exception has ended the client.
    [[nodiscard]] bool failed() const noexcept { return failed_.load(std::memory_order_relaxed); }

    /// Memory was exhausted when a cancellation was reported: the end of the next turn handles it.
    /// From any thread.
    std::atomic<bool> cancel_requested = false;

    /// The places of work at the end of a turn. They run in this order.
    enum class turn_end : std::uint8_t
    {
        client, ///< Also if `cancel_requested` is set.
        renewals,
        unused_queues,
    };

    /// Sets the work of a place. Before the first turn.
    void set_turn_end(turn_end place, turn_end_work& work) noexcept { end_of(place).work = &work; }

    /// The end of this turn does the work of that place, once. If the work itself requests that
    /// place or an earlier one, the end of the next turn does it.
    void request(turn_end place) noexcept { end_of(place).requested = true; }

    /// Runs `f` in a turn on the strand: now, if the caller is on the strand and in no turn,
    /// otherwise soon.
    template <class F>
    void on_strand(F f)
    {
        if (!gone())
            strand_->dispatch(
                entry<F, std::shared_ptr<turn_context>>{shared_from_this(), std::move(f)});
    }

    /// As `on_strand`, for an `f` that keeps the client alive itself.
    template <class F>
    void carry(F f)
    {
        if (!gone())
            strand_->dispatch(entry<F, turn_context*>{this, std::move(f)});
    }

    /// Runs `f` in a turn; the caller is on the strand, and in no turn. The client may have ended
    /// when it returns. An exception ends the client, and is passed on.
    template <class F>
    void turn(F&& f)
    {
        if (gone())
            return;
        const auto stays = shared_from_this();
        carried_turn(f);
    }

    /// The strand; the system executor if the context has ended.
    [[nodiscard]] const asio::any_io_executor& executor() const noexcept { return executor_; }

    /// The executor of handlers without one of their own: another strand, so that they delay no
    /// renewal. As above if the context has ended.
    [[nodiscard]] const asio::any_io_executor& handler_executor() const noexcept
    {
        return handler_executor_;
    }

    /// The executor that the client was constructed with. As above if the context has ended.
    [[nodiscard]] const asio::any_io_executor& inner_executor() const noexcept
    {
        return inner_executor_;
    }

    [[nodiscard]] store& locks() const noexcept
    {
        BOOST_ASSERT(in_turn());
        return *store_;
    }

    /// The capabilities of the store. From any thread.
    [[nodiscard]] const store_traits& traits() const noexcept { return traits_; }

    /// The TTL of another owner's lock, for observers. A lock of a session has none, but it does
    /// not last forever: zero means unknown.
    [[nodiscard]] std::chrono::milliseconds reported(std::chrono::milliseconds ttl) const noexcept
    {
        return traits_.session && ttl.count() < 0 ? std::chrono::milliseconds::zero() : ttl;
    }

    /// The current partition of the name in the store.
    [[nodiscard]] store_partition partition_of(std::string_view name) const noexcept
    {
        return store_->partition_of(name);
    }

    /// Whether that can be reached.
    [[nodiscard]] bool online(std::string_view name) const noexcept
    {
        return reach_.any() && reach_.online(partition_of(name));
    }

    /// Whether the name is in this partition.
    [[nodiscard]] bool is_in(store_partition partition, std::string_view name) const noexcept
    {
        return partition_of(name) == partition;
    }

    /// The error for an acquire that must not wait for a connection; none if the partition is
    /// connected or may be later. `once`: a single try does not wait. Reports an error that a retry
    /// cannot fix to each later acquire, too.
    [[nodiscard]] error_code refusal(std::string_view name, bool once) const noexcept
    {
        if (!reach_.troubled()) // called for each lock, and almost always so
            return {};
        const error_code trouble = reach_.trouble(partition_of(name));
        return once || trouble == condition::bad_request ? trouble : error_code();
    }

    /// The store's details of why the name's partition cannot be reached; null: none.
    [[nodiscard]] details_ptr trouble_details(std::string_view name) const
    {
        return reach_.any() ? reach_.details(partition_of(name)) : nullptr;
    }

    /// The server of the name, for diagnostics.
    [[nodiscard]] std::string server_of(std::string_view name) const
    {
        return store_ ? store_->server_of(partition_of(name)) : std::string();
    }

    /// The id of this client in diagnostics. From any thread.
    [[nodiscard]] std::string id() const { return uuid_.substr(0, uuid_.find('-')); }

    /// The record of this client for others.
    [[nodiscard]] client_info own_info() const
    {
        return store_ ? store_->own_info() : client_info();
    }

    /// The prefix of all of its owners.
    [[nodiscard]] const std::string& uuid() const noexcept { return uuid_; }

    /// Whether there is an observer of all events.
    [[nodiscard]] bool observed() const noexcept { return observer_of_all_ != nullptr; }
    /// Whether there is an observer of problems, and maybe of all events.
    [[nodiscard]] bool informed() const noexcept { return observer_ != nullptr; }

    template <class F>
    void notify(F&& f) const
    {
        if (observer_of_all_ != nullptr)
            std::forward<F>(f)(*observer_of_all_);
    }

    /// Calls a function of those that `observer::only_problems` lists.
    template <class F>
    void report_problem(F&& f) const
    {
        if (observer_)
            std::forward<F>(f)(*observer_);
    }

    /// A request that was sent at `sent` has its reply.
    void notify_answered(store_request request, clock::time_point sent, error_code why)
    {
        notify([&](observer& o) { o.answered(request, turn_time() - sent, why); });
    }

    /// A new owner, `<uuid of the client>:<number>`.
    [[nodiscard]] owner_id make_owner();

    timer_queue timers;
    fsm::random_source random;
    counters counts;
    known_holders holders;

protected:
    ~turn_context() = default;

    /// Called when an exception has ended a turn. Must not allocate.
    virtual void on_turn_failed() noexcept = 0;

    void start_time();
    void stop_time() noexcept;
    void forget_strand() noexcept;

    std::shared_ptr<store> store_;
    std::atomic<bool> dead_ = false;
    std::atomic<bool> failed_ = false;
    reachability reach_;

private:
    template <class F, class Self>
    struct entry
    {
        Self self;
        F f;

        void operator()()
        {
            // An observer may use handles: the operations that it starts wait for the end of the
            // turn that called it.
            turn_context& r = *self;
            if (r.in_turn_)
                r.strand_->post(std::move(*this));
            else if (!r.gone())
                r.carried_turn(f);
        }
    };

    /// Runs a turn. The caller keeps the client alive.
    template <class F>
    void carried_turn(F& f)
    {
        BOOST_ASSERT(on_the_strand() && !in_turn_);
        in_turn_ = true;
        turn_time_ = {};
        try {
            f();
            end_turn();
        }
        catch (...) {
            fail_turn();
            throw;
        }
    }

    [[nodiscard]] bool on_the_strand() const noexcept
    {
        return strand_ && strand_->running_in_this_thread();
    }

    struct end_place
    {
        turn_end_work* work = nullptr;
        bool requested = false;
    };
    [[nodiscard]] end_place& end_of(turn_end place) noexcept
    {
        return ends_[static_cast<std::size_t>(place)];
    }

    void end_turn();
    void fail_turn() noexcept;
    void wake();

    const store_traits traits_;
    std::optional<strand> strand_; // empty if the context has ended
    asio::any_io_executor executor_;
    asio::any_io_executor handler_executor_;
    asio::any_io_executor inner_executor_;
    const std::shared_ptr<observer> observer_;
    observer* const observer_of_all_; ///< Null if it needs problems only.
    std::unique_ptr<time_source> time_;
    std::string uuid_;
    std::uint64_t owners_ = 0;
    std::uint64_t generation_;
    clock::time_point turn_time_{};
    clock::time_point wake_at_ = clock::time_point::max();
    std::array<end_place, 3> ends_;
    bool in_turn_ = false;
    bool timed_ = false;
};

} // namespace leasehold::detail

#endif
