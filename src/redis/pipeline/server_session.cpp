#include "redis/pipeline/server_session.hpp"

#include "redis/pipeline/pipeline.hpp"

#include <utility>

namespace leasehold::redis_store {

void server_session::close() noexcept
{
    listener_ = nullptr;
    connected = false;
    up = false;
    reason_ = errc::store_unavailable;
}

void server_session::on_connected()
{
    connected = true;
    if (up || listener_ == nullptr)
        return;
    greetings_left_ = commands_.greetings();
    if (greetings_left_ == 0)
        return serve();
    ++server_;
    for (std::size_t i = 0; i < greetings_left_; ++i)
        pipeline_.add_aside([&](boost::redis::request& to) { return commands_.greeting(i, to); },
                            [this, server = server_, i](error_code failed, answers from) {
                                on_greeting(server, i, failed, from);
                            });
    pipeline_.flush();
}

void server_session::on_greeting(unsigned server, std::size_t number, error_code failed,
                                 answers from)
{
    if (server != server_ || greetings_left_ == 0 || !pipeline_.can_send())
        return;
    const std::string words = failed ? std::string() : from.front().error;
    // Without an answer the connection has ended, or it is of no use.
    error_code refused = errc::store_unavailable;
    if (!failed)
        refused = commands_.greeted(number, from, words.empty() ? error_code() : classify(words));
    if (refused) {
        greetings_left_ = 0;
        return pipeline_.begin_again(refused, words);
    }
    if (--greetings_left_ == 0)
        serve();
}

void server_session::serve()
{
    up = true;
    reported_reason_ = {};
    words_.clear();
    shows_holder = true;
    if (pipeline_.note_)
        pipeline_.note_->begin();
    if (commands_.settled())
        listener_->on_settled(0);
    if (listener_ != nullptr)
        listener_->on_connected(0);
    if (listener_ != nullptr && pipeline_.on_serving)
        pipeline_.on_serving();
}

void server_session::on_down(error_code why, std::string_view words)
{
    const bool was_up = std::exchange(up, false);
    if (std::exchange(connected, false) && pipeline_.on_lost)
        pipeline_.on_lost();
    greetings_left_ = 0;
    // Callers get the reason, so it is an error of this library. The many errors of a connection
    // all mean the same to them.
    reason_ = why == condition::bad_request || why == errc::store_refused ? why
                                                                          : errc::store_unavailable;
    words_ = words;
    if (!was_up && reason_ == reported_reason_ && words_ == reported_words_)
        return;
    if (listener_ == nullptr)
        return;
    reported_reason_ = reason_;
    reported_words_ = words_;
    if (!words.empty())
        listener_->on_error(0, reason_, *why_down({}));
    if (listener_ != nullptr)
        listener_->on_disconnected(0, reason_);
}

std::shared_ptr<diagnostics> server_session::details(std::string_view key) const
{
    const auto made = std::make_shared<diagnostics>();
    made->server = pipeline_.server();
    made->key = key;
    return made;
}

server_session::details_ptr server_session::why_down(std::string_view key) const
{
    const auto made = details(key);
    (reason_ == errc::store_unavailable ? made->connection_error : made->server_message) = words_;
    return made;
}

server_session::details_ptr server_session::explain(std::string_view key, error_code code,
                                                    std::string_view server_words) const
{
    if (server_words.empty())
        return why_down(key);
    const auto made = details(key);
    made->server_message = server_words;
    if (listener_ != nullptr)
        listener_->on_error(0, code, *made);
    return made;
}

} // namespace leasehold::redis_store
