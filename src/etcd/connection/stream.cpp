#include "etcd/connection/stream.hpp"

#include "base/connection_config.hpp"
#include "base/tls.hpp"

#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/websocket/error.hpp>
#include <boost/system/system_error.hpp>

#include <utility>

namespace leasehold::etcd_store {

stream::stream(const asio::any_io_executor& strand, const etcd_config& settings,
               etcd_config::address at)
    : settings_(settings), at_(std::move(at)), socket_(strand), resolver_(strand), timer_(strand)
{}

std::string stream::server() const
{
    return detail::host_and_port(at_.host, at_.port);
}

void stream::open(std::chrono::milliseconds limit_of_all, opened_handler handler)
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

void stream::connect_next()
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
        if (self->settings_.tls)
            self->secure();
        else
            self->finish({});
    });
}

void stream::secure()
{
    try {
        context_.emplace(detail::make_tls_context({.ca_file = settings_.tls_ca_file,
                                                   .cert_file = settings_.tls_cert_file,
                                                   .key_file = settings_.tls_key_file,
                                                   .verify = settings_.tls_verify}));
    }
    catch (const boost::system::system_error& failed) {
        return finish(failed.what());
    }
    tls_.emplace(socket_, *context_);
    if (settings_.tls_verify)
        tls_->set_verify_callback([this, is_named = asio::ssl::host_name_verification(at_.host)](
                                      bool trusted, asio::ssl::verify_context& shown) {
            const bool accepted = is_named(trusted, shown);
            other_host_ = trusted && !accepted;
            return accepted;
        });
    detail::ask_for_name(tls_->native_handle(), at_.host);
    tls_->async_handshake(asio::ssl::stream_base::client, [self = shared_from_this()](
                                                              error_code failed) {
        if (!self->handler_ || !self->socket_.is_open())
            return;
        if (!failed)
            return self->finish({});
        self->address_failed(detail::tls_failure(self->tls_->native_handle(), failed,
                                                 self->other_host_, self->settings_.tls_verify));
    });
}

void stream::limit(std::chrono::steady_clock::duration time, const char* text)
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

void stream::address_failed(const std::string& text)
{
    if (endpoints_.empty())
        return finish(text);
    earlier_.append(text).append("; ");
    connect_next();
}

void stream::finish(const std::string& failure)
{
    const auto self = shared_from_this();
    const opened_handler handler = std::exchange(handler_, nullptr);
    timer_.cancel();
    if (!failure.empty())
        close();
    handler(failure.empty() ? failure : earlier_ + failure);
}

void stream::close() noexcept
{
    handler_ = nullptr;
    resolver_.cancel();
    timer_.cancel();
    error_code ignored;
    socket_.close(ignored);
}

std::string text_of_end(error_code why)
{
    const bool closed = why == asio::error::eof || why == asio::ssl::error::stream_truncated ||
                        why == boost::beast::http::error::end_of_stream ||
                        why == boost::beast::http::error::partial_message ||
                        why == boost::beast::websocket::error::closed;
    return closed ? "the server closed the connection" : why.message();
}

} // namespace leasehold::etcd_store
