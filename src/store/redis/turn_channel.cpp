#include "store/redis/turn_channel.hpp"

#include "mutant.hpp"
#include "store/redis/layout/native_names.hpp"
#include "store/redis/protocol/reply.hpp"

#include <chrono>
#include <utility>

namespace leasehold::redis_store {
namespace {

// Permissions change seldom; until then those who wait look by themselves.
constexpr std::chrono::seconds pause_when_refused{30};

} // namespace

void turn_channel::open(const asio::any_io_executor& strand,
                        const std::shared_ptr<context_poster>& home, store_listener& listener)
{
    asio::use_service<detail::context_lifetime>(asio::query(strand, asio::execution::context))
        .add(shared_from_this());
    strand_ = strand;
    home_ = home;
    listener_ = &listener;
}

void turn_channel::close() noexcept
{
    listener_ = nullptr;
    hears_ = false;
    if (const auto last = std::exchange(connection_, nullptr))
        last->close();
}

void turn_channel::on_context_end() noexcept
{
    listener_ = nullptr;
    hears_ = false;
    if (const auto last = std::exchange(connection_, nullptr))
        last->drop();
    strand_ = {};
}

void turn_channel::on_fork() noexcept
{
    if (const auto last = std::exchange(connection_, nullptr))
        last->close();
    on_context_end();
}

void turn_channel::belongs_to(std::string_view owner)
{
    if (channel_.empty())
        native::turn_channel(native::client_of(owner), channel_);
}

void turn_channel::listen()
{
    if (connection_ || listener_ == nullptr)
        return;
    const auto made = std::make_shared<reconnecting_connection>(*from_, strand_, where_);
    // Later, because this is inside a call.
    home_->post([self = shared_from_this(), made] {
        if (self->connection_ == made)
            made->open(*self);
    });
    connection_ = made;
}

void turn_channel::on_attempt()
{
    const auto asked = std::make_shared<boost::redis::request>(
        boost::redis::request::config{.cancel_on_connection_lost = true,
                                      .cancel_if_unresponded = true,
                                      .hello_with_priority = false});
    asked->push("SUBSCRIBE", channel_);
    connection_->send(*asked, boost::redis::any_adapter(), {}, [asked](error_code, bool) {});
}

void turn_channel::on_lost(error_code, std::string_view)
{
    hears_ = false;
}

void turn_channel::on_push(const std::vector<std::string>& words)
{
    if (words.size() < 3 || words[1] != channel_ || listener_ == nullptr)
        return;
    if (words[0] == "subscribe") {
        // Turns before this may have been missed, and whoever is in line is not known to listen.
        hears_ = true;
        if (!has(mutant::listening_not_looked))
            listener_->on_listening(0);
        return;
    }
    if (words[0] != "message" || has(mutant::turn_ignored))
        return;
    // "<value of the owner> <name>"
    const std::string_view told = words[2];
    const std::size_t space = told.find(' ');
    const std::string_view owner = native::owner_of(told.substr(0, space));
    if (space != std::string_view::npos && !owner.empty())
        listener_->on_turn(told.substr(space + 1), owner);
}

void turn_channel::on_stray_error(const std::string& text)
{
    const error_code why = classify(text);
    if (!connection_)
        return;
    if (why == condition::bad_request)
        connection_->reset(why, text, pause_when_refused);
    else
        connection_->reset(why, text);
}

} // namespace leasehold::redis_store
