#ifndef LEASEHOLD_SRC_REDIS_PIPELINE_SERVER_SESSION_HPP
#define LEASEHOLD_SRC_REDIS_PIPELINE_SERVER_SESSION_HPP

#include "redis/commands/command_set.hpp"

#include <leasehold/diagnostics.hpp>
#include <leasehold/error.hpp>
#include <leasehold/store.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace leasehold::redis_store {

class pipeline;

/// The server to which a pipeline is connected. The session sends the handshake to it, reports to
/// the listener if it accepts requests, and knows why requests are rejected. On the strand.
class server_session
{
public:
    using details_ptr = std::shared_ptr<const diagnostics>;

    server_session(pipeline& through, command_set& commands)
        : pipeline_(through), commands_(commands)
    {}

    bool connected = false;   ///< The connection is established. The handshake may not be complete.
    bool up = false;          ///< The server accepts requests.
    bool shows_holder = true; ///< The server has not denied this user the query for a holder.

    void open(store_listener& listener) noexcept { listener_ = &listener; }
    /// The listener is not called again.
    void close() noexcept;

    /// A connection is established: sends the handshake.
    void on_connected();
    /// The server cannot be reached, or rejects this client. Called for each reason.
    void on_down(error_code why, std::string_view words);

    /// The error of a request while the server does not accept requests.
    [[nodiscard]] error_code reason() const noexcept { return reason_; }
    /// Its details.
    [[nodiscard]] details_ptr why_down(std::string_view key) const;
    /// The details of a command that failed. The listener is called if the server rejected it; the
    /// end of a connection is reported by `on_down`.
    [[nodiscard]] details_ptr explain(std::string_view key, error_code code,
                                      std::string_view server_words) const;

private:
    [[nodiscard]] std::shared_ptr<diagnostics> details(std::string_view key) const;
    void on_greeting(unsigned server, std::size_t number, error_code failed, answers from);
    void serve();

    pipeline& pipeline_;
    command_set& commands_;
    store_listener* listener_ = nullptr;
    error_code reason_ = errc::store_unavailable;
    std::string words_;          ///< With it: the server's message, or why there is no connection.
    error_code reported_reason_; ///< Of the last report to the listener.
    std::string reported_words_;
    std::size_t greetings_left_ = 0; ///< Commands of the handshake that are not answered yet.
    unsigned server_ = 0;            ///< The number of servers so far.
};

} // namespace leasehold::redis_store

#endif
