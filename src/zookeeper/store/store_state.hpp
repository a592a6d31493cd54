#ifndef LEASEHOLD_SRC_ZOOKEEPER_STORE_STORE_STATE_HPP
#define LEASEHOLD_SRC_ZOOKEEPER_STORE_STORE_STATE_HPP

#include "base/name_map.hpp"
#include "session_store/state_of.hpp"
#include "zookeeper/connection/session.hpp"
#include "zookeeper/store/contender.hpp"
#include "zookeeper/store/queue_view.hpp"

#include <leasehold/store.hpp>
#include <leasehold/zookeeper_config.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::zookeeper_store {

using session_store::details_ptr;

class store_state;
using operation_of_name = session_store::operation_of<store_state>;

/// The owners of one session, and what their operations share. All on the strand.
class store_state final : public session_store::state_of<store_state>, public session_user
{
public:
    explicit store_state(const zookeeper_config& settings);

    /// As `finish`, with an error of the server or of the connection.
    void finish_failed(const std::shared_ptr<operation_of_name>& op, const reply& why,
                       std::string_view name);

    /// @name The owners
    /// @{
    [[nodiscard]] contender* find(std::string_view key) noexcept;
    contender& insert(contender added);
    void erase(std::string_view key);
    /// The child was removed by another client.
    void gone(std::string_view key);
    /// @}

    /// @name Requests
    /// @{
    [[nodiscard]] session& to() const noexcept { return *session_; }
    /// The children of a lock's node. A missing node has none.
    void read_queue(std::string_view folder,
                    std::function<void(const reply&, const queue_view& queue)> then);
    /// Finds the child of a doubtful owner, which is not doubtful then. `found`: it has one.
    void locate(std::string_view key, std::function<void(const reply&, bool found)> then);
    /// Creates the node of a lock, and the nodes above it. A later request fails if it cannot: the
    /// result replaces the error "no node" by its cause.
    std::function<reply(const reply&)> make_folder(std::string_view folder);
    [[nodiscard]] request child_of(const contender& whose, node_kind kind,
                                   std::string_view name) const;
    /// Waits for the end of a child before an owner's.
    void watch_before(std::string_view key, std::string_view path,
                      std::function<void(const reply&)> then);
    /// Writes the node of the client, which shows how long the session lives.
    void touch(std::function<void(const reply&)> then);
    /// The session is about to be used by this owner.
    void introduce(std::string_view owner);
    /// @}

    void renew(std::span<const renewal> renewals, store::renew_handler handler);
    void describe(std::string_view holder, store::describe_handler handler);

    [[nodiscard]] const zookeeper_config& settings() const noexcept { return settings_; }

private:
    friend session_store::state_of<store_state>;

    void on_connected(bool is_new) override;
    void on_lost(const trouble& why) override;
    void on_unreachable(error_code why, const diagnostics& details) override;
    void on_event(const watch_event& event) override;
    void open_connection(const asio::any_io_executor& strand);
    void close_connection();
    void drop_connection() noexcept;

    void forget_watches();
    void forget_watch(std::string_view path, std::string_view key);
    void create_client(std::function<void(const reply&)> then);
    void watch_own(const contender& of);
    void verify(const std::string& key, std::vector<std::string> children, bool found,
                std::function<void(const reply&, bool)> then);
    [[nodiscard]] std::string client_path() const;
    [[nodiscard]] request client_node() const;

    const zookeeper_config settings_;
    const std::shared_ptr<session> session_;
    std::string client_;                     ///< The id of the client, from its first owner.
    detail::name_map<contender> contenders_; ///< By their keys.
    /// The keys of the owners that wait for an event of a node.
    std::multimap<std::string, std::string, std::less<>> watches_;
};

/// The details of a lock that is held.
[[nodiscard]] details_ptr holder_of(const queue_view& queue, bool wanted);

[[nodiscard]] std::shared_ptr<operation_of_name> make_acquire(
    const std::shared_ptr<store_state>& state, const acquire_request& request,
    store::acquire_handler handler);
[[nodiscard]] std::shared_ptr<operation_of_name> make_release(
    const std::shared_ptr<store_state>& state, const release_request& request,
    store::release_handler handler);

} // namespace leasehold::zookeeper_store

#endif
