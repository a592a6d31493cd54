#ifndef LEASEHOLD_SRC_ETCD_CONNECTION_HTTP_LINK_HPP
#define LEASEHOLD_SRC_ETCD_CONNECTION_HTTP_LINK_HPP

#include "etcd/protocol/errors.hpp"
#include "session_store/stream.hpp"

#include <leasehold/detail/export.hpp>
#include <leasehold/etcd_config.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace leasehold::etcd_store {

namespace asio = boost::asio;

/// The reply to a request of HTTP.
struct http_reply
{
    std::string failure{}; ///< There is no reply, for this reason.
    int status = 0;
    std::string body{};
};

/// Notified about a link, on its strand, never inside a call of the link.
class LEASEHOLD_ETCD_EXPORT http_link_user
{
public:
    virtual void on_open() = 0;
    /// The attempt to connect failed, or the connection ended while no request was outstanding. The
    /// last call.
    virtual void on_closed(const trouble& why) = 0;

protected:
    ~http_link_user() = default;
};

/// One connection to one server for requests of HTTP, one after the other. All on one strand.
class LEASEHOLD_ETCD_EXPORT http_link final : public std::enable_shared_from_this<http_link>
{
public:
    using reply_handler = std::function<void(http_reply)>;

    /// @param limit Of the attempt to connect.
    http_link(const asio::any_io_executor& strand, const etcd_config& settings,
              const etcd_config::address& at, std::chrono::milliseconds limit);

    /// Begins to connect. `user` is valid until `close` or `on_closed`.
    void open(http_link_user& user);

    /// Sends a request. There is no outstanding one. The handler is called once, not inside this
    /// call, and not after `close`. Without a reply, the link has ended.
    /// @param target After "/v3/".
    void post(const std::string& target, std::string body, const std::string& token,
              std::chrono::milliseconds limit, reply_handler handler);

    /// Ends the connection. There are no more calls.
    void close() noexcept;

    /// The same after a last request, which follows the outstanding one.
    void close_after(const std::string& target, std::string body, const std::string& token,
                     std::chrono::milliseconds limit);

private:
    struct exchange;

    void watch_idle();
    void receive(const std::shared_ptr<exchange>& of);
    void finish(http_reply got);

    const std::shared_ptr<session_store::stream> stream_;
    const std::chrono::milliseconds limit_;
    http_link_user* user_ = nullptr;
    asio::steady_timer timer_;
    std::shared_ptr<exchange> current_; ///< Null: no request is outstanding.
    bool waits_idle_ = false;
};

} // namespace leasehold::etcd_store

#endif
