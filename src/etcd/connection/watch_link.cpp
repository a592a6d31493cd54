#include "etcd/connection/watch_link.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <boost/beast/websocket/stream.hpp>

#include <functional>
#include <type_traits>
#include <utility>

namespace leasehold::etcd_store {

namespace websocket = boost::beast::websocket;

namespace {

constexpr std::size_t longest_message = 1024 * 1024;
/// The server answers pings, so a longer silence is the end of the connection.
constexpr std::chrono::seconds longest_silence{10};

} // namespace

/// The WebSocket over TCP or TLS.
class watch_link::socket
{
public:
    using handler = std::function<void(error_code)>;

    socket() = default;
    socket(const socket&) = delete;
    socket& operator=(const socket&) = delete;
    virtual ~socket() = default;
    virtual void greet(const std::string& host, handler done) = 0;
    virtual void write(const std::string& text, handler done) = 0;
    /// The text is valid during the call of the handler.
    virtual void read(std::function<void(error_code, std::string_view text)> done) = 0;
};

template <class Layer>
class watch_link::socket_of final : public socket
{
public:
    socket_of(Layer& layer, std::chrono::milliseconds limit) : stream_(layer)
    {
        stream_.set_option(websocket::stream_base::timeout{
            .handshake_timeout = limit, .idle_timeout = longest_silence, .keep_alive_pings = true});
        stream_.read_message_max(longest_message);
        stream_.text(true);
    }

    void greet(const std::string& host, handler done) override
    {
        stream_.async_handshake(host, "/v3/watch", std::move(done));
    }

    void write(const std::string& text, handler done) override
    {
        stream_.async_write(
            asio::buffer(text),
            [done = std::move(done)](error_code failed, std::size_t) { done(failed); });
    }

    void read(std::function<void(error_code, std::string_view)> done) override
    {
        received_.clear();
        stream_.async_read(received_, [this, done = std::move(done)](error_code failed,
                                                                     std::size_t size) {
            done(failed, {static_cast<const char*>(received_.cdata().data()), failed ? 0 : size});
        });
    }

private:
    websocket::stream<Layer&> stream_;
    boost::beast::flat_buffer received_;
};

watch_link::watch_link(const asio::any_io_executor& strand, const etcd_config& settings,
                       const etcd_config::address& at, std::chrono::milliseconds limit)
    : stream_(std::make_shared<session_store::stream>(strand,
                                                      session_store::stream_target(settings, at))),
      limit_(limit)
{}

watch_link::~watch_link() = default;

void watch_link::open(watch_link_user& user)
{
    user_ = &user;
    stream_->open(limit_, [self = shared_from_this()](const std::string& failure) {
        if (self->user_ == nullptr)
            return;
        if (!failure.empty())
            return self->end(failure);
        self->connected();
    });
}

void watch_link::connected()
{
    stream_->on_layer([&](auto& layer) {
        using layer_type = std::remove_reference_t<decltype(layer)>;
        socket_ = std::make_unique<socket_of<layer_type>>(layer, limit_);
    });
    socket_->greet(stream_->server(),
                   [self = shared_from_this()](error_code failed) { self->greeted(failed); });
}

void watch_link::greeted(error_code failed)
{
    if (user_ == nullptr)
        return;
    if (failed)
        return end(session_store::text_of_end(failed));
    open_ = true;
    read_next();
    write_next();
    if (user_ != nullptr)
        user_->on_watch_open();
}

void watch_link::send(std::string text)
{
    unsent_.push_back(std::move(text));
    write_next();
}

void watch_link::write_next()
{
    if (!open_ || writing_ || unsent_.empty())
        return;
    writing_ = true;
    socket_->write(unsent_.front(), [self = shared_from_this()](error_code failed) {
        self->writing_ = false;
        if (failed || self->user_ == nullptr)
            return; // the read reports the end
        self->unsent_.pop_front();
        self->write_next();
    });
}

void watch_link::read_next()
{
    socket_->read([self = shared_from_this()](error_code failed, std::string_view text) {
        if (self->user_ == nullptr)
            return;
        if (failed)
            return self->end(session_store::text_of_end(failed));
        self->user_->on_watch_message(text);
        if (self->user_ != nullptr)
            self->read_next();
    });
}

void watch_link::end(const std::string& why)
{
    const auto self = shared_from_this();
    watch_link_user* const last = std::exchange(user_, nullptr);
    close();
    if (last != nullptr)
        last->on_watch_closed(why);
}

void watch_link::close() noexcept
{
    user_ = nullptr;
    open_ = false;
    stream_->close();
}

} // namespace leasehold::etcd_store
