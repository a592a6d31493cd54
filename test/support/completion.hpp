#ifndef LEASEHOLD_TEST_SUPPORT_COMPLETION_HPP
#define LEASEHOLD_TEST_SUPPORT_COMPLETION_HPP

#include "support/counting_allocator.hpp"
#include "support/initiation_guard.hpp"
#include "support/tracker_executor.hpp"

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace leasehold::test {

/// One asynchronous operation as a test sees it: its handler has an executor, an allocator and a
/// cancellation slot of its own and records how it was called.
///
///   completion<error_code, lease> got(context.get_executor());
///   got.start([&](auto token) { m.async_lock(std::move(token)); });
///   run_until(context, [&] { return got.done(); });
///   BOOST_TEST(!got.value<0>());
///   BOOST_TEST(got.proper());
///
/// `start` is called once. It outlives the operation, or the operation's context has ended.
template <class... Values>
class completion
{
    struct state
    {
        std::mutex mutex;
        int calls = 0;
        std::optional<std::tuple<Values...>> values;
        bool inside = false;
        bool elsewhere = false;
        std::size_t memory = 0;
    };

public:
    class handler
    {
    public:
        using executor_type = tracker_executor;
        using allocator_type = counting_allocator<>;
        using cancellation_slot_type = boost::asio::cancellation_slot;

        executor_type get_executor() const noexcept { return executor_; }
        allocator_type get_allocator() const noexcept { return allocator_; }
        cancellation_slot_type get_cancellation_slot() const noexcept { return slot_; }

        void operator()(Values... values)
        {
            const std::lock_guard lock(state_->mutex);
            ++state_->calls;
            state_->values.emplace(std::move(values)...);
            state_->inside |= probe_.inside();
            state_->elsewhere |= !executor_.running_here();
            state_->memory = allocator_.live();
        }

    private:
        friend class completion;
        handler(std::shared_ptr<state> to, initiation_guard::probe_t probe, const completion& from,
                boost::asio::cancellation_slot slot)
            : state_(std::move(to)),
              probe_(std::move(probe)),
              executor_(from.executor_),
              allocator_(from.allocator_),
              slot_(slot),
              alive_(from.alive_)
        {}

        std::shared_ptr<state> state_;
        initiation_guard::probe_t probe_;
        tracker_executor executor_;
        counting_allocator<> allocator_;
        boost::asio::cancellation_slot slot_;
        std::shared_ptr<void> alive_;
    };

    explicit completion(const boost::asio::any_io_executor& executor) : executor_(executor) {}
    completion(const completion&) = delete;
    completion& operator=(const completion&) = delete;

    /// Calls `initiate` with the handler.
    template <class Initiate>
    void start(Initiate initiate)
    {
        const initiation_guard guard;
        initiate(handler(state_, guard.probe(), *this, signal_.slot()));
    }

    /// Emits on the calling thread.
    void cancel(boost::asio::cancellation_type type = boost::asio::cancellation_type::terminal)
    {
        signal_.emit(type);
    }

    bool done() const { return calls() > 0; }

    int calls() const
    {
        const std::lock_guard lock(state_->mutex);
        return state_->calls;
    }

    /// Whether the handler was called, or destroyed without a call.
    bool handler_gone() const { return alive_.use_count() == 1; }

    /// Whether it was called once, not inside the initiating function, on its executor, with all
    /// memory from its allocator freed.
    bool proper() const
    {
        const std::lock_guard lock(state_->mutex);
        return state_->calls == 1 && !state_->inside && !state_->elsewhere && state_->memory == 0;
    }

    bool inside_initiation() const
    {
        const std::lock_guard lock(state_->mutex);
        return state_->inside;
    }

    bool off_executor() const
    {
        const std::lock_guard lock(state_->mutex);
        return state_->elsewhere;
    }

    /// The result after completion. The reference remains valid.
    template <std::size_t I>
    auto& value()
    {
        const std::lock_guard lock(state_->mutex);
        if (!state_->values)
            throw std::logic_error("the operation has not completed");
        return std::get<I>(*state_->values);
    }

    const tracker_executor& executor() const noexcept { return executor_; }
    const counting_allocator<>& allocator() const noexcept { return allocator_; }

private:
    std::shared_ptr<state> state_ = std::make_shared<state>();
    tracker_executor executor_;
    counting_allocator<> allocator_;
    boost::asio::cancellation_signal signal_;
    std::shared_ptr<void> alive_ = std::make_shared<char>();
};

} // namespace leasehold::test

#endif
