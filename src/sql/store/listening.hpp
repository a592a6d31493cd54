#ifndef LEASEHOLD_SRC_SQL_STORE_LISTENING_HPP
#define LEASEHOLD_SRC_SQL_STORE_LISTENING_HPP

#include "core/turn/time_source.hpp"
#include "sql/connection/connection.hpp"

#include <leasehold/store.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace leasehold::sql_store {

/// The session on which the server announces the grants of this client. It also shows that the
/// client is alive: the server skips the waiters of a client whose session has ended. Made when the
/// first owner waits; reconnects on its own. All on the strand.
class listening final : public connection_user, public std::enable_shared_from_this<listening>
{
public:
    explicit listening(const std::shared_ptr<const driver>& how)
        : health_check_(how->common().health_check),
          connection_(std::make_shared<connection>(how)),
          time_(detail::make_system_time())
    {}

    void open(const asio::any_io_executor& strand, store_listener& listener);
    void close() noexcept;
    /// The context ends; `forked`: in a forked process.
    void drop(bool forked) noexcept;

    /// An owner of this client waits. Connects, if that was not done before.
    /// @param server The server of the requests.
    void need(std::string_view client, std::size_t server);

    /// The requests go to this server, so the grants come from there.
    void follow(std::size_t server);

    [[nodiscard]] grant_listener session_at_server() const noexcept { return session_; }

private:
    void on_ready(const session_facts& known) override;
    void on_grant(std::string_view name, std::string_view owner) override
    {
        listener_->on_grant(name, owner);
    }
    void on_lost(const trouble& why, bool sent_all) override;
    void on_unreachable(error_code why, const diagnostics& details) override;
    void check();
    void interrupted();

    const std::chrono::milliseconds health_check_;
    const std::shared_ptr<connection> connection_;
    const std::unique_ptr<detail::time_source> time_;
    asio::any_io_executor strand_;
    store_listener* listener_ = nullptr;
    bool opened_ = false;
    grant_listener session_;
};

} // namespace leasehold::sql_store

#endif
