#include "postgres/connection/prepared_session.hpp"

#include "base/base64.hpp"
#include "base/server_clock.hpp"
#include "postgres/connection/pq_rows.hpp"
#include "postgres/protocol/identifier.hpp"
#include "postgres/protocol/schema_version.hpp"
#include "postgres/protocol/statements.hpp"

#include <algorithm>
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

} // namespace

prepared_session::prepared_session(const asio::any_io_executor& strand,
                                   const postgres_config& settings, std::size_t server,
                                   std::string password, const std::optional<std::string>& listens)
    : settings_(settings),
      schema_(quoted(settings.schema)),
      listens_(listens),
      session_(std::make_shared<postgres_store::session>(
          strand, settings, settings.addresses[server], std::move(password)))
{}

void prepared_session::open(sql_store::session_user& user)
{
    user_ = &user;
    session_->open(*this);
}

void prepared_session::close() noexcept
{
    user_ = nullptr;
    session_->close();
}

void prepared_session::abandon() noexcept
{
    user_ = nullptr;
    session_->abandon();
}

// The server ends a session some time after its connection, and this is sooner.
void prepared_session::leave() noexcept
{
    if (listens_)
        session_->say_last("select pg_catalog.pg_advisory_unlock_all()");
    close();
}

void prepared_session::add(const sql_store::call& made)
{
    if (const char* const name = name_of(made.what))
        session_->execute_prepared(name, encode(made));
    else
        session_->execute(text_of(made, schema_), encode(made));
}

/// An empty batch: the session fails if it is not answered in time.
void prepared_session::check()
{
    if (!session_->busy())
        session_->finish_batch();
}

void prepared_session::on_open()
{
    session_->execute(settings_query(settings_, session_->server_version()), {});
    session_->execute("select " + schema_ + ".version()", {});
    if (listens_) {
        parameters values;
        values.add(*listens_);
        session_->execute("select * from " + schema_ + ".attend($1::bytea)", values);
    }
    else {
        for (const procedure each : prepared_statements)
            session_->prepare(name_of(each), text_of({each}, schema_));
    }
    session_->finish_batch();
}

void prepared_session::on_result(const PGresult& result)
{
    const auto self = shared_from_this();
    const ExecStatusType status = PQresultStatus(&result);
    if (!ready_)
        return status == PGRES_PIPELINE_SYNC ? end_setup() : on_setup_result(result);
    if (status == PGRES_PIPELINE_SYNC)
        user_->on_batch_end();
    else if (status == PGRES_FATAL_ERROR)
        user_->on_failure(trouble_of(result));
    else if (status == PGRES_TUPLES_OK)
        user_->on_reply(pq_rows(result));
}

void prepared_session::on_setup_result(const PGresult& result)
{
    const ExecStatusType status = PQresultStatus(&result);
    const std::size_t number = answered_++;
    if (status == PGRES_FATAL_ERROR && !failed_.code)
        failed_ = trouble_of(result);
    if (status != PGRES_TUPLES_OK || PQntuples(&result) != 1)
        return;
    const pq_rows row(result);
    if (number == 0) {
        read_only_ = row.number(0, 0) != 0;
        known_.server_us = row.number(0, 1);
    }
    else if (number == 1) {
        version_ = row.number(0, 0);
    }
    else if (listens_ && row.columns() == 2) {
        known_.listener.number = row.number(0, 1);
    }
}

void prepared_session::end_setup()
{
    const auto unfit = [this](error_code code, std::string text) {
        failed_ = {};
        failed_.code = code;
        failed_.from_server = std::move(text);
    };
    if (read_only_)
        unfit(errc::store_refused, "the server is read-only: a standby, or not allowed to write");
    else if (failed_.why == sql_store::cause::schema_missing)
        unfit(errc::not_supported, failed_.from_server + "; " + how_to_install(settings_));
    else if (!failed_.code && version_ != schema_version)
        unfit(errc::not_supported, "the schema has version " + std::to_string(version_) +
                                       ", must have version " + std::to_string(schema_version) +
                                       "; " + how_to_install(settings_));
    else if (!failed_.code && !detail::is_server_time(known_.server_us))
        unfit(errc::store_refused, "the server's clock is not between 1970 and 2255");
    if (failed_.code)
        return on_closed(failed_);
    ready_ = true;
    user_->on_open(known_);
}

/// "base64(owner) base64(name)".
void prepared_session::on_notification(std::string_view payload)
{
    const auto self = shared_from_this();
    const std::size_t space = payload.find(' ');
    if (!ready_ || space == payload.npos)
        return;
    const auto owner = detail::decode_base64(payload.substr(0, space));
    const auto name = detail::decode_base64(payload.substr(space + 1));
    if (owner && name)
        user_->on_grant(*name, *owner);
}

void prepared_session::on_closed(const trouble& why)
{
    const auto self = shared_from_this();
    const trouble known = why;
    sql_store::session_user* const last = std::exchange(user_, nullptr);
    session_->close();
    last->on_closed(known);
}

} // namespace leasehold::postgres_store
