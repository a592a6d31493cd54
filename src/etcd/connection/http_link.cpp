#include "etcd/connection/http_link.hpp"

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include <cstdint>
#include <utility>

namespace leasehold::etcd_store {

namespace http = boost::beast::http;

namespace {

// The keys of some ten thousand clients. A longer reply is not expected.
constexpr std::uint64_t longest_body = 64 * 1024 * 1024;
constexpr std::uint32_t longest_header = 64 * 1024;
constexpr unsigned http_1_1 = 11;

} // namespace

/// A request and its reply.
struct http_link::exchange
{
    http::request<http::string_body> request;
    http::response_parser<http::string_body> parser;
    boost::beast::flat_buffer received;
    reply_handler handler;
};

http_link::http_link(const asio::any_io_executor& strand, const etcd_config& settings,
                     const etcd_config::address& at, std::chrono::milliseconds limit)
    : stream_(std::make_shared<session_store::stream>(strand,
                                                      session_store::stream_target(settings, at))),
      limit_(limit),
      timer_(strand)
{}

void http_link::open(http_link_user& user)
{
    user_ = &user;
    stream_->open(limit_, [self = shared_from_this()](const std::string& failure) {
        if (self->user_ == nullptr)
            return;
        if (!failure.empty())
            return std::exchange(self->user_, nullptr)->on_closed(trouble_here(failure));
        self->user_->on_open();
        self->watch_idle();
    });
}

void http_link::post(const std::string& target, std::string body, const std::string& token,
                     std::chrono::milliseconds limit, reply_handler handler)
{
    current_ = std::make_shared<exchange>();
    exchange& it = *current_;
    it.handler = std::move(handler);
    it.parser.body_limit(longest_body);
    it.parser.header_limit(longest_header);
    it.request.method(http::verb::post);
    it.request.version(http_1_1);
    it.request.target("/v3/" + target);
    it.request.set(http::field::host, stream_->server());
    it.request.set(http::field::content_type, "application/json");
    if (!token.empty())
        it.request.set(http::field::authorization, token);
    it.request.keep_alive(true);
    it.request.body() = std::move(body);
    it.request.prepare_payload();

    timer_.expires_after(limit);
    timer_.async_wait([weak = weak_from_this(), of = current_, limit](error_code failed) {
        const auto self = weak.lock();
        if (!failed && self && self->current_ == of)
            self->finish({.failure = "no reply within " + std::to_string(limit.count()) + " ms"});
    });
    stream_->on_layer([&](auto& layer) {
        http::async_write(
            layer, it.request,
            [self = shared_from_this(), of = current_](error_code failed, std::size_t) {
                // After a failure, there may still be a reply that says why.
                if (self->current_ == of && failed != asio::error::operation_aborted)
                    self->receive(of);
            });
    });
}

void http_link::receive(const std::shared_ptr<exchange>& of)
{
    stream_->on_layer([&](auto& layer) {
        http::async_read(
            layer, of->received, of->parser,
            [self = shared_from_this(), of](error_code failed, std::size_t) {
                if (self->current_ != of)
                    return;
                if (failed)
                    return self->finish({.failure = session_store::text_of_end(failed)});
                auto got = of->parser.release();
                self->finish(
                    {.status = static_cast<int>(got.result_int()), .body = std::move(got.body())});
            });
    });
}

void http_link::finish(http_reply got)
{
    const auto self = shared_from_this();
    const auto last = std::exchange(current_, nullptr);
    timer_.cancel();
    if (!got.failure.empty())
        close();
    last->handler(std::move(got));
    watch_idle();
}

/// While no request is outstanding, the server has nothing to send, so it has closed the
/// connection if there is something to read. TLS has messages of its own.
void http_link::watch_idle()
{
    if (user_ == nullptr || current_ || waits_idle_ || stream_->is_encrypted())
        return;
    waits_idle_ = true;
    stream_->socket().async_wait(
        asio::socket_base::wait_read, [self = shared_from_this()](error_code failed) {
            self->waits_idle_ = false;
            if (failed || self->user_ == nullptr || self->current_)
                return;
            http_link_user* const last = std::exchange(self->user_, nullptr);
            self->close();
            last->on_closed(trouble_here("the server closed the connection"));
        });
}

void http_link::close_after(const std::string& target, std::string body, const std::string& token,
                            std::chrono::milliseconds limit)
{
    user_ = nullptr;
    // The link lives as long as its operations, whose handlers it owns.
    const auto send = [weak = weak_from_this(), target, body = std::move(body), token,
                       limit](const http_reply& got) {
        const auto self = weak.lock();
        if (self && got.failure.empty())
            self->post(target, body, token, limit, [weak](const http_reply&) {
                if (const auto last = weak.lock())
                    last->close();
            });
    };
    if (current_)
        current_->handler = send;
    else
        send({});
}

void http_link::close() noexcept
{
    user_ = nullptr;
    current_.reset();
    timer_.cancel();
    stream_->close();
}

} // namespace leasehold::etcd_store
