#ifndef LEASEHOLD_SRC_POSTGRES_STORE_LISTENING_HPP
#define LEASEHOLD_SRC_POSTGRES_STORE_LISTENING_HPP

#include "core/turn/time_source.hpp"
#include "postgres/connection/connection.hpp"

#include <leasehold/postgres_config.hpp>
#include <leasehold/store.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace leasehold::postgres_store {

/// The session on which the server announces the grants of this client. It also shows that the
/// client is alive: the server skips the waiters of a client whose session has ended. Made when the
/// first owner waits; reconnects on its own. All on the strand.
class listening final : public connection_user, public std::enable_shared_from_this<listening>
{
public:
    explicit listening(const postgres_config& settings)
        : settings_(settings),
          connection_(std::make_shared<connection>(settings)),
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

    /// The number of the session at the server; 0: it is not ready.
    [[nodiscard]] std::int32_t number() const noexcept { return number_; }

private:
    void on_setup(session& to) override;
    void on_setup_result(const PGresult& result) override;
    void on_ready(std::int64_t server_us) override;
    void on_result(const PGresult& result) override { static_cast<void>(result); }
    void on_notification(std::string_view payload) override;
    void on_lost(const trouble& why, bool sent_all) override;
    void on_unreachable(error_code why, const diagnostics& details) override;
    void check();
    void interrupted();

    const postgres_config settings_;
    const std::shared_ptr<connection> connection_;
    const std::unique_ptr<detail::time_source> time_;
    asio::any_io_executor strand_;
    store_listener* listener_ = nullptr;
    std::string client_;
    bool opened_ = false;
    std::int32_t number_ = 0;
    std::int32_t next_number_ = 0; ///< Of the session that is being set up.
};

} // namespace leasehold::postgres_store

#endif
