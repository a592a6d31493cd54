#include "redis/wakeups/push_connection.hpp"

#include "redis/protocol/reply.hpp"

#include <chrono>

namespace leasehold::redis_store {
namespace {

// Permissions change rarely; until then waiters poll.
constexpr std::chrono::seconds pause_when_denied{30};

} // namespace

void push_connection::open(const asio::any_io_executor& strand,
                           const std::shared_ptr<detail::context_poster>& poster,
                           store_listener& listener)
{
    asio::use_service<detail::context_lifetime>(asio::query(strand, asio::execution::context))
        .add(shared_from_this());
    strand_ = strand;
    poster_ = poster;
    listener_ = &listener;
}

void push_connection::open_like(const push_connection& other)
{
    if (other.listener_ != nullptr)
        open(other.strand_, other.poster_, *other.listener_);
    else
        poster_ = other.poster_;
}

void push_connection::close() noexcept
{
    listener_ = nullptr;
    on_silence();
    if (const auto last = std::exchange(connection_, nullptr))
        last->close();
}

void push_connection::on_context_end() noexcept
{
    listener_ = nullptr;
    on_silence();
    if (const auto last = std::exchange(connection_, nullptr))
        last->drop();
    on_forget();
    strand_ = {};
}

void push_connection::on_fork() noexcept
{
    if (const auto last = std::exchange(connection_, nullptr))
        last->close();
    on_context_end();
}

void push_connection::connect()
{
    const auto made = std::make_shared<reconnecting_connection>(*from_, strand_, where_);
    // Later, because this is inside a call.
    poster_->post([self = shared_from_this(), made] {
        if (self->connection_ == made)
            made->open(*self);
    });
    connection_ = made;
}

std::shared_ptr<boost::redis::request> push_connection::make_request()
{
    return std::make_shared<boost::redis::request>(
        boost::redis::request::config{.cancel_on_connection_lost = true,
                                      .cancel_if_unresponded = true,
                                      .hello_with_priority = false});
}

void push_connection::send(const std::shared_ptr<boost::redis::request>& request)
{
    connection_->send(*request, boost::redis::any_adapter(), [request](error_code) {});
}

void push_connection::begin_again(error_code why, std::string_view text,
                                  std::optional<std::chrono::milliseconds> pause)
{
    if (connection_)
        connection_->reset(why, text, pause);
}

void push_connection::on_stray_error(const std::string& text)
{
    const error_code why = classify(text);
    if (on_refusal(text) || !connection_)
        return;
    if (why == condition::bad_request)
        connection_->reset(why, text, pause_when_denied);
    else
        connection_->reset(why, text);
}

} // namespace leasehold::redis_store
