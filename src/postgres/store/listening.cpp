#include "postgres/store/listening.hpp"

#include "base/base64.hpp"
#include "postgres/protocol/identifier.hpp"

#include <utility>

namespace leasehold::postgres_store {

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
    number_ = 0;
    time_->close();
    // The server ends a session some time after its connection, and this is sooner.
    if (session* const last = connection_->ready())
        last->say_last("select pg_catalog.pg_advisory_unlock_all()");
    connection_->close();
}

void listening::drop(bool forked) noexcept
{
    listener_ = nullptr;
    number_ = 0;
    time_->close();
    connection_->drop(forked);
    strand_ = {};
}

void listening::need(std::string_view client, std::size_t server)
{
    if (opened_ || listener_ == nullptr)
        return;
    client_ = client;
    opened_ = true;
    connection_->open(strand_, *this, server);
}

void listening::follow(std::size_t server)
{
    if (!opened_ || listener_ == nullptr || connection_->server_index() == server)
        return;
    connection_->begin_again(server);
    interrupted();
}

void listening::on_setup(session& to)
{
    parameters values;
    values.add(client_);
    to.execute("select * from " + quoted(settings_.schema) + ".attend($1::bytea)", values);
}

void listening::on_setup_result(const PGresult& result)
{
    if (PQntuples(&result) == 1 && PQnfields(&result) == 2)
        next_number_ = static_cast<std::int32_t>(row_reader(result, 0).number(1));
}

void listening::on_ready(std::int64_t)
{
    number_ = next_number_;
    time_->wake_at(time_->now() + settings_.health_check);
    listener_->on_listening(0);
}

/// Each "base64(owner) base64(name)".
void listening::on_notification(std::string_view payload)
{
    const std::size_t space = payload.find(' ');
    if (space == payload.npos)
        return;
    const auto owner = detail::decode_base64(payload.substr(0, space));
    const auto name = detail::decode_base64(payload.substr(space + 1));
    if (owner && name)
        listener_->on_grant(*name, *owner);
}

void listening::on_lost(const trouble&, bool)
{
    interrupted();
}

/// The connection for requests reports its own reason.
void listening::on_unreachable(error_code, const diagnostics&)
{
    number_ = 0;
}

void listening::interrupted()
{
    number_ = 0;
    listener_->on_listening(0);
}

/// An empty batch: the session fails if it is not answered in time.
void listening::check()
{
    session* const checked = connection_->ready();
    if (checked == nullptr)
        return;
    if (!checked->busy())
        checked->finish_batch();
    time_->wake_at(time_->now() + settings_.health_check);
}

} // namespace leasehold::postgres_store
