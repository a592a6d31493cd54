#include "mysql/connection/session.hpp"

#include "base/server_clock.hpp"
#include "base/tls.hpp"
#include "mysql/config/config_check.hpp"
#include "mysql/protocol/errors.hpp"
#include "mysql/protocol/schema_version.hpp"
#include "mysql/protocol/statements.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/mysql/any_connection.hpp>
#include <boost/mysql/connect_params.hpp>
#include <boost/mysql/diagnostics.hpp>
#include <boost/mysql/error_categories.hpp>
#include <boost/mysql/results.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace leasehold::mysql_store {
namespace {

namespace asio = boost::asio;
namespace mysql = boost::mysql;
using sql_store::trouble;
using tls_mode = mysql_config::tls_mode;

class result_rows final : public sql_store::rows
{
public:
    explicit result_rows(mysql::resultset_view from) noexcept : from_(from) {}

    [[nodiscard]] std::size_t size() const noexcept override { return from_.rows().size(); }
    [[nodiscard]] std::size_t columns() const noexcept override { return from_.meta().size(); }
    [[nodiscard]] bool is_null(std::size_t row, std::size_t column) const noexcept override
    {
        return from_.rows()[row][column].is_null();
    }
    [[nodiscard]] std::string_view bytes(std::size_t row,
                                         std::size_t column) const noexcept override
    {
        const mysql::field_view field = from_.rows()[row][column];
        if (field.is_string())
            return field.get_string();
        if (!field.is_blob() || field.get_blob().empty())
            return {};
        const mysql::blob_view blob = field.get_blob();
        return {reinterpret_cast<const char*>(blob.data()), blob.size()};
    }
    [[nodiscard]] std::int64_t number(std::size_t row, std::size_t column) const noexcept override
    {
        const mysql::field_view field = from_.rows()[row][column];
        if (field.is_int64())
            return field.get_int64();
        if (field.is_uint64())
            return static_cast<std::int64_t>(field.get_uint64());
        std::int64_t value = 0;
        const std::string_view text = bytes(row, column);
        std::from_chars(text.data(), text.data() + text.size(), value);
        return value;
    }

private:
    const mysql::resultset_view from_;
};

/// One text.
class text_row final : public sql_store::rows
{
public:
    explicit text_row(std::string text) noexcept : text_(std::move(text)) {}

