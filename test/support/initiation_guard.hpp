#ifndef LEASEHOLD_TEST_SUPPORT_INITIATION_GUARD_HPP
#define LEASEHOLD_TEST_SUPPORT_INITIATION_GUARD_HPP

#include <memory>
#include <mutex>
#include <thread>

namespace leasehold::test {

/// Exists while an initiating function runs. Its handler can check whether it was called inside it,
/// on the same thread.
///
///   {
///       initiation_guard guard;
///       m.async_lock([probe = guard.probe()](auto...) { BOOST_TEST(!probe.inside()); });
///   }
class initiation_guard
{
    struct state
    {
        std::mutex mutex;
        std::thread::id initiator = std::this_thread::get_id();
    };

public:
    class probe_t
    {
    public:
        bool inside() const
        {
            const std::lock_guard lock(state_->mutex);
            return state_->initiator == std::this_thread::get_id();
        }

    private:
        friend class initiation_guard;
        explicit probe_t(std::shared_ptr<state> of) : state_(std::move(of)) {}
        std::shared_ptr<state> state_;
    };

    initiation_guard() = default;
    ~initiation_guard() { leave(); }
    initiation_guard(const initiation_guard&) = delete;
    initiation_guard& operator=(const initiation_guard&) = delete;

    void leave()
    {
        const std::lock_guard lock(state_->mutex);
        state_->initiator = {};
    }

    probe_t probe() const { return probe_t(state_); }

private:
    std::shared_ptr<state> state_ = std::make_shared<state>();
};

} // namespace leasehold::test

#endif
