#ifndef LEASEHOLD_TOOL_ZOOKEEPER_OPERATOR_SESSION_HPP
#define LEASEHOLD_TOOL_ZOOKEEPER_OPERATOR_SESSION_HPP

#include "zookeeper/connection/session.hpp"

#include <leasehold/zookeeper_config.hpp>

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace leasehold::tool {

/// A session for the requests of a person. It connects at the first request.
class operator_session final : zookeeper_store::session_user
{
public:
    operator_session(boost::asio::io_context& context, const zookeeper_config& where);
    ~operator_session();
    operator_session(const operator_session&) = delete;
    operator_session& operator=(const operator_session&) = delete;

    struct answer
    {
        std::int32_t error = 0; ///< The server's: `no_node` or none.
        std::string body{};
    };

    /// The answers to these requests, which are sent together.
    /// @throws unreachable, refused, interrupted
    [[nodiscard]] std::vector<answer> ask(const std::vector<zookeeper_store::request>& all);
    [[nodiscard]] answer ask(const zookeeper_store::request& one)
    {
        return ask(std::vector{one}).front();
    }

    /// The session timeout that the server grants, after an answer.
    [[nodiscard]] std::chrono::milliseconds timeout() const noexcept
    {
        return session_->lifetime();
    }
    /// The address of the server.
    [[nodiscard]] std::string server() const { return session_->server(); }

private:
    void on_connected(bool) override {}
    void on_lost(const zookeeper_store::trouble& why) override;
    void on_unreachable(error_code, const diagnostics& details) override;
    void on_event(const zookeeper_store::watch_event&) override {}

    boost::asio::io_context& context_;
    const std::shared_ptr<zookeeper_store::session> session_;
    bool open_ = false;
    std::optional<std::string> unreachable_;
};

} // namespace leasehold::tool

#endif