    [[nodiscard]] std::size_t size() const noexcept override { return 1; }
    [[nodiscard]] std::size_t columns() const noexcept override { return 1; }
    [[nodiscard]] bool is_null(std::size_t, std::size_t) const noexcept override { return false; }
    [[nodiscard]] std::string_view bytes(std::size_t, std::size_t) const noexcept override
    {
        return text_;
    }
    [[nodiscard]] std::int64_t number(std::size_t, std::size_t) const noexcept override
    {
        return text_ == "1" ? 1 : 0;
    }

private:
    const std::string text_;
};

/// The settings of the session, then what is to be known of the server. The defaults may not fit: a
/// row must be read after its lock was awaited, and must not be awaited for long.
constexpr char settings_text[] =
    "set session transaction isolation level read committed;"
    "set session time_zone = '+00:00', autocommit = 1, sql_mode = 'STRICT_ALL_TABLES',"
    " innodb_lock_wait_timeout = 1, wait_timeout = 2147483;"
    "select @@global.read_only in ('0', 'OFF') and not @@global.innodb_read_only,"
    " @@global.innodb_flush_log_at_trx_commit,"
    " cast(unix_timestamp(sysdate(6)) * 1000000 as signed)";

constexpr char rollback_text[] = "rollback;set @leasehold_ring = null";

/// The first wait for grants after a grant, see `leasehold_attend`.
constexpr std::chrono::milliseconds shortest_wait{20};

bool is_from_server(const boost::system::error_code& failed)
{
    return failed.category() == mysql::get_common_server_category() ||
           failed.category() == mysql::get_mysql_server_category() ||
           failed.category() == mysql::get_mariadb_server_category();
}

trouble here(std::string text, error_code code = errc::store_unavailable)
{
    trouble why;
    why.code = code;
    why.from_here = std::move(text);
    return why;
}

std::optional<asio::ssl::context> tls_context(const mysql_config& settings, const std::string& host)
{
    if (settings.tls == tls_mode::disable)
        return std::nullopt;
    const bool verify = settings.tls == tls_mode::verify_ca ||
                        settings.tls == tls_mode::verify_full;
    std::optional<asio::ssl::context> made(
        detail::make_tls_context({.ca_file = settings.tls_ca_file,
                                  .cert_file = settings.tls_cert_file,
                                  .key_file = settings.tls_key_file,
                                  .verify = verify}));
    if (settings.tls == tls_mode::verify_full)
        made->set_verify_callback(asio::ssl::host_name_verification(host));
    return made;
}

class mysql_session final : public sql_store::session,
                            public std::enable_shared_from_this<mysql_session>
{
    using step = void (mysql_session::*)(error_code);

    /// A handler that takes the next step, unless the session was closed.
    auto next(step taken)
    {
        busy_ = true;
        return asio::bind_cancellation_slot(signal_.slot(),
                                            [self = shared_from_this(), taken](error_code failed) {
                                                self->busy_ = false;
                                                if (self->user_ != nullptr)
                                                    (self.get()->*taken)(failed);
                                            });
    }

public:
    mysql_session(const asio::any_io_executor& strand, std::shared_ptr<const mysql_config> settings,
                  std::size_t server, std::string password, bool listens)
        : settings_(std::move(settings)),
          at_(settings_->addresses[server]),
          listens_(listens),
          strand_(strand),
          timer_(strand)
    {
        if (is_socket(at_))
            target_.server_address.emplace_unix_path(at_.host);
        else
            target_.server_address.emplace_host_and_port(at_.host, at_.port);
        target_.username = settings_->user;
        target_.password = std::move(password);
        target_.database = settings_->database;
        target_.multi_queries = true;
        target_.ssl = settings_->tls == tls_mode::disable  ? mysql::ssl_mode::disable
                      : settings_->tls == tls_mode::prefer ? mysql::ssl_mode::enable
                                                           : mysql::ssl_mode::require;
    }

    void open(sql_store::session_user& user) override
    {
        user_ = &user;
        mysql::any_connection_params how;
        try {
            tls_ = tls_context(*settings_, at_.host);
        }
        catch (const boost::system::system_error& failed) {
            return asio::post(strand_,
                              [self = shared_from_this(), text = std::string(failed.what())] {
                                  if (self->user_ != nullptr)
                                      self->fail(here(text));
                              });
        }
        if (tls_)
            how.ssl_context = &*tls_;
        connection_.emplace(strand_, how);
        limit(settings_->timeout);
        connection_->async_connect(target_, said_, next(&mysql_session::on_connected));
    }

    void close() noexcept override
    {
        user_ = nullptr;
        timer_.cancel();
        signal_.emit(asio::cancellation_type::terminal);
    }

    // Nothing is sent by the destruction of the connection.
    void abandon() noexcept override { user_ = nullptr; }

    void leave() noexcept override
    {
        const bool idle = ready_ && !busy_;
        close();
        if (!idle)
            return;
        try { // the server's log would show an aborted connection
            limit(settings_->timeout);
            connection_->async_close(
                said_, asio::bind_cancellation_slot(
                           signal_.slot(),
                           [self = shared_from_this()](error_code) { self->timer_.cancel(); }));
        }
        catch (const std::bad_alloc&) {
        }
    }

    void add(const sql_store::call& made) override
    {
        if (calls_.empty())
            text_ = "start transaction;";
        text_.append(text_of(made, order_)).append(";");
        calls_.push_back(made.what);
    }

    // The bells of the waiters that got grants ring when their grants can be read.
    void finish_batch() override
    {
        text_ += "commit;call leasehold_ring()";
        complete_ = true;
        if (!busy_)
            send();
    }

    [[nodiscard]] bool sent_all() const noexcept override { return !complete_; }

private:
    void execute(step then) { connection_->async_execute(text_, results_, said_, next(then)); }

    void send()
    {
        complete_ = false;
        limit(settings_->timeout);
        execute(&mysql_session::on_batch);
    }

    /// Nothing is read from an idle connection, so its loss is found by a ping.
    void rest()
    {
        if (!busy_)
            limit(settings_->health_check);
    }

    void ping()
    {
        limit(settings_->timeout);
        connection_->async_ping(said_, next(&mysql_session::on_pinged));
    }

    void on_pinged(error_code failed)
    {
        if (failed)
            return fail(trouble_here(failed));
        if (complete_)
            return send();
        rest();
    }

    void on_connected(error_code failed)
    {
        target_.password.clear();
        if (failed)
            return fail(trouble_here(failed));
        text_ = settings_text;
        execute(&mysql_session::on_settings);
    }

    void on_settings(error_code failed)
    {
        if (failed)
            return fail(trouble_here(failed));
        const result_rows facts(results_.at(2));
        known_.server_us = facts.number(0, 2);
        if (facts.number(0, 0) == 0)
            return fail(unfit(errc::store_refused, "the server is read-only"));
        if (!detail::is_server_time(known_.server_us))
            return fail(
                unfit(errc::store_refused, "the server's clock is not between 1970 and 2255"));
        if (settings_->durability == mysql_config::commit_durability::full &&
            facts.number(0, 1) != 1)
            return fail(unfit(errc::not_supported, "innodb_flush_log_at_trx_commit is " +
                                                       std::to_string(facts.number(0, 1)) +
                                                       ", must be 1 for durability=full"));
        // The last one also shows that the user may call it.
        text_ = "call leasehold_version();call leasehold_";
        text_ += listens_ ? "listen()" : "ring()";
        execute(&mysql_session::on_schema);
    }

    void on_schema(error_code failed)
    {
        if (failed) {
            trouble why = trouble_here(failed);
            if (why.why == sql_store::cause::schema_missing)
                why.from_server += "; " + how_to_install(settings_->database);
            return fail(std::move(why));
        }
        const std::int64_t version = result_rows(results_.at(0)).number(0, 0);
        if (version != schema_version)
            return fail(unfit(errc::not_supported,
                              "the schema has version " + std::to_string(version) +
                                  ", must have version " + std::to_string(schema_version) + "; " +
                                  how_to_install(settings_->database)));
        ready_ = true;
        timer_.cancel();
        text_.clear();
        if (!listens_) {
            rest();
            return user_->on_open(known_);
        }
        const result_rows listener(results_.at(2));
        known_.listener = {listener.number(0, 0), listener.number(0, 1) != 0};
        user_->on_open(known_);
        if (user_ != nullptr)
            attend();
    }

    void on_batch(error_code failed)
    {
        timer_.cancel();
        text_.clear();
        if (failed) {
            failed_ = trouble_here(failed);
            if (!is_from_server(failed) || failed_.fatal)
                return fail(failed_);
            text_ = rollback_text;
            limit(settings_->timeout);
            return execute(&mysql_session::on_rolled_back);
        }
        const auto calls = std::exchange(calls_, {});
        // Handlers may begin the next batch.
        const mysql::results results = std::exchange(results_, {});
        std::size_t at = 1; // after `start transaction`
        for (const sql_store::procedure each : calls) {
            const bool has_rows = !results.at(at).meta().empty();
            if (each == sql_store::procedure::renew)
                user_->on_reply(text_row(in_order_of_calls(result_rows(results.at(at)))));
            else
                user_->on_reply(result_rows(results.at(at)));
            if (user_ == nullptr)
                return;
            // A procedure has an empty result behind its rows.
            at += has_rows && each != sql_store::procedure::query ? 2 : 1;
        }
        user_->on_batch_end();
        if (user_ != nullptr)
            rest();
    }

    void on_rolled_back(error_code failed)
    {
        timer_.cancel();
        text_.clear();
        if (failed)
            return fail(trouble_here(failed));
        calls_.clear();
        const trouble why = std::exchange(failed_, {});
        user_->on_failure(why);
        if (user_ != nullptr)
            user_->on_batch_end();
        if (user_ != nullptr)
            rest();
    }

    std::string in_order_of_calls(const result_rows& from)
    {
        const auto order = std::exchange(order_, {});
        const std::string_view given = from.bytes(0, 0);
        if (given.size() != order.size())
            return {};
        std::string digits(order.size(), '0');
        for (std::size_t i = 0; i < order.size(); ++i)
            digits[order[i]] = given[i];
        return digits;
    }

    /// Waits for grants. The procedure looks for them before it waits, and a ring in between has
    /// no effect, so the first waits after a grant are short.
    void attend()
    {
        std::string known = ",";
        for (const std::string& grant : announced_)
            known.append(grant).append(",");
        text_ = "call leasehold_attend('" + known + "'," +
                std::to_string(static_cast<double>(wait_.count()) / 1000) + ")";
        limit(wait_ + settings_->timeout);
        execute(&mysql_session::on_attended);
    }

    void on_attended(error_code failed)
    {
        timer_.cancel();
        wait_ = std::min(4 * wait_, std::max(shortest_wait, settings_->health_check));
        if (failed && is_from_server(failed) && failed.value() == query_interrupted) {
            wait_ = shortest_wait;
            return attend();
        }
        if (failed)
            return fail(trouble_here(failed));
        const mysql::results results = std::exchange(results_, {});
        const result_rows grants(results.at(0));
        std::set<std::string> announced;
        for (std::size_t i = 0; i < grants.size() && user_ != nullptr; ++i) {
            const auto [grant, is_new] = announced.emplace(grants.bytes(i, 2));
            if (!is_new || announced_.count(*grant) != 0)
                continue;
            wait_ = shortest_wait;
            user_->on_grant(grants.bytes(i, 0), grants.bytes(i, 1));
        }
        announced_ = std::move(announced);
        if (user_ != nullptr)
            attend();
    }

    void fail(trouble why)
    {
        const auto self = shared_from_this();
        sql_store::session_user* const last = user_;
        close();
        last->on_closed(why);
    }

    static trouble unfit(error_code code, std::string text)
    {
        trouble why;
        why.code = code;
        why.from_server = std::move(text);
        return why;
    }

    [[nodiscard]] trouble trouble_here(const error_code& failed) const
    {
        if (is_from_server(failed))
            return mysql_store::trouble_of(failed.value(), said_.server_message());
        const std::string_view text = said_.client_message();
        return here(failed.message() + (text.empty() ? "" : ": " + std::string(text)));
    }

    /// Ends the operation that is under way after this time, or pings if there is none.
    void limit(std::chrono::milliseconds time)
    {
        timer_.expires_after(time);
        timer_.async_wait([weak = weak_from_this(), time](error_code failed) {
            const auto self = weak.lock();
            if (failed || !self || self->timer_.expiry() > std::chrono::steady_clock::now())
                return;
            if (self->user_ == nullptr) // it is being closed
                return self->signal_.emit(asio::cancellation_type::terminal);
            if (!self->busy_)
                return self->ping();
            self->fail(here(self->ready_ ? "no reply within " + std::to_string(time.count()) + " ms"
                                         : "no connection in time"));
        });
    }

    const std::shared_ptr<const mysql_config> settings_;
    const mysql_config::address at_;
    const bool listens_;
    const asio::any_io_executor strand_;
    sql_store::session_user* user_ = nullptr;
    std::optional<asio::ssl::context> tls_;
    mysql::connect_params target_;
    std::optional<mysql::any_connection> connection_;
    asio::steady_timer timer_;
    asio::cancellation_signal signal_; ///< Of the operation under way.
    bool busy_ = false;
    bool ready_ = false;
    sql_store::session_facts known_;

    // The batch that is made, or under way.
    std::string text_;
    std::vector<sql_store::procedure> calls_;
    std::vector<std::size_t> order_; ///< Of the renewals in the text.
    bool complete_ = false;          ///< It is sent as soon as a ping has ended.
    mysql::results results_;
    mysql::diagnostics said_;
    trouble failed_;

    // The wait for grants.
    std::chrono::milliseconds wait_ = shortest_wait;
    std::set<std::string> announced_; ///< The ids of grants that are not confirmed yet.
};

} // namespace

std::shared_ptr<sql_store::session> make_session(const asio::any_io_executor& strand,
                                                 std::shared_ptr<const mysql_config> settings,
                                                 std::size_t server, std::string password,
                                                 bool listens)
{
    return std::make_shared<mysql_session>(strand, std::move(settings), server, std::move(password),
                                           listens);
}

} // namespace leasehold::mysql_store
