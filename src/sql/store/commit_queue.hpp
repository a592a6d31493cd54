#ifndef LEASEHOLD_SRC_SQL_STORE_COMMIT_QUEUE_HPP
#define LEASEHOLD_SRC_SQL_STORE_COMMIT_QUEUE_HPP

#include "base/outage.hpp"
#include "base/server_clock.hpp"
#include "core/async/context_poster.hpp"
#include "sql/connection/connection.hpp"
#include "sql/store/request.hpp"

#include <leasehold/diagnostics.hpp>
#include <leasehold/store.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leasehold::sql_store {

/// Group commit: the requests that come while a transaction is executed form the next one. One
/// commit costs a write to the disk, however many requests it contains. All on the strand.
///
/// One transaction is outstanding at a time. So requests for a name take effect in the order of the
/// calls, also if a transaction fails and its requests are sent again. Within a transaction they
/// are in the order of names, so that the transactions of two clients do not block each other.
/// Renewals lock many rows, so they are a transaction of their own.
class commit_queue final : public connection_user, public std::enable_shared_from_this<commit_queue>
{
public:
    explicit commit_queue(std::shared_ptr<const driver> how)
        : how_(std::move(how)), connection_(std::make_shared<connection>(how_))
    {}

    void open(const asio::any_io_executor& strand,
              const std::shared_ptr<detail::context_poster>& poster, store_listener& listener);
    void close() noexcept;
    /// The context ends; `forked`: in a forked process.
    void drop(bool forked) noexcept;

    /// Sends a request, or completes it with the reason why there is no connection.
    void add(request what);

    /// The server's time in microseconds at the end of `budget`; 0: unknown.
    [[nodiscard]] std::int64_t deadline(std::chrono::milliseconds budget) const noexcept
    {
        return time_.limit(clock::now(), budget);
    }

    [[nodiscard]] bool ready() const noexcept { return connection_->ready() != nullptr; }
    [[nodiscard]] std::string server() const { return connection_->server(); }
    [[nodiscard]] std::size_t server_index() const noexcept { return connection_->server_index(); }

    /// A server accepts requests; it may be another one than before. Set before `open`.
    std::function<void()> on_serving;

private:
    void on_ready(const session_facts& known) override;
    void on_reply(const rows& reply) override;
    void on_failure(const trouble& why) override;
    void on_batch_end() override;
    void on_lost(const trouble& why, bool sent_all) override;
    void on_unreachable(error_code why, const diagnostics& details) override;

    void flush();
    void take_group();
    void put_back(std::vector<request> group);
    void answer(request& what, const rows& from);
    void reject_waiting(error_code code, const std::shared_ptr<const diagnostics>& details);
    void server_failed(const trouble& why);
    void fail(request& what, const trouble& why);
    static void complete(request& what, error_code code,
                         const std::shared_ptr<const diagnostics>& details);

    const std::shared_ptr<const driver> how_;
    const std::shared_ptr<connection> connection_;
    std::shared_ptr<detail::context_poster> poster_;
    store_listener* listener_ = nullptr;
    detail::server_clock time_;

    std::deque<request> pending_;
    bool flush_posted_ = false;

    std::vector<request> group_; ///< The outstanding transaction.
    std::size_t answered_ = 0;
    std::size_t failed_at_ = 0; ///< The call that failed; the size: the commit, or unknown.
    trouble failed_;            ///< Its error, if any.

    detail::outage outage_;
};

} // namespace leasehold::sql_store

#endif
