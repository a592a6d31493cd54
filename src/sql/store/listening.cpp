#include "sql/store/listening.hpp"

#include <string>

namespace leasehold::sql_store {

void listening::open(const asio::any_io_executor& strand, store_listener& listener)
{
    strand_ = strand;
    listener_ = &listener;
    time_->open(strand, [weak = weak_from_this()] {
        if (const auto self = weak.lock(); self && self->listener_ != nullptr)
            self->check();
    });
}

void listening::close() noexcept
{
    listener_ = nullptr;
    session_ = {};
    time_->close();
    connection_->close();
}

void listening::drop(bool forked) noexcept
{
    listener_ = nullptr;
    session_ = {};
    time_->close();
    connection_->drop(forked);
    strand_ = {};
}

void listening::need(std::string_view client, std::size_t server)
{
    if (opened_ || listener_ == nullptr)
        return;
    opened_ = true;
    connection_->open(strand_, *this, server, std::string(client));
}

void listening::follow(std::size_t server)
{
    if (!opened_ || listener_ == nullptr || connection_->server_index() == server)
        return;
    connection_->begin_again(server);
    interrupted();
}

void listening::on_ready(const session_facts& known)
{
    session_ = known.listener;
    time_->wake_at(time_->now() + health_check_);
    listener_->on_listening(0);
}

void listening::on_lost(const trouble&, bool)
{
    interrupted();
}

/// The connection for requests reports its own reason.
void listening::on_unreachable(error_code, const diagnostics&)
{
    session_ = {};
}

void listening::interrupted()
{
    session_ = {};
    listener_->on_listening(0);
}

void listening::check()
{
    session* const checked = connection_->ready();
    if (checked == nullptr)
        return;
    checked->check();
    time_->wake_at(time_->now() + health_check_);
}

} // namespace leasehold::sql_store
