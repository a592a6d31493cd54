#include "zookeeper/connection/link.hpp"

#include "zookeeper/protocol/jute.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <utility>

namespace leasehold::zookeeper_store {
namespace {

// A list of some hundred thousand children. A longer frame is not ZooKeeper's.
constexpr std::size_t longest_frame = 32 * 1024 * 1024;

constexpr std::chrono::seconds goodbye_limit{1};

} // namespace

link::link(const asio::any_io_executor& strand, const zookeeper_config& settings,
           const zookeeper_config::address& at, std::chrono::milliseconds limit)
    : stream_(std::make_shared<session_store::stream>(strand,
                                                      session_store::stream_target(settings, at))),
      limit_(limit),
      timer_(strand)
{}

void link::open(link_user& user)
{
    user_ = &user;
    stream_->open(limit_, [self = shared_from_this()](const std::string& failure) {
        if (self->user_ == nullptr)
            return;
        if (failure.empty())
            self->opened();
        else
            self->end(failure);
    });
}

void link::opened()
{
    open_ = true;
    read_soon();
    user_->on_open();
}

void link::read_soon()
{
    const auto done = [self = shared_from_this()](error_code failed, std::size_t size) {
        if (self->user_ == nullptr && !self->ending_)
            return;
        if (failed)
            return self->ending_ ? self->close() : self->end(session_store::text_of_end(failed));
        if (!self->ending_) {
            self->received_.append(self->chunk_.data(), size);
            self->take_frames();
        }
        if (self->user_ != nullptr || self->ending_)
            self->read_soon();
    };
    stream_->on_layer([&](auto& layer) { layer.async_read_some(asio::buffer(chunk_), done); });
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
    asio::post(stream_->socket().get_executor(), [self = shared_from_this()] {
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
    stream_->on_layer([&](auto& layer) { asio::async_write(layer, asio::buffer(sending_), done); });
}

void link::fail(std::string text)
{
    asio::post(stream_->socket().get_executor(),
               [self = shared_from_this(), text = std::move(text)] {
                   if (self->user_ != nullptr)
                       self->end(text);
               });
}

void link::end(const std::string& text)
{
    const auto self = shared_from_this();
    link_user* const last = std::exchange(user_, nullptr);
    close();
    if (last != nullptr)
        last->on_closed({.code = errc::store_unavailable, .from_server = {}, .from_here = text});
}

void link::close() noexcept
{
    user_ = nullptr;
    open_ = false;
    ending_ = false;
    timer_.cancel();
    stream_->close();
}

void link::close_after(std::string_view content)
{
    user_ = nullptr;
    if (!open_)
        return close();
    send(content);
    // A socket that is closed with unread data loses what was sent.
    ending_ = true;
    timer_.expires_after(goodbye_limit);
    timer_.async_wait([weak = weak_from_this()](error_code failed) {
        if (const auto self = weak.lock(); self && !failed)
            self->close();
    });
}

} // namespace leasehold::zookeeper_store
