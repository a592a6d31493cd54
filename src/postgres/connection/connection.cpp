#include "postgres/connection/connection.hpp"

#include "base/password_file.hpp"
#include "base/server_clock.hpp"
#include "postgres/config/address.hpp"
#include "postgres/protocol/identifier.hpp"
#include "postgres/protocol/schema_version.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace leasehold::postgres_store {
namespace {

/// The settings of a session. The defaults of the database or the user may not fit: a row must be
/// read after its lock was awaited, and a stuck transaction must not block the others for long.
std::string settings_query(const postgres_config& settings, int server_version)
{
    const char* const commit = settings.durability == postgres_config::commit_durability::full
                                   ? "on"
                               : settings.durability == postgres_config::commit_durability::local
                                   ? "local"
                                   : "off";
    const std::string limit = std::to_string(settings.timeout.count());
    const std::pair<const char*, std::string> all[] = {
        {"default_transaction_isolation", "read committed"},
        {"synchronous_commit", commit},
        {"lock_timeout", std::to_string(std::min<std::int64_t>(1000, settings.timeout.count()))},
        {"statement_timeout", limit},
        {"idle_in_transaction_session_timeout", limit},
        {"tcp_keepalives_idle", "5"},
        {"tcp_keepalives_interval", "2"},
        {"tcp_keepalives_count", "3"},
        {"jit", "off"},
        {"client_min_messages", "warning"},
    };
    std::string text = "select pg_catalog.current_setting('transaction_read_only') = 'on', "
                       "(extract(epoch from pg_catalog.clock_timestamp()) * 1000000)::bigint";
    const auto add = [&text](const char* name, const std::string& value) {
        text.append(", pg_catalog.set_config('").append(name).append("', '");
        text.append(value).append("', false)");
    };
    for (const auto& [name, value] : all)
        add(name, value);
    if (server_version >= 140000)
        add("idle_session_timeout", "0");
    return text;
}

/// The more important failure explains why no server can be used.
int weight(const trouble& why) noexcept
{
    if (why.code == condition::bad_request)
        return 2;
    return why.code == errc::store_refused ? 1 : 0;
}

} // namespace

connection::connection(const postgres_config& settings)
    : settings_(settings), time_(detail::make_system_time()), random_(detail::seed_of(*time_))
{}

void connection::open(const asio::any_io_executor& strand, connection_user& user,
                      std::size_t server)
{
    at_ = server;
    strand_ = strand;
    user_ = &user;
    time_->open(strand, [weak = weak_from_this()] {
        if (const auto self = weak.lock(); self && self->user_ != nullptr)
            self->attempt();
    });
    attempt();
}

void connection::close() noexcept
{
    user_ = nullptr;
    ready_ = false;
    time_->close();
    if (const auto last = std::exchange(session_, nullptr))
        last->close();
}

void connection::drop(bool forked) noexcept
{
    if (session_ && forked)
        session_->abandon();
    close();
    strand_ = {};
}

void connection::begin_again(std::size_t server)
{
    if (const auto last = std::exchange(session_, nullptr))
        last->close();
    ready_ = false;
    tried_ = 0;
    at_ = server;
    attempt_soon();
}

std::string connection::server() const
{
    return name_of(settings_.addresses[at_]);
}

// Never inside a call of the user.
void connection::attempt_soon()
{
    time_->wake_at(time_->now());
}

void connection::attempt()
{
    ready_ = false;
    answered_ = 0;
    failed_ = {};
    read_only_ = false;
    std::string password = settings_.password;
    if (!settings_.password_file.empty()) {
        try {
            password = detail::read_password_file("password_file", settings_.password_file);
        }
        catch (const std::runtime_error& failed) {
            trouble why;
            why.code = errc::store_unavailable;
            why.from_here = failed.what();
            return next_server(why);
        }
    }
    session_ = std::make_shared<session>(strand_, settings_, settings_.addresses[at_],
                                         std::move(password));
    session_->open(*this);
}

