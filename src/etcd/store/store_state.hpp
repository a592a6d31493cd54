#ifndef LEASEHOLD_SRC_ETCD_STORE_STORE_STATE_HPP
#define LEASEHOLD_SRC_ETCD_STORE_STORE_STATE_HPP

#include "base/name_map.hpp"
#include "etcd/connection/session.hpp"
#include "etcd/connection/watcher.hpp"
#include "etcd/store/contender.hpp"
#include "session_store/state_of.hpp"

#include <leasehold/etcd_config.hpp>
#include <leasehold/store.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::etcd_store {

/// The keys before an owner's, the last one first. Empty: it is the first.
using queue_view = std::vector<key_value>;

using session_store::details_ptr;

class store_state;
using operation_of_name = session_store::operation_of<store_state>;

/// The owners of one session, and what their operations share. All on the strand.
class store_state final : public session_store::state_of<store_state>,
                          public session_user,
                          public watcher_user
{
public:
    explicit store_state(const etcd_config& settings);

    /// As `finish`, with an error of the server or of the connection.
    void finish_failed(const std::shared_ptr<operation_of_name>& op, const reply& why,
                       std::string_view name);

    /// @name The owners
    /// @{
    [[nodiscard]] contender* find(std::string_view key) noexcept;
    contender& insert(contender added);
    void erase(std::string_view key);
    /// The key was removed by another client.
    void gone(std::string_view key);
    /// @}

    /// @name Requests
    /// @{
    [[nodiscard]] session& to() const noexcept { return *session_; }
    /// Begins the session for this owner, if it has not begun. May call the function at once.
    void begin(std::string_view owner, std::function<void(const reply&)> then);
    /// The keys before an owner's. `exists`: its key does.
    void read_queue(const contender& of,
                    std::function<void(const reply&, bool exists, const queue_view&)> then);
    /// Finds the key of a doubtful owner, which is not doubtful then. `found`: it has one.
    void locate(std::string_view key, std::function<void(const reply&, bool found)> then);
    /// Has a transaction create the key of an owner.
    void put(transaction& with, const contender& whose) const;
    /// Waits for the end of the key before an owner's.
    /// @param revision Of the view.
    void watch_before(contender& of, const queue_view& queue, std::uint64_t revision);
    /// Has a majority confirm how long the session lives.
    void touch(std::function<void(const reply&)> then) { session_->renew(std::move(then)); }
    /// A waiter may miss its grant.
    [[nodiscard]] bool is_deaf() const noexcept { return !watcher_->is_open(); }
    /// @}

    void renew(std::span<const renewal> renewals, store::renew_handler handler);
    void describe(std::string_view holder, store::describe_handler handler);

    [[nodiscard]] const etcd_config& settings() const noexcept { return settings_; }

private:
    friend session_store::state_of<store_state>;
    struct renewal_batch;

    void on_connected() override;
    void on_session_end() override;
    void on_lost(const trouble& why) override;
    void on_unreachable(error_code why, const diagnostics& details) override;
    [[nodiscard]] std::vector<move> moves_to(std::int64_t lease) const override;
    void on_not_moved(const std::string& key) override;
    void on_removed(std::int64_t watch) override;
    void on_watch_late(std::int64_t watch) override;
    void on_watch_end(std::int64_t watch) override;
    void on_watching() override;
    void open_connection(const asio::any_io_executor& strand);
    void close_connection();
    void drop_connection() noexcept;

    void poll(const contender& of);
    void check_own(const std::shared_ptr<renewal_batch>& batch, const contender& of);
    void finish_renewal(const std::shared_ptr<renewal_batch>& batch, const reply& got);
    void end_watch(std::int64_t& watch);
    [[nodiscard]] details_ptr details_of_reply(const reply& why, std::string_view name) const;

    const etcd_config settings_;
    const std::shared_ptr<session> session_;
    const std::shared_ptr<watcher> watcher_;
    detail::name_map<contender> contenders_;      ///< By their keys.
    std::map<std::int64_t, std::string> watches_; ///< The keys of the owners that wait for them.
};

/// The details of a lock that is held.
[[nodiscard]] details_ptr holder_of(const queue_view& queue, bool wanted);

/// The number of waiters before an owner that is not the first.
[[nodiscard]] inline std::uint32_t position_in(const queue_view& queue) noexcept
{
    return static_cast<std::uint32_t>(queue.size() - 1);
}

/// The longest queue that is read. A position beyond it is reported as its length.
inline constexpr std::size_t longest_view = 1000;

[[nodiscard]] std::shared_ptr<operation_of_name> make_acquire(
    const std::shared_ptr<store_state>& state, const acquire_request& request,
    store::acquire_handler handler);
[[nodiscard]] std::shared_ptr<operation_of_name> make_release(
    const std::shared_ptr<store_state>& state, const release_request& request,
    store::release_handler handler);

} // namespace leasehold::etcd_store

#endif
