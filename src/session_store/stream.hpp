#ifndef LEASEHOLD_SRC_SESSION_STORE_STREAM_HPP
#define LEASEHOLD_SRC_SESSION_STORE_STREAM_HPP

#include "base/connection_config.hpp"
#include "base/tls.hpp"

#include <leasehold/error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/websocket/error.hpp>
#include <boost/system/system_error.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace leasehold::session_store {

namespace asio = boost::asio;

// Inline, because the libraries of both stores contain it.

/// A server, and how to connect to it.
struct stream_target
{
    /// Of an address of this configuration.
    template <class Config>
    stream_target(const Config& from, const typename Config::address& at)
        : host(at.host),
          port(at.port),
          tls(from.tls),
          tls_verify(from.tls_verify),
          tls_ca_file(from.tls_ca_file),
          tls_cert_file(from.tls_cert_file),
          tls_key_file(from.tls_key_file)
    {}

    std::string host;
    std::uint16_t port;
    bool tls, tls_verify;
    std::string tls_ca_file, tls_cert_file, tls_key_file;
};

/// A connection to one server over TCP or TLS, from the attempt until its end. All on one strand.
class stream final : public std::enable_shared_from_this<stream>
{
public:
    /// @param failure Empty: the connection is open.
    using opened_handler = std::function<void(const std::string& failure)>;

    stream(const asio::any_io_executor& strand, stream_target at);

    /// Connects. The handler is not called after `close`.
    /// @param limit Of the attempt, for all addresses of the host.
    void open(std::chrono::milliseconds limit, opened_handler handler);

    /// Ends the connection, and what uses it.
    void close() noexcept;

    /// Calls a function with the layer that reads and writes.
    template <class Use>
    void on_layer(Use use)
    {
        if (tls_)
            use(*tls_);
        else
            use(socket_);
    }
    using tls_layer = asio::ssl::stream<asio::ip::tcp::socket&>;
    [[nodiscard]] asio::ip::tcp::socket& socket() noexcept { return socket_; }
    [[nodiscard]] bool is_encrypted() const noexcept { return tls_.has_value(); }

    /// The address of the server, as a client names it.
    [[nodiscard]] std::string server() const;

private:
    void connect_next();
    void secure();
    void limit(std::chrono::steady_clock::duration time, const char* text);
    void address_failed(const std::string& text);
    void finish(const std::string& failure);

    const stream_target at_;
    std::chrono::milliseconds limit_{};
    opened_handler handler_;
    asio::ip::tcp::socket socket_;
    std::optional<asio::ssl::context> context_;
    std::optional<tls_layer> tls_;
    asio::ip::tcp::resolver resolver_;
    asio::steady_timer timer_;
    std::vector<asio::ip::tcp::endpoint> endpoints_; ///< Those that are still to be tried.
    std::size_t choices_ = 1;
    std::string earlier_;     ///< The failures of other addresses.
    bool other_host_ = false; ///< The certificate is for another host.
};

inline stream::stream(const asio::any_io_executor& strand, stream_target at)
    : at_(std::move(at)), socket_(strand), resolver_(strand), timer_(strand)
{}

inline std::string stream::server() const
{
    return detail::host_and_port(at_.host, at_.port);
}

inline void stream::open(std::chrono::milliseconds limit_of_all, opened_handler handler)
{
    limit_ = limit_of_all;
    handler_ = std::move(handler);
    limit(limit_, "host not found in time");
    resolver_.async_resolve(at_.host, std::to_string(at_.port),
                            asio::ip::tcp::resolver::numeric_service,
                            [self = shared_from_this()](error_code failed, const auto& found) {
                                if (!self->handler_)
                                    return;
                                for (const auto& each : found)
                                    self->endpoints_.push_back(each.endpoint());
                                if (self->endpoints_.empty())
                                    return self->finish("host not found: " + failed.message());
                                self->choices_ = self->endpoints_.size();
                                self->connect_next();
                            });
}

inline void stream::connect_next()
{
    const asio::ip::tcp::endpoint to = endpoints_.front();
    endpoints_.erase(endpoints_.begin());
    limit(limit_ / static_cast<int>(choices_), "no connection in time");
    error_code ignored;
    tls_.reset();
    socket_.close(ignored);
    socket_.async_connect(to, [self = shared_from_this()](error_code failed) {
        if (!self->handler_ || failed == asio::error::operation_aborted)
            return;
        if (failed)
            return self->address_failed(failed.message());
        error_code no_matter;
        self->socket_.set_option(asio::ip::tcp::no_delay(true), no_matter);
        if (self->at_.tls)
            self->secure();
        else
            self->finish({});
    });
}

inline void stream::secure()
{
    try {
        context_.emplace(detail::make_tls_context({.ca_file = at_.tls_ca_file,
                                                   .cert_file = at_.tls_cert_file,
                                                   .key_file = at_.tls_key_file,
                                                   .verify = at_.tls_verify}));
    }
    catch (const boost::system::system_error& failed) {
        return finish(failed.what());
    }
    tls_.emplace(socket_, *context_);
    if (at_.tls_verify)
        tls_->set_verify_callback([this, is_named = asio::ssl::host_name_verification(at_.host)](
                                      bool trusted, asio::ssl::verify_context& shown) {
            const bool accepted = is_named(trusted, shown);
            other_host_ = trusted && !accepted;
            return accepted;
        });
    detail::ask_for_name(tls_->native_handle(), at_.host);
    tls_->async_handshake(
        asio::ssl::stream_base::client, [self = shared_from_this()](error_code failed) {
            if (!self->handler_ || !self->socket_.is_open())
                return;
            if (!failed)
                return self->finish({});
            self->address_failed(detail::tls_failure(self->tls_->native_handle(), failed,
                                                     self->other_host_, self->at_.tls_verify));
        });
}

inline void stream::limit(std::chrono::steady_clock::duration time, const char* text)
{
    timer_.expires_after(time);
    timer_.async_wait([weak = weak_from_this(), text](error_code failed) {
        const auto self = weak.lock();
        if (failed || !self || !self->handler_ ||
            self->timer_.expiry() > std::chrono::steady_clock::now())
            return;
        if (self->tls_)
            self->finish(text); // the handshake uses the stream until it has ended
        else
            self->address_failed(text);
    });
}

inline void stream::address_failed(const std::string& text)
{
    if (endpoints_.empty())
        return finish(text);
    earlier_.append(text).append("; ");
    connect_next();
}

inline void stream::finish(const std::string& failure)
{
    const auto self = shared_from_this();
    const opened_handler handler = std::exchange(handler_, nullptr);
    timer_.cancel();
    if (!failure.empty())
        close();
    handler(failure.empty() ? failure : earlier_ + failure);
}

inline void stream::close() noexcept
{
    handler_ = nullptr;
    resolver_.cancel();
    timer_.cancel();
    error_code ignored;
    socket_.close(ignored);
}

/// The reason why a connection ended, as text.
[[nodiscard]] inline std::string text_of_end(error_code why)
{
    // With TLS 1.3, the handshake of the client ends before the server has seen its certificate.
    if (detail::is_certificate_alert(why))
        return "the server rejects the client's certificate, or requires one: " + why.message();
    const bool closed = why == asio::error::eof || why == asio::ssl::error::stream_truncated ||
                        why == boost::beast::http::error::end_of_stream ||
                        why == boost::beast::http::error::partial_message ||
                        why == boost::beast::websocket::error::closed;
    return closed ? "the server closed the connection" : why.message();
}

} // namespace leasehold::session_store

#endif
