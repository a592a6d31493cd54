#include "store/redis/transport/reconnecting_connection.hpp"

#include "store/redis/protocol/reply.hpp"
#include "store/redis/transport/settings.hpp"

#include <boost/redis/error.hpp>

#include <utility>

namespace leasehold::redis_store {

// Only errors are logged, so only an attempt that failed costs anything.
wire::wire(const asio::any_io_executor& strand, const config& where)
    : settings_(connection_settings(where)), pause_(where.reconnect),
      connection_(make_connection(strand, tls_settings(where),
                                  boost::redis::logger(boost::redis::logger::level::err,
                                                       [this](boost::redis::logger::level, std::string_view text) {
                                                           complaints_.append(text).append("\n");
                                                       }))),
      timer_(strand)
{
    boost::redis::any_adapter take = pushes_.adapter();
    connection_->set_receive_response(take);
}

void wire::open(wire_user& user)
{
    user_ = &user;
    receive();
    attempt();
}

void wire::close() noexcept
{
    user_ = nullptr;
    timer_.cancel();
    connection_->cancel(boost::redis::operation::receive);
    connection_->cancel(boost::redis::operation::exec);
    connection_->cancel(boost::redis::operation::run);
}

void wire::drop() noexcept
{
    user_ = nullptr;
}

void wire::reset(error_code why, std::chrono::milliseconds pause)
{
    if (!running_ || reset_reason_)
        return;
    reset_reason_ = why;
    next_pause_ = pause;
    connection_->cancel(boost::redis::operation::run);
}

void wire::attempt()
{
    complaints_.clear();
    reset_reason_ = {};
    next_pause_.reset();
    running_ = true;
    connection_->run(settings_, [self = shared_from_this()](error_code error) { self->on_end(error); });
    if (user_ != nullptr)
        user_->on_attempt();
}

void wire::on_end(error_code error)
{
    running_ = false;
    // What came too late for this connection must not wait for the next one.
    connection_->cancel(boost::redis::operation::exec);
    pushes_.clear();
    if (user_ != nullptr)
        user_->on_lost(reason(error));
    if (user_ == nullptr)
        return;
    timer_.expires_after(next_pause_.value_or(pause_));
    timer_.async_wait([self = shared_from_this()](error_code aborted) {
        if (!aborted && self->user_ != nullptr)
            self->attempt();
    });
}

error_code wire::reason(error_code error) const
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

void wire::receive()
{
    connection_->receive([self = shared_from_this()](error_code error) {
        if (error || self->user_ == nullptr)
            return;
        const auto messages = self->pushes_.take();
        const auto errors = self->pushes_.take_errors();
        for (const auto& each : messages) {
            if (self->user_ != nullptr)
                self->user_->on_push(each);
        }
        for (const auto& each : errors) {
            if (self->user_ != nullptr)
                self->user_->on_stray_error(each);
        }
        if (self->user_ != nullptr)
            self->receive();
    });
}

} // namespace leasehold::redis_store