void connection::on_open()
{
    const parameters none;
    session_->execute(settings_query(settings_, session_->server_version()), none);
    session_->execute("select " + quoted(settings_.schema) + ".version()", none);
    user_->on_setup(*session_);
    session_->finish_batch();
}

void connection::on_result(const PGresult& result)
{
    if (ready_)
        return user_->on_result(result);
    const ExecStatusType status = PQresultStatus(&result);
    if (status == PGRES_PIPELINE_SYNC)
        return end_setup();
    const std::size_t number = answered_++;
    if (status == PGRES_FATAL_ERROR) {
        if (!failed_.code)
            failed_ = trouble_of(result);
        return;
    }
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
        return;
    if (number == 0 && PQntuples(&result) == 1) {
        const row_reader row(result, 0);
        read_only_ = row.number(0) != 0;
        server_us_ = row.number(1);
    }
    else if (number == 1 && PQntuples(&result) == 1) {
        version_ = row_reader(result, 0).number(0);
    }
    else {
        user_->on_setup_result(result);
    }
}

void connection::end_setup()
{
    const auto unfit = [this](error_code code, std::string text) {
        failed_ = {};
        failed_.code = code;
        failed_.from_server = std::move(text);
    };
    if (read_only_)
        unfit(errc::store_refused, "the server is read-only: a standby, or not allowed to write");
    else if (failed_.code && is_schema_missing(failed_.sqlstate))
        unfit(errc::not_supported, failed_.from_server + "; " + how_to_install(settings_));
    else if (!failed_.code && version_ != schema_version)
        unfit(errc::not_supported, "the schema has version " + std::to_string(version_) +
                                       ", must have version " + std::to_string(schema_version) +
                                       "; " + how_to_install(settings_));
    else if (!failed_.code && !detail::is_server_time(server_us_))
        unfit(errc::store_refused, "the server's clock is not between 1970 and 2255");
    if (failed_.code) {
        session_->close();
        const trouble why = std::exchange(failed_, {});
        return next_server(why);
    }
    ready_ = true;
    tried_ = 0;
    worst_ = {};
    texts_.clear();
    user_->on_ready(server_us_);
}

void connection::on_notification(std::string_view payload)
{
    if (ready_)
        user_->on_notification(payload);
}

void connection::on_closed(const trouble& why)
{
    if (!std::exchange(ready_, false))
        return next_server(why);
    const auto self = shared_from_this();
    tried_ = 0;
    user_->on_lost(why, session_->sent_all());
    if (user_ != nullptr)
        attempt_soon();
}

/// The attempt failed. After the last server: reports it, and begins again after a pause.
void connection::next_server(const trouble& why)
{
    trouble known = why;
    // A later password may be accepted.
    if (is_login_rejected(known.sqlstate) && !settings_.password_file.empty())
        known.code = errc::store_refused;
    const std::string& text = known.from_server.empty() ? known.from_here : known.from_server;
    texts_.append(texts_.empty() ? "" : "; ").append(server()).append(": ").append(text);
    if (tried_ == 0 || weight(known) > weight(worst_)) {
        worst_ = std::move(known);
        worst_at_ = at_;
    }
    at_ = (at_ + 1) % settings_.addresses.size();
    if (++tried_ < settings_.addresses.size())
        return attempt_soon();

    diagnostics details;
    details.server = name_of(settings_.addresses[worst_at_]);
    details.server_message = worst_.from_server;
    details.connection_error = settings_.addresses.size() > 1 ? texts_ : worst_.from_here;
    const error_code code = worst_.code;
    tried_ = 0;
    worst_ = {};
    texts_.clear();
    const clock::duration usual = settings_.reconnect;
    time_->wake_at(time_->now() + fsm::pick(random_, usual / 2, usual + usual / 2));
    user_->on_unreachable(code, details);
}

} // namespace leasehold::postgres_store
