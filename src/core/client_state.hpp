#ifndef LEASEHOLD_SRC_CORE_CLIENT_STATE_HPP
#define LEASEHOLD_SRC_CORE_CLIENT_STATE_HPP

#include "core/acquire/reentry_op.hpp"
#include "core/acquire/wait_queue.hpp"
#include "core/async/context_lifetime.hpp"
#include "core/async/operation.hpp"
#include "core/lease/lease_state.hpp"
#include "core/lease/lost_owners.hpp"
#include "core/lease/watchdog.hpp"
#include "core/release/pending_release.hpp"
#include "core/turn/turn_context.hpp"

#include <leasehold/client.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace leasehold::detail {

/// The state of a client, from its first call to its last release. Passes the events of the store
/// to the queues, releases and leases that they concern.
class client_state final : public turn_context,
                           private turn_end_work,
                           private store_listener,
                           private context_observer
{
public:
    /// Creates a client. The constructor alone does not register it for the end of its context.
    static std::shared_ptr<client_state> make(const asio::any_io_executor& executor,
                                              std::shared_ptr<store> backend,
                                              std::shared_ptr<observer> watching,
                                              std::unique_ptr<time_source> time,
                                              std::size_t acquires = acquire_window::usual_limit);

    client_state(const asio::any_io_executor& executor, std::shared_ptr<store> backend,
                 std::shared_ptr<observer> watching, std::unique_ptr<time_source> time,
                 std::size_t acquires);
    ~client_state();

    // From any thread.
    /// No error while the client accepts acquires.
    [[nodiscard]] error_code ready() const noexcept;
    void run(completion<error_code>::handler_type&& handler);
    void shutdown(completion<error_code>::handler_type&& handler);
    void cancel() noexcept;

    // On the strand.
    /// Whether a release of this owner is pending.
    [[nodiscard]] bool is_releasing(std::string_view owner) const noexcept
    {
        return releases_.contains(owner);
    }

    // On the strand, in a turn.
    void lock(lock_op& op);
    void reenter(reentry_op& op);
    /// @param waiting Completes with the result of the release; may be null.
    void release(lease_state& lease, const outcome_op_ptr& waiting);
    /// Leaves the lock of a detached lease in the store.
    void detach(lease_state& lease) { watchdog_.detach(lease); }

private:
    enum class phase : unsigned char
    {
        fresh,
        running,
        stopping,
    };

    class stop_limit final : public timer
    {
    public:
        explicit stop_limit(client_state& whose) noexcept : client_(whose) {}

    private:
        void expired() override { client_.stopped(client_.releases_.why_not_empty()); }
        client_state& client_;
    };

    void on_wakeup(std::string_view name) override;
    void on_grant(std::string_view name, std::string_view owner) override;
    void on_gone(std::string_view name, std::string_view owner) override;
    void on_listening(store_partition) override;
    void on_settled(store_partition) override;
    void on_connected(store_partition) override;
    void on_disconnected(store_partition, error_code why) override;
    void on_error(store_partition, error_code code, const diagnostics& details) override;
    void on_context_end() noexcept override;
    void at_turn_end() override;
    void on_turn_failed() noexcept override;

    template <class F>
    void each_queue_in(store_partition partition, F f);
    void no_more_locks() noexcept;
    void cancel_now();
    void complete_cancelled();
    void stop(clock::duration grace);
    void go_on_stopping();
    void drain();
    void stopped(error_code outcome);
    void refuse_waiting();
    void release_all();
    void release_lost(const lease_state& lease, const outcome_op_ptr& waiting);
    void drop_all(error_code error) noexcept;

    std::atomic<phase> phase_ = phase::fresh;
    acquire_windows windows_;
    pending_releases releases_;
    lost_owners lost_owners_;
    watchdog watchdog_;
    lock_queues queues_;
    reentries reentries_;
    stop_limit stop_limit_;
    outcome_op_ptr run_;
    std::vector<outcome_op_ptr> shutdowns_;
    error_code run_outcome_;
    error_code stop_outcome_; ///< The result of a shutdown after the end of the client.
    /// The client itself, while the store is open: outstanding operations complete even if no
    /// handle is left.
    std::shared_ptr<turn_context> running_;
    std::atomic<bool> cancel_at_turn_end_ = false;
    bool opened_ = false;
    bool stopping_ = false; ///< The client only waits for its releases.
    bool draining_ = false; ///< `store::async_drain` has not completed yet.
    bool patient_ = true;   ///< The stop continues as long as the store replies.
    bool stopped_ = false;
};

} // namespace leasehold::detail

#endif
