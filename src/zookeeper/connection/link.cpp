#include "zookeeper/connection/link.hpp"

#include "base/tls.hpp"
#include "zookeeper/protocol/jute.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <utility>

namespace leasehold::zookeeper_store {
namespace {

// A list of some hundred thousand children. A longer frame is not ZooKeeper's.
constexpr std::size_t longest_frame = 32 * 1024 * 1024;

constexpr std::chrono::seconds goodbye_limit{1};

std::string text_of_end(error_code why)
{
    // With TLS 1.3, the handshake of the client ends before the server has seen its certificate.
    if (detail::is_certificate_alert(why))
        return "the server rejects the client's certificate, or requires one: " + why.message();
    return why == asio::error::eof || why == asio::ssl::error::stream_truncated
               ? "the server closed the connection"
               : why.message();
}

} // namespace

link::link(const asio::any_io_executor& strand, const zookeeper_config& settings,
           zookeeper_config::address at, std::chrono::milliseconds limit)
    : settings_(settings),
      at_(std::move(at)),
      limit_(limit),
      socket_(strand),
      resolver_(strand),
      timer_(strand)
{}

void link::open(link_user& user)
{
    user_ = &user;
    limit(limit_, "host not found in time");
    resolver_.async_resolve(at_.host, std::to_string(at_.port),
                            asio::ip::tcp::resolver::numeric_service,
                            [self = shared_from_this()](error_code failed, const auto& found) {
                                if (self->user_ == nullptr)
                                    return;
                                for (const auto& each : found)
                                    self->endpoints_.push_back(each.endpoint());
                                if (self->endpoints_.empty())
                                    return self->end("host not found: " + failed.message());
                                self->choices_ = self->endpoints_.size();
                                self->connect_next();
                            });
}

void link::connect_next()
{
    const endpoint to = endpoints_.front();
    endpoints_.erase(endpoints_.begin());
    limit(limit_ / static_cast<int>(choices_), "no connection in time");
    error_code ignored;
    tls_.reset();
    socket_.close(ignored);
    socket_.async_connect(to, [self = shared_from_this()](error_code failed) {
        if (self->user_ == nullptr || failed == asio::error::operation_aborted)
            return;
        if (failed)
            return self->address_failed(failed.message());
        error_code no_matter;
        self->socket_.set_option(asio::ip::tcp::no_delay(true), no_matter);
        if (self->settings_.tls)
            self->secure();
        else
            self->opened();
    });
}

void link::secure()
{
    try {
        context_.emplace(detail::make_tls_context({.ca_file = settings_.tls_ca_file,
                                                   .cert_file = settings_.tls_cert_file,
                                                   .key_file = settings_.tls_key_file,
                                                   .verify = settings_.tls_verify}));
    }
    catch (const boost::system::system_error& failed) {
        return end(failed.what());
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
        if (self->user_ == nullptr || !self->socket_.is_open())
            return;
        if (!failed)
            return self->opened();
        self->address_failed(detail::tls_failure(self->tls_->native_handle(), failed,
                                                 self->other_host_, self->settings_.tls_verify));
    });
}

void link::opened()
{
    open_ = true;
    timer_.cancel();
    read_soon();
    user_->on_open();
}

void link::read_soon()
{
    const auto done = [self = shared_from_this()](error_code failed, std::size_t size) {
        if (self->user_ == nullptr && !self->ending_)
            return;
        if (failed)
            return self->ending_ ? self->close() : self->end(text_of_end(failed));
        if (!self->ending_) {
            self->received_.append(self->chunk_.data(), size);
            self->take_frames();
        }
        if (self->user_ != nullptr || self->ending_)
            self->read_soon();
    };
    on_layer([&](auto& layer) { layer.async_read_some(asio::buffer(chunk_), done); });
}

/// Passes the complete frames on. The user may close the link in between.
void link::take_frames()
{
    std::string_view rest = received_;
    while (user_ != nullptr && rest.size() >= 4) {
        const std::int32_t size = jute_reader(rest).i32();
        if (size < 0 || static_cast<std::size_t>(size) > longest_frame)
            return end("the server does not speak the protocol of ZooKeeper");
        if (rest.size() - 4 < static_cast<std::size_t>(size))
            break;
        const std::string_view content = rest.substr(4, static_cast<std::size_t>(size));
        rest.remove_prefix(4 + content.size());
        user_->on_frame(content);
    }
    if (user_ != nullptr)
        received_.erase(0, received_.size() - rest.size());
}

void link::send(std::string_view content)
{
    if (!open_)
        return;
    pending_ += jute_writer().text(content).take();
    ++frames_;
    if (writing_ || flush_posted_)
        return;
    flush_posted_ = true;
    asio::post(socket_.get_executor(), [self = shared_from_this()] {
        self->flush_posted_ = false;
        self->flush();
    });
}

void link::flush()
{
    if (!open_ || writing_ || pending_.empty())
        return;
    writing_ = true;
    sending_.swap(pending_);
    frames_sent_ = frames_;
    const auto done = [self = shared_from_this()](error_code failed, std::size_t) {
        self->writing_ = false;
        self->sending_.clear();
        // The end of the connection is reported by the read, after what the server has sent.
        if (!failed)
            self->flush();
    };
    on_layer([&](auto& layer) { asio::async_write(layer, asio::buffer(sending_), done); });
}

void link::limit(std::chrono::steady_clock::duration time, const char* text)
{
    timer_.expires_after(time);
    timer_.async_wait([weak = weak_from_this(), text](error_code failed) {
        const auto self = weak.lock();
        if (failed || !self || self->timer_.expiry() > std::chrono::steady_clock::now())
            return;
        if (self->ending_)
            self->close();
        else if (self->tls_ && self->user_ != nullptr && !self->open_)
            self->end(text); // the handshake uses the stream until it has ended
        else if (self->user_ != nullptr && !self->open_)
            self->address_failed(text);
    });
}

void link::address_failed(std::string text)
{
    if (endpoints_.empty())
        return end(std::move(text));
    earlier_.append(text).append("; ");
    connect_next();
}

void link::fail(std::string text)
{
    asio::post(socket_.get_executor(), [self = shared_from_this(), text = std::move(text)] {
        if (self->user_ != nullptr)
            self->end(text);
    });
}

void link::end(std::string text)
{
    const auto self = shared_from_this();
    link_user* const last = std::exchange(user_, nullptr);
    close();
    if (last != nullptr)
        last->on_closed(
            {.code = errc::store_unavailable, .from_server = {}, .from_here = earlier_ + text});
}

void link::close() noexcept
{
    user_ = nullptr;
    open_ = false;
    ending_ = false;
    resolver_.cancel();
    timer_.cancel();
    error_code ignored;
    socket_.close(ignored);
}

void link::close_after(std::string_view content)
{
    user_ = nullptr;
    if (!open_)
        return close();
    send(content);
    // A socket that is closed with unread data loses what was sent.
    ending_ = true;
    limit(goodbye_limit, "");
}

} // namespace leasehold::zookeeper_store
