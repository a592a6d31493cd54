#ifndef LEASEHOLD_SRC_ETCD_CONNECTION_WATCH_LINK_HPP
#define LEASEHOLD_SRC_ETCD_CONNECTION_WATCH_LINK_HPP

#include "session_store/stream.hpp"

#include <leasehold/etcd_config.hpp>

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

namespace leasehold::etcd_store {

namespace asio = boost::asio;

/// Notified about a watch link, on its strand, never inside a call of the link.
class watch_link_user
{
public:
    virtual void on_watch_open() = 0;
    /// A message of the server. The view is valid during the call.
    virtual void on_watch_message(std::string_view text) = 0;
    /// The attempt to connect failed, or the connection ended. The last call.
    virtual void on_watch_closed(const std::string& why) = 0;

protected:
    ~watch_link_user() = default;
};

/// A WebSocket to the watch stream of one server. The gateway of etcd carries any number of watches
/// over it. It does not pass on the token of a user. All on one strand.
class watch_link final : public std::enable_shared_from_this<watch_link>
{
public:
    /// @param limit Of the attempt to connect, and of the handshake.
    watch_link(const asio::any_io_executor& strand, const etcd_config& settings,
               const etcd_config::address& at, std::chrono::milliseconds limit);
    ~watch_link();

    /// Begins to connect. `user` is valid until `close` or `on_watch_closed`.
    void open(watch_link_user& user);

    /// Sends a message.
    void send(std::string text);

    /// Ends the connection. The user gets no more calls.
    void close() noexcept;

private:
    class socket;
    template <class Layer>
    class socket_of;

    void connected();
    void greeted(error_code failed);
    void write_next();
    void read_next();
    void end(const std::string& why);

    const std::shared_ptr<session_store::stream> stream_;
    const std::chrono::milliseconds limit_;
    watch_link_user* user_ = nullptr;
    std::unique_ptr<socket> socket_;
    std::deque<std::string> unsent_; ///< The first one is being sent, if `writing_`.
    bool open_ = false;
    bool writing_ = false;
};

} // namespace leasehold::etcd_store

#endif
