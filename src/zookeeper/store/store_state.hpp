#ifndef LEASEHOLD_SRC_ZOOKEEPER_STORE_STORE_STATE_HPP
#define LEASEHOLD_SRC_ZOOKEEPER_STORE_STORE_STATE_HPP

#include "base/name_map.hpp"
#include "base/outage.hpp"
#include "core/async/context_lifetime.hpp"
#include "core/async/context_poster.hpp"
#include "zookeeper/connection/session.hpp"
#include "zookeeper/store/contender.hpp"
#include "zookeeper/store/operation.hpp"
#include "zookeeper/store/queue_view.hpp"

#include <leasehold/client_info.hpp>
#include <leasehold/store.hpp>
#include <leasehold/zookeeper_config.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::zookeeper_store {

/// The owners of one session, and what their operations share. All on the strand.
class store_state final : public session_user,
                          public detail::context_observer,
                          public std::enable_shared_from_this<store_state>
{
public:
    explicit store_state(const zookeeper_config& settings);

    void open(const asio::any_io_executor& strand, store_listener& listener);
    void close() noexcept;

    /// @name The operations
    /// @{

    /// Starts it, or queues it behind the others of its name.
    void add(std::shared_ptr<operation_of_name> op);
    /// The operation has ended. Its handler is called soon.
    void finish(const std::shared_ptr<operation_of_name>& op, error_code code,
                const details_ptr& details = {});
    /// As `finish`, with an error of the server or of the connection.
    void finish_failed(const std::shared_ptr<operation_of_name>& op, const reply& why,
                       std::string_view name);
    /// Calls a function soon, while the context lives.
    template <class Function>
    void post(Function function)
    {
        if (poster_)
            poster_->post(std::move(function));
    }
    /// @}

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
    void look(std::string_view folder,
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
    /// The end of the session, from a time on.
    [[nodiscard]] std::chrono::milliseconds left_from(clock::time_point sent) const noexcept;
    /// Whether a lease should begin with a write.
    [[nodiscard]] bool is_short(std::chrono::milliseconds lease) const noexcept;
    /// @}

    /// A waiter has become the first.
    void notify_grant(const contender& to);
    void renew(std::span<const renewal> renewals, store::renew_handler handler);
    void describe(std::string_view holder, store::describe_handler handler);

    [[nodiscard]] const zookeeper_config& settings() const noexcept { return settings_; }
    [[nodiscard]] const client_info& info() const noexcept { return info_; }
    /// Why there is no connection.
    [[nodiscard]] error_code down() const noexcept
    {
        return listener_ != nullptr ? outage_.code() : errc::store_unavailable;
    }
    [[nodiscard]] bool ready() const noexcept { return listener_ != nullptr && session_->ready(); }

private:
    using lane = std::deque<std::shared_ptr<operation_of_name>>;

    void on_connected(bool is_new) override;
    void on_lost(const trouble& why) override;
    void on_unreachable(error_code why, const diagnostics& details) override;
    void on_event(const watch_event& event) override;
    void on_context_end() noexcept override;

    void run(const std::string& folder);
    void end(const std::shared_ptr<operation_of_name>& op, error_code code,
             const details_ptr& details);
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
    const client_info info_;
    const std::string info_text_;
    std::string client_; ///< The id of the client, from its first owner.
    std::shared_ptr<detail::context_poster> poster_;
    store_listener* listener_ = nullptr;
    detail::name_map<contender> contenders_; ///< By their keys.
    detail::name_map<lane> lanes_;           ///< By the path of the lock's node.
    /// The keys of the owners that wait for an event of a node.
    std::multimap<std::string, std::string, std::less<>> watches_;
    bool ended_ = false;    ///< The context has ended.
    bool starting_ = false; ///< Inside a call of the user.
    bool closed_ = false;

    detail::outage outage_;
};

/// The details of a lock that is held.
[[nodiscard]] details_ptr holder_of(const queue_view& queue, bool wanted);

[[nodiscard]] std::shared_ptr<operation_of_name> make_acquire(
    const std::shared_ptr<store_state>& state, const acquire_request& asked,
    store::acquire_handler handler);
[[nodiscard]] std::shared_ptr<operation_of_name> make_release(
    const std::shared_ptr<store_state>& state, const release_request& asked,
    store::release_handler handler);

} // namespace leasehold::zookeeper_store

#endif
