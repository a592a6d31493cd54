#include "sql/connection/connection.hpp"

#include "base/password_file.hpp"

#include <stdexcept>
#include <utility>

namespace leasehold::sql_store {

connection::connection(std::shared_ptr<const driver> how)
    : how_(std::move(how)), time_(detail::make_system_time()), random_(detail::seed_of(*time_))
{}

void connection::open(const asio::any_io_executor& strand, connection_user& user,
                      std::size_t server, std::optional<std::string> listens)
{
    at_ = server;
    strand_ = strand;
    user_ = &user;
    listens_ = std::move(listens);
    time_->open(strand, [weak = weak_from_this()] {
        if (const auto self = weak.lock(); self && self->user_ != nullptr)
            self->attempt();
    });
    attempt();
}

void connection::close() noexcept
{
    user_ = nullptr;
    time_->close();
    if (const auto last = std::exchange(session_, nullptr))
        last->leave();
    ready_ = false;
}

void connection::drop(bool forked) noexcept
{
    const auto last = std::exchange(session_, nullptr);
    if (last && forked)
        last->abandon();
    else if (last)
        last->close();
    close();
    strand_ = {};
}

void connection::begin_again(std::size_t server)
{
    if (const auto last = std::exchange(session_, nullptr))
        last->close();
    ready_ = false;
    round_ = {};
    at_ = server;
    attempt_soon();
}

// Never inside a call of the user.
void connection::attempt_soon()
{
    time_->wake_at(time_->now());
}

void connection::attempt()
{
    ready_ = false;
    std::string password = how_->common().password;
    if (const std::string& file = how_->common().password_file; !file.empty()) {
        try {
            password = detail::read_password_file("password_file", file);
        }
        catch (const std::runtime_error& failed) {
            trouble why;
            why.code = errc::store_unavailable;
            why.from_here = failed.what();
            return next_server(why);
        }
    }
    session_ = how_->make_session(strand_, at_, std::move(password), listens_);
    session_->open(*this);
}

void connection::on_open(const session_facts& known)
{
    ready_ = true;
    round_ = {};
    user_->on_ready(known);
}

void connection::on_closed(const trouble& why)
{
    if (!std::exchange(ready_, false))
        return next_server(why);
    const auto self = shared_from_this();
    user_->on_lost(why, session_->sent_all());
    if (user_ != nullptr)
        attempt_soon();
}

/// The attempt failed. After the last server: reports it, and begins again after a pause.
void connection::next_server(const trouble& why)
{
    const settings& common = how_->common();
    // A later password may be accepted.
    const bool may_change = why.why == cause::login_rejected && !common.password_file.empty();
    round_.failed(server(), may_change ? errc::store_refused : why.code, why.from_server,
                  why.from_here);
    at_ = (at_ + 1) % common.servers.size();
    if (round_.tried() < common.servers.size())
        return attempt_soon();

    const auto [code, details] = round_.end();
    const clock::duration usual = common.reconnect;
    time_->wake_at(time_->now() + fsm::pick(random_, usual / 2, usual + usual / 2));
    user_->on_unreachable(code, details);
}

} // namespace leasehold::sql_store
