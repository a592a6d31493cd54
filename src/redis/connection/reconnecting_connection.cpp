#include "redis/connection/reconnecting_connection.hpp"

#include "redis/config/credentials.hpp"
#include "redis/connection/reconnect_pause.hpp"
#include "redis/connection/settings.hpp"
#include "redis/protocol/reply.hpp"

#include <boost/asio/post.hpp>
#include <boost/redis/error.hpp>

#include <cstddef>
#include <exception>
#include <new>
#include <utility>

namespace leasehold::redis_store {
namespace {

/// The server's text in the log of a failed attempt; empty: none.
std::string_view words_of_server(std::string_view log)
{
    if (const std::string_view known = find_words(log); !known.empty())
        return known;
    // Some proxies send errors without a code.
    constexpr std::string_view before = "Setup request execution failed: ";
    const std::size_t at = log.find(before);
    if (at == log.npos)
        return {};
    const std::string_view rest = log.substr(at + before.size());
    return hello_rejection(rest).empty() ? std::string_view() : rest.substr(0, rest.find('\n'));
}

} // namespace

reconnecting_connection::reconnecting_connection(environment& from,
                                                 const asio::any_io_executor& strand,
                                                 const redis_config& settings)
    : where_(settings),
      settings_(connection_settings(settings)),
      patience_(settings.timeout, settings.addresses.size()),
      pause_(settings.reconnect),
      strand_(strand),
      connection_(from.make_connection(
          strand, settings,
          [this](std::string_view text) { complaints_.append(text).append("\n"); })),
      time_(from.make_time()),
      random_(detail::seed_of(*time_))
{
    boost::redis::any_adapter take = pushes_.adapter();
    connection_->set_receive_response(take);
}

void reconnecting_connection::open(connection_observer& user)
{
    observer_ = &user;
    time_->open(strand_, [weak = weak_from_this()] {
        if (const auto self = weak.lock(); self && self->observer_ != nullptr)
            self->attempt();
    });
    receive();
    attempt();
}

void reconnecting_connection::close() noexcept
{
    observer_ = nullptr;
    time_->close();
    connection_->cancel(boost::redis::operation::receive);
    connection_->cancel(boost::redis::operation::exec);
    connection_->cancel(boost::redis::operation::run);
}

void reconnecting_connection::drop() noexcept
{
    observer_ = nullptr;
    time_->close();
}

void reconnecting_connection::reset(error_code why, std::string_view text,
                                    std::optional<std::chrono::milliseconds> pause)
{
    if (!running_ || reset_reason_)
        return;
    reset_words_ = text;
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
    if (!prepare())
        return asio::post(strand_, [self = shared_from_this()] { self->on_end({}); });
    connection_->run(settings_,
                     [self = shared_from_this()](error_code error) { self->on_end(error); });
    if (observer_ != nullptr)
        observer_->on_attempt();
}

/// Sets the first commands, with the credentials of now. Returns false if there are none.
bool reconnecting_connection::prepare()
{
    try {
        write_setup(settings_, where_);
        limit_sentinels(settings_, patience_.current());
        return true;
    }
    catch (const std::bad_alloc&) {
        throw;
    }
    catch (const std::exception& failed) {
        reset_words_ = failed.what();
    }
    catch (...) {
        reset_words_ = "credentials_source threw an exception that is no std::exception";
    }
    reset_reason_ = errc::store_unavailable;
    return false;
}

void reconnecting_connection::on_end(error_code error)
{
    running_ = false;
    if (error == boost::redis::error::sentinel_resolve_failed)
        patience_.none_answered();
    else
        patience_.one_answered();
    // Requests that came too late for this connection must not wait for the next one.
    connection_->cancel(boost::redis::operation::exec);
    pushes_.clear();
    if (observer_ == nullptr)
        return;
    // The server's text, if it refused to set the connection up, is only in the log.
    const std::string_view text = reset_reason_ ? std::string_view(reset_words_)
                                                : words_of_server(complaints_);
    const std::string rejected = reset_reason_ ? std::string() : hello_rejection(text);
    if (!rejected.empty()) {
        observer_->on_lost(errc::not_supported, rejected);
    }
    else {
        const std::string trouble = text.empty() ? connection_->trouble(error) : std::string();
        observer_->on_lost(reason(error, text), text.empty() ? trouble : text);
    }
    if (observer_ == nullptr)
        return;
    const clock::duration pause = next_pause_ ? clock::duration(*next_pause_)
                                              : reconnect_pause(pause_, random_);
    time_->wake_at(time_->now() + pause);
}

error_code reconnecting_connection::reason(error_code error, std::string_view text) const
{
    if (reset_reason_)
        return reset_reason_;
    const error_code reason = text.empty() ? error_code() : error_code(classify(text));
    const bool by_sentinels = error == boost::redis::error::sentinel_resolve_failed;
    if (is_login_rejected(text) &&
        (by_sentinels ? may_change_sentinel_credentials(where_) : may_change_credentials(where_)))
        return errc::store_refused; // the next password may be accepted
    if (reason == condition::bad_request)
        return reason;
    if (error == boost::redis::error::resp3_hello)
        return reason ? reason : error_code(errc::store_refused);
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
