#include "store/redis/transport/reconnecting_connection.hpp"

#include "store/redis/protocol/reply.hpp"
#include "store/redis/transport/settings.hpp"

#include <boost/redis/error.hpp>

#include <utility>

namespace leasehold::redis_store {

// Only errors are logged, so only an attempt that failed costs anything.
reconnecting_connection::reconnecting_connection(const asio::any_io_executor& strand,
                                                 const config& settings)
    : settings_(connection_settings(settings)),
      pause_(settings.reconnect),
      connection_(make_connection(
          strand, tls_settings(settings),
          boost::redis::logger(boost::redis::logger::level::err,
                               [this](boost::redis::logger::level, std::string_view text) {
                                   complaints_.append(text).append("\n");
                               }))),
      timer_(strand)
{
    boost::redis::any_adapter take = pushes_.adapter();
    connection_->set_receive_response(take);
}

void reconnecting_connection::open(connection_observer& user)
{
    observer_ = &user;
    receive();
    attempt();
}

void reconnecting_connection::close() noexcept
{
    observer_ = nullptr;
    timer_.cancel();
    connection_->cancel(boost::redis::operation::receive);
    connection_->cancel(boost::redis::operation::exec);
    connection_->cancel(boost::redis::operation::run);
}

void reconnecting_connection::drop() noexcept
{
    observer_ = nullptr;
}

void reconnecting_connection::reset(error_code why, std::chrono::milliseconds pause)
{
    if (!running_ || reset_reason_)
        return;
    reset_reason_ = why;
    next_pause_ = pause;
    connection_->cancel(boost::redis::operation::run);
}

void reconnecting_connection::attempt()
{
    complaints_.clear();
    reset_reason_ = {};
    next_pause_.reset();
    running_ = true;
    connection_->run(settings_,
                     [self = shared_from_this()](error_code error) { self->on_end(error); });
    if (observer_ != nullptr)
        observer_->on_attempt();
}

void reconnecting_connection::on_end(error_code error)
{
    running_ = false;
    // What came too late for this connection must not wait for the next one.
    connection_->cancel(boost::redis::operation::exec);
    pushes_.clear();
    if (observer_ != nullptr)
        observer_->on_lost(reason(error));
    if (observer_ == nullptr)
        return;
    timer_.expires_after(next_pause_.value_or(pause_));
    timer_.async_wait([self = shared_from_this()](error_code aborted) {
        if (!aborted && self->observer_ != nullptr)
            self->attempt();
    });
}

error_code reconnecting_connection::reason(error_code error) const
{
    if (reset_reason_)
        return reset_reason_;
    // The server's own words, when it refused to set the connection up, are only in the log.
    const std::optional<errc> told = find_reason(complaints_);
    if (told == errc::permission_denied)
        return errc::permission_denied;
    if (error == boost::redis::error::resp3_hello)
        return told.value_or(errc::store_refused);
    return error ? error : error_code(errc::store_unavailable);
}

void reconnecting_connection::receive()
{
    connection_->receive([self = shared_from_this()](error_code error) {
        if (error || self->observer_ == nullptr)
            return;
        const auto messages = self->pushes_.take();
        const auto errors = self->pushes_.take_errors();
        for (const auto& each : messages) {
            if (self->observer_ != nullptr)
                self->observer_->on_push(each);
        }
        for (const auto& each : errors) {
            if (self->observer_ != nullptr)
                self->observer_->on_stray_error(each);
        }
        if (self->observer_ != nullptr)
            self->receive();
    });
}

} // namespace leasehold::redis_store
