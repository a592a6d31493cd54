#ifndef LEASEHOLD_SRC_SQL_STORE_HOUSEKEEPING_HPP
#define LEASEHOLD_SRC_SQL_STORE_HOUSEKEEPING_HPP

#include "core/turn/time_source.hpp"
#include "fsm/contention/backoff.hpp"
#include "sql/store/commit_queue.hpp"

#include <leasehold/client_info.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace leasehold::sql_store {

/// Publishes the description of this client, and deletes the rows of names that were not used for
/// long: a few at a time, about once a minute. All on the strand.
class housekeeping final : public std::enable_shared_from_this<housekeeping>
{
public:
    housekeeping(const settings& common, std::shared_ptr<commit_queue> through);

    void open(const asio::any_io_executor& strand);
    void close() noexcept;

    /// The id of this client is known from its first owner.
    void belongs_to(std::string_view owner);
    /// There is a session.
    void on_serving();

    /// The description that is published; empty: none.
    [[nodiscard]] const client_info& info() const noexcept { return info_; }

private:
    void introduce();
    void sweep();
    void schedule();

    const std::chrono::milliseconds retention_; ///< 0: forever.
    const std::shared_ptr<commit_queue> through_;
    const client_info info_;
    const std::string info_text_;
    std::string client_;
    std::string after_; ///< The last name that was looked at.
    bool open_ = false;
    const std::unique_ptr<detail::time_source> time_;
    fsm::random_source random_;
};

} // namespace leasehold::sql_store

#endif
